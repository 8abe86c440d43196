"""Receiving OTLP: `receive` runs a receiver until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..errors import EvidenceError, NothingRecordedError

if TYPE_CHECKING:
    from ..capture.inspect import LogCheck
    from ..capture.receiver import Bound, Say, Settings
    from ..capture.state import AttemptRow


def build_attempt(path: Path) -> str:
    """Build the trajectory of one attempt directory in place, and remove trajectories that an earlier build left and
    this one did not make; what came of it, in words. A function of its own module, so that the deriving process can
    import it by name. Raises `NothingRecordedError` where nothing of it is an agent's, `EvidenceError` when the build
    failed."""
    from .build import build_path

    built = build_path(path, write=True)
    made = {one.file for one in built}
    for old in path.glob("trajectory*.json"):
        if old not in made:
            old.unlink()
    for one in built:
        if one.failed and one.summary.error is not None and one.summary.error["type"] == "NothingRecordedError":
            raise NothingRecordedError(one.describe())
        if one.failed:
            raise EvidenceError(one.describe())
    if not any(one.summary.coverage.model_calls or one.summary.coverage.unlinked_tool_calls for one in built):
        raise NothingRecordedError("of what was read nothing tells of a model call or a tool execution")
    return "; ".join(one.describe() for one in built)


def view_attempt(path: Path) -> bytes | None:
    """The page of an attempt's trajectory, as `view` makes it; None where there is none."""
    from .view import view

    made = sorted(path.glob("trajectory*.json"))
    if not made:
        return None
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        view(made, page)
        return page.read_bytes()


def check_log(root: Path) -> LogCheck:
    """Read every segment of a receiver's directory and count it against what was derived; nothing is written.

    Raises `EvidenceError` where there is no log."""
    from ..capture.inspect import check_log as check

    return check(root)


def list_attempts(root: Path, find: str = "", limit: int = 1000) -> list[AttemptRow]:
    """The attempts of a receiver's directory, newest first; with `find` those that have it in their id or folder.

    Raises `EvidenceError` where nothing was derived."""
    from ..capture.inspect import list_attempts as listed

    return listed(root, find, limit)


def receive(settings: Settings, *, say: Say, ready: Callable[[Bound], None] = lambda bound: None) -> int:
    """Serve OTLP over HTTP and gRPC into `settings.out` until a signal; the exit code. Raises `Otel2TrajError`."""
    from .. import __version__
    from ..capture.receiver import Receiver

    return Receiver(settings, build_attempt, version=__version__, say=say, view=view_attempt).run(ready=ready)
