"""Attempts, trace files and saved trajectories into one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile

from ..errors import EvidenceError, Otel2TrajError
from ..files import replacing
from ..model.trajectory import Header, Summary, TrajectoryStatus
from ..renderers.bundle import Bundle, BundleSink
from ..renderers.page import write_page
from .record_bytes import RecordBytes
from .runs import find_attempts, runs_at
from .source import each

_SPOOL = 16 << 20


@dataclass(frozen=True, slots=True)
class Viewed:
    """What a page shows: runs, steps over all of them, and those that could not be read (label and reason)."""

    runs: int
    steps: int
    unread: tuple[tuple[str, str], ...]


def view(
    paths: Sequence[Path], output: Path, *, raw: bool = True, inference: bool = True, report: bool = False
) -> Viewed:
    """Write one self-contained page for all that the paths hold. With `raw` the recorded bytes are in it too; a
    `report` lays everything out on one sheet, for print.

    Raises `EvidenceError` where nothing at all can be read.
    """
    with _spool() as spool:
        bundles = [bundle for path in paths for bundle in bundles_of(path, raw=raw, inference=inference, spool=spool)]
        unread = tuple(
            (str(b.index["label"]), b.index["error"]["message"]) for b in bundles if b.index["error"] is not None
        )
        if len(unread) == len(bundles):
            raise EvidenceError(
                unread[0][1] if unread else "nothing to show", hint="give attempts, traces or saved files"
            )
        with replacing(output) as stream:
            write_page(stream, bundles, report=report)
    return Viewed(len(bundles), sum(len(bundle.index["steps"]) for bundle in bundles), unread)


def places_of(path: Path) -> list[tuple[str, Path]]:
    """The runs a path stands for, each with a label; of a receiver's folder what it has written so far, which may be
    nothing."""
    runs = list(runs_at(path))
    if runs != [path]:
        return [(run.relative_to(path).as_posix(), run) for run in runs]
    received = path / "attempts"
    live = received.is_dir() or (path / "receiver.lock").exists()
    if live and not find_attempts(path):
        return [(one.name, one) for one in sorted(received.iterdir()) if one.is_dir()] if received.is_dir() else []
    name = path.absolute().name
    return [(path.absolute().parent.name if name == "trajectory.json" else name, path)]


def bundles_of(
    path: Path, *, raw: bool, inference: bool, spool: SpooledTemporaryFile[bytes] | None = None
) -> Iterator[Bundle]:
    """One bundle a trajectory; a run that cannot be read is a bundle that says so."""
    for label, place in places_of(path):
        try:
            yield from _read(label, place, raw, inference, spool)
        except (Otel2TrajError, OSError) as err:
            yield failed_bundle(label, err, spool)


def failed_bundle(label: str, err: Exception, spool: SpooledTemporaryFile[bytes] | None) -> Bundle:
    sink = BundleSink(label, spool=spool)
    sink.begin(Header())
    sink.end(Summary(TrajectoryStatus.FAILED, error={"type": type(err).__name__, "message": str(err)}))
    return sink.bundle


def _read(
    label: str, path: Path, raw: bool, inference: bool, spool: SpooledTemporaryFile[bytes] | None
) -> Iterator[Bundle]:
    root = path if path.is_dir() else path.parent
    with RecordBytes(root) as reader:
        for name, push in each(path, inference=inference):
            one = label if name is None else f"{label} {name}"
            sink = BundleSink(one, raw=reader if raw else None, inference=inference, spool=spool)
            push(sink)
            yield sink.bundle


@contextmanager
def _spool() -> Iterator[SpooledTemporaryFile[bytes]]:
    with SpooledTemporaryFile(max_size=_SPOOL) as spool:
        yield spool


__all__ = ["Viewed", "bundles_of", "failed_bundle", "places_of", "view"]
