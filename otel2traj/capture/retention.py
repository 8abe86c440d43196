"""How long what was received is kept: by age or by size, and never at the cost of what is not built yet."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import UsageError
from .layout import ATTEMPTS, LOG
from .segments import segment_files
from .state import State

_FORM: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]+)")
_SECONDS: Final = {"h": 3600, "d": 86400, "w": 7 * 86400}
_BYTES: Final = {"mb": 10**6, "gb": 10**9, "tb": 10**12, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}


@dataclass(frozen=True, slots=True)
class Keep:
    """What is kept: at least everything younger than `seconds`, or at most `size` bytes of log and attempts."""

    seconds: float | None = None
    size: int | None = None

    @classmethod
    def parse(cls, text: str) -> Keep:
        """`30d`, `12h`, `2w`, or `100GB`, `50GiB`. Raises `UsageError`."""
        found = _FORM.fullmatch(text.strip())
        unit = "" if found is None else found.group(2).lower()
        if found is not None and unit in _SECONDS:
            return cls(seconds=float(found.group(1)) * _SECONDS[unit])
        if found is not None and unit in _BYTES:
            return cls(size=int(float(found.group(1)) * _BYTES[unit]))
        raise UsageError(f"{text!r} is no retention", hint="give an age as 30d, 12h or 2w, or a size as 100GB or 50GiB")

    def __str__(self) -> str:
        return f"{self.seconds / 3600:.6f}h" if self.seconds is not None else f"{(self.size or 0) / 1e6:.6f}MB"


@dataclass(slots=True)
class Dropped:
    segments: int = 0
    attempts: int = 0
    bytes: int = 0


def sweep(root: Path, state: State, keep: Keep, now_ns: int) -> Dropped:
    """Drop built attempts and finished segments that are too old, or the oldest until what is left fits.

    A segment goes only when it is routed whole and none of the attempts it gave records to is unbuilt; an attempt only
    when it is built and nothing new has come. The segment and the attempts of the last arrival always stay.
    """
    done = Dropped()
    limit = None if keep.seconds is None else now_ns - int(keep.seconds * 1e9)
    sizes = {row.id: _tree_size(root / ATTEMPTS / row.folder) for row in state.attempts(-1)} if keep.size else {}
    segments = [path for path in segment_files(root / LOG)[:-1] if state.position(path.name)[1]]
    held = sum(sizes.values()) + sum(path.stat().st_size for path in segment_files(root / LOG))
    for row in reversed(state.attempts(-1)):
        over = row.last_ns < limit if limit is not None else held > (keep.size or 0)
        if not over:
            break
        if row.changed > row.built or row.last_ns == now_ns:
            continue
        size = sizes.get(row.id) or _tree_size(root / ATTEMPTS / row.folder)
        shutil.rmtree(root / ATTEMPTS / row.folder, ignore_errors=True)
        state.drop_attempt(row.id)
        done.attempts += 1
        done.bytes += size
        held -= size
        for path in [path for path in segments if not state.needed(path.name)]:
            segments.remove(path)
            held -= _drop_segment(path, state, done)
    for path in list(segments):
        old = limit is not None and path.stat().st_mtime_ns < limit
        if (old or (limit is None and held > (keep.size or 0))) and not state.needed(path.name):
            held -= _drop_segment(path, state, done)
    return done


def _drop_segment(path: Path, state: State, done: Dropped) -> int:
    size = path.stat().st_size
    path.unlink(missing_ok=True)
    state.dropped_segment(path.name)
    done.segments += 1
    done.bytes += size
    return size


def _tree_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
