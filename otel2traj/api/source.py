"""An attempt, a trace file or a saved trajectory, driven into sinks all alike."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import EvidenceError, UsageError
from ..model.trajectory import SCHEMA, Collect, StepSink, Summary, Trajectory
from ..stored import is_stored, replay


def drive(path: Path, *sinks: StepSink, inference: bool = True, conversation: str | None = None) -> Summary:
    """Push the trajectory of an attempt directory, a trace file or a saved trajectory file into the sinks.

    A path that holds several conversations needs `conversation` (see `otel2traj info`). Raises `EvidenceError` where
    nothing can be read, `UsageError` where it is not clear which conversation is meant.
    """
    if is_stored(path):
        return replay(path, *sinks)
    from ..assembly import BuildSession

    with BuildSession(path, inference=inference) as session:
        found = session.conversations
        if conversation is not None:
            found = [item for item in found if item.name == conversation]
            if not found:
                raise UsageError(f"there is no conversation {conversation!r} here", hint="see `otel2traj info`")
        if not found:
            raise EvidenceError("no model call or tool execution was recorded here")
        if len(found) > 1:
            names = ", ".join(str(item.name) for item in found[:5])
            raise UsageError(
                f"{len(found)} conversations are recorded here",
                hint=f"name one with --conversation ({names}{', ...' if len(found) > 5 else ''}), or build them all",
            )
        return session.build(found[0], *sinks)


def load(path: Path, *, inference: bool = True) -> Trajectory:
    """A whole trajectory in memory, for those who need random access."""
    collect = Collect()
    drive(path, collect, inference=inference)
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


__all__ = ["SCHEMA", "drive", "load", "value_limit"]
