"""Receiving OTLP: `receive` runs a receiver until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import EvidenceError

if TYPE_CHECKING:
    from ..capture.receiver import Bound, Settings


def build_attempt(path: Path) -> None:
    """Build the trajectory of one attempt directory in place, and remove trajectories that an earlier build left and
    this one did not make. A function of its own module, so that the deriving process can import it by name. Raises
    `EvidenceError` when the build failed."""
    from .build import build_path

    built = build_path(path, write=True)
    made = {one.file for one in built}
    for old in path.glob("trajectory*.json"):
        if old not in made:
            old.unlink()
    for one in built:
        if one.failed:
            raise EvidenceError(one.describe())


def receive(
    settings: Settings, *, say: Callable[[str], None], ready: Callable[[Bound], None] = lambda bound: None
) -> int:
    """Serve OTLP over HTTP and gRPC into `settings.out` until a signal; the exit code. Raises `Otel2TrajError`."""
    from .. import __version__
    from ..capture.receiver import Receiver, open_to_others

    if open_to_others(settings):
        say("warning: other machines can send here, and nothing asks who they are; consider --token and TLS")
    return Receiver(settings, build_attempt, version=__version__, say=say).run(ready=ready)
