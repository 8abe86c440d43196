"""A survey of evidence, before anything is built."""

from __future__ import annotations

from pathlib import Path

from ..canonical import JsonObject


def info(path: Path) -> JsonObject:
    """What was found under a path and what is missing. Raises `EvidenceError` where nothing can be read."""
    from ..build import BuildSession
    from ..build.survey import survey

    with BuildSession(path) as session:
        return survey(session)
