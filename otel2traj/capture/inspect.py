"""A receiver's directory, looked at from outside: whether the log is whole, where its records went, its attempts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import EvidenceError
from .layout import LOG, STATE
from .segments import Damage, Record, Signal, is_live, read_from, segment_files
from .state import ENDINGS, AttemptRow, State


@dataclass(slots=True)
class LogCheck:
    """What a log holds and what became of it. Counts are of records; `damage` is (segment, offset, length, items)."""

    segments: int = 0
    records: int = 0
    items: int = 0
    bytes: int = 0
    waiting: int = 0
    """Records that are not routed yet."""
    damage: list[tuple[str, int, int, int | None]] = field(default_factory=list)
    endings: dict[str, int] | None = None
    """How the records that were read ended; None where there is no readable state."""
    unaccounted: int | None = None
    """Records in the log whose ending is not counted; None where segments were dropped or there is no state."""

    @property
    def whole(self) -> bool:
        return not self.damage and not self.unaccounted


def check_log(root: Path) -> LogCheck:
    """Read every record of every segment, and count it against the state. Nothing is written or locked for long."""
    paths = segment_files(root / LOG)
    if not paths:
        raise EvidenceError(f"no log of a receiver in {root}", hint="give the --out directory of `otel2traj receive`")
    done = LogCheck(segments=len(paths))
    positions: dict[str, int] = {}
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            done.endings = state.endings()
            positions = {path.name: state.position(path.name)[0] for path in paths}
    except sqlite3.Error:
        done.endings = None
    read = 0
    for path in paths:
        with path.open("rb") as file:
            for part in read_from(file, 0, live=is_live(file)):
                if isinstance(part, Record) and part.signal is Signal.END:
                    break
                done.records += 1
                routed = part.offset < positions.get(path.name, 0)
                done.waiting += not routed
                read += routed
                if isinstance(part, Damage):
                    done.damage.append((path.name, part.offset, part.length, part.items))
                else:
                    done.items += part.items
                    done.bytes += len(part.body)
    if done.endings is not None and int(paths[0].stem) == 1:
        done.unaccounted = read - sum(done.endings[name] for name in ENDINGS)
    return done


def list_attempts(root: Path, find: str, limit: int) -> list[AttemptRow]:
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            return state.attempts(limit, find)
    except sqlite3.Error as err:
        raise EvidenceError(
            f"no readable state in {root}: {err}", hint="give the --out directory of `otel2traj receive`"
        ) from err
