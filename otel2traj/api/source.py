"""An attempt, a trace file or a saved trajectory, driven into sinks all alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NothingRecordedError, UsageError
from ..model.trajectory import SCHEMA, Collect, Event, StepSink, Summary, Trajectory
from ..stored import is_stored, read, replay

if TYPE_CHECKING:
    from ..assembly import BuildSession, Conversation


def drive(path: Path, *sinks: StepSink, inference: bool = True, conversation: str | None = None) -> Summary:
    """Push the trajectory of an attempt directory, a trace file or a saved trajectory file into the sinks.

    A path that holds several conversations needs `conversation` (see `otel2traj info`). Raises `EvidenceError` where
    nothing can be read, `UsageError` where it is not clear which conversation is meant.
    """
    if is_stored(path):
        return replay(path, *sinks)
    from ..assembly import BuildSession

    with BuildSession(path, inference=inference) as session:
        return session.build(_only(session, conversation), *sinks)


def events(path: Path, *, inference: bool = True, conversation: str | None = None) -> Iterator[Event]:
    """The same, piece by piece: the header, each step as it is made, the summary. Raises as `drive` does."""
    if is_stored(path):
        yield from read(path)
        return
    from ..assembly import BuildSession

    with BuildSession(path, inference=inference) as session:
        yield from session.events(_only(session, conversation))


def each(path: Path, *, inference: bool = True) -> Iterator[tuple[str | None, Callable[..., Summary]]]:
    """Every conversation of a path in turn: its name, None for the only one, and what pushes it into the sinks it is
    called with. Raises `EvidenceError` where nothing can be read."""
    if is_stored(path):
        yield None, partial(replay, path)
        return
    from ..assembly import BuildSession

    with BuildSession(path, inference=inference) as session:
        several = len(session.conversations) > 1
        for item in session.conversations:
            yield item.name if several else None, partial(session.build, item)


def _only(session: BuildSession, name: str | None) -> Conversation:
    """The conversation of that name, or the only one."""
    found = session.conversations
    if name is not None:
        found = [item for item in found if item.name == name]
        if not found:
            raise UsageError(f"there is no conversation {name!r} here", hint="see `otel2traj info`")
    if not found:
        raise NothingRecordedError(session.what_was_read())
    if len(found) > 1:
        names = ", ".join(str(item.name) for item in found[:5])
        raise UsageError(
            f"{len(found)} conversations are recorded here",
            hint=f"name one with --conversation ({names}{', ...' if len(found) > 5 else ''}), or build them all",
        )
    return found[0]


def load(path: Path, *, inference: bool = True, conversation: str | None = None) -> Trajectory:
    """A whole trajectory in memory, for those who need random access."""
    collect = Collect()
    drive(path, collect, inference=inference, conversation=conversation)
    return collect.trajectory


def value_limit() -> int:
    """`ABB_TRAJECTORY_MAX_VALUE_BYTES`, default 1 MiB. Raises `UsageError` for anything but a positive integer."""
    text = os.environ.get("ABB_TRAJECTORY_MAX_VALUE_BYTES")
    if text is None:
        return 1 << 20
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise UsageError(
            f"ABB_TRAJECTORY_MAX_VALUE_BYTES is {text!r}", hint="set it to a positive number of bytes, or unset it"
        )
    return int(text)


__all__ = ["SCHEMA", "drive", "each", "events", "load", "value_limit"]
