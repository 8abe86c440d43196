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


def forms() -> list[JsonObject]:
    """Every form of file that is read, in the order in which they are asked: who writes it, how to get one, the
    versions tried, and what a file in it cannot hold."""
    from ..readers import READERS
    from ..readers.base import Described
    from ..readers.wire_files import WIRE_READERS

    readers: list[Described] = [*READERS, *WIRE_READERS]
    return [
        {
            "name": reader.name,
            "written_by": reader.writer,
            "how_to_get": reader.obtain,
            "tried": reader.tried,
            "cannot_hold": reader.loses,
        }
        for reader in readers
    ]
