"""A survey of evidence, before anything is built."""

from __future__ import annotations

from pathlib import Path

from ..canonical import JsonObject


def info(path: Path) -> JsonObject:
    """What was found under a path and what is missing. Raises `EvidenceError` where nothing can be read."""
    from ..assembly import BuildSession
    from ..assembly.survey import survey

    with BuildSession(path) as session:
        return survey(session)
