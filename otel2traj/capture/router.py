"""The segment log to ordinary attempt directories: what was acknowledged, sorted by what it belongs to.

`attempts/<id>/otel.jsonl`, `otel-logs.jsonl` and `otel-metrics.jsonl` are OTLP/JSON lines. A trace whose attempt is
learnt late moves there. Reading is in one direction and every byte is moved a bounded number of times, so the cost is
linear; memory holds one transaction's worth of lines.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from .. import canonical
from ..errors import RefusedError
from .attempt_files import NOWHERE, AttemptFiles
from .claims import BY_TRACE, Claim
from .inflate import inflate
from .layout import LOG, REPAIRS, STATE, set_aside
from .segments import (
    MAX_BODY,
    Damage,
    Record,
    Signal,
    after_padding,
    is_live,
    lock,
    read_from,
    records_from,
    segment_files,
)
from .split import Piece, Split, split
from .state import Lost, State

_CACHE: Final = 50_000


@dataclass(slots=True)
class Routed:
    """What one `poll` did."""

    records: int = 0
    bytes: int = 0
    repeats: int = 0
    unreadable: int = 0
    damaged: int = 0
    last_ns: int = 0
    """Arrival of the last record read."""


class Router:
    """The deriving side of one output directory. One process at a time: raises `RefusedError` when another has it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (root / "derive.lock").open("ab")
        if not lock(self._lock.fileno()):
            self._lock.close()
            raise RefusedError(
                f"another process derives attempts in {root.name}", hint="stop it, or give another output directory"
            )
        self._places: dict[str, tuple[int, str]] = {}
        self._touched: set[str] = set()
        self._repairs: list[bytes] = []
        self._changed: dict[str, None] = {}
        self.set_aside: str | None = None
        """Why a state that stood here was set aside and everything is derived again; None where none was."""
        try:
            self.state = State(root / STATE)
            self.files = AttemptFiles(root, self.state)
        except sqlite3.DatabaseError as err:
            self.start_over(str(err))
        self._finished = self.state.finished_segments()
        shorter = self.files.check()
        if shorter is not None:
            self.start_over(shorter)

    def close(self) -> None:
        self.state.close()
        self._lock.close()

    def poll(self, budget: int = 32 << 20) -> Routed:
        """Route what the log holds beyond the last poll, about `budget` plain bytes of it, in one transaction. On any
        error nothing of it counts, and the next poll begins where this one did."""
        try:
            return self._poll(budget)
        except BaseException:
            if self.state.db.in_transaction:
                self.state.db.execute("ROLLBACK")
            self._clear()
            self._finished = self.state.finished_segments()
            raise

    def _poll(self, budget: int) -> Routed:
        done = Routed()
        begun = False
        for path in segment_files(self._root / LOG):
            if path.name in self._finished:
                continue
            offset, _ = self.state.position(path.name)
            with path.open("rb") as file:
                live = is_live(file)
                if live and path.stat().st_size <= offset:
                    continue
                if not begun:
                    self.state.db.execute("BEGIN")
                    begun = True
                closed = not live
                arrived = 0
                for part in read_from(file, offset, live=live):
                    if isinstance(part, Damage):
                        offset = part.offset + part.length
                        self._lose(path.name, part, arrived, _arrival_after(file, offset, arrived), done)
                        continue
                    offset, arrived = part.end, part.received_ns or arrived
                    if part.signal is Signal.END:
                        closed = True
                        break
                    self._route(part, path.name, done)
                    if done.bytes >= budget:
                        closed = False
                        break
                offset = after_padding(file, offset)
            if closed := closed and offset > 0:  # an empty one may just be about to begin
                self._finished.add(path.name)
            self.state.set_position(path.name, offset, closed)
            if done.bytes >= budget:
                break
        if begun:
            self._commit()
        return done

    def drain(self, progress: Callable[[], None] = lambda: None) -> Routed:
        """`poll` until the log has nothing new; `progress` is called after each."""
        total = Routed()
        while (done := self.poll()).records:
            total.records += done.records
            total.bytes += done.bytes
            total.repeats += done.repeats
            total.unreadable += done.unreadable
            total.damaged += done.damaged
            progress()
        return total

    def take_changed(self) -> list[str]:
        """Ids of the attempts that got something since the last call, in order of their last arrival."""
        changed, self._changed = self._changed, {}
        return list(changed)

    # --- one record

    def _route(self, record: Record, segment: str, done: Routed) -> None:
        done.records += 1
        done.last_ns = record.received_ns
        plain, pieces = _read(record)
        done.bytes += len(plain)
        if pieces is None:
            done.unreadable += 1
            self.state.end_record("rejected")
            self._note(segment, record, Counter({"unreadable-bodies": 1}))
            return
        kind = bytes((record.signal, record.content))
        if record.items and not self.state.first_time(hashlib.sha256(kind + plain).digest()[:16]):
            done.repeats += 1
            self.state.end_record("repeated")
            self.state.note("repeated-bodies", 1)
            return
        notes = pieces.notes
        if pieces.dropped:
            notes["items-without-identity"] += pieces.dropped
        for piece in pieces.pieces:
            self._put(piece, record.received_ns, segment)
        self.state.end_record("routed" if pieces.pieces or not pieces.dropped else "rejected")
        if notes:
            self._note(segment, record, notes)

    def _lose(self, segment: str, damage: Damage, after_ns: int, before_ns: int, done: Routed) -> None:
        """Damage between two records: what it held is unknown, so every attempt around it is told."""
        done.records += 1
        done.damaged += 1
        self.state.end_record("damaged")
        self.state.note("damaged-records", 1)
        self.state.lose(Lost(segment, damage.offset, damage.length, damage.items, after_ns, before_ns))
        signal = "unknown" if damage.signal is None else damage.signal.name.lower()
        where = {"segment": segment, "offset": damage.offset, "signal": signal, "length": damage.length}
        told = {"repair": "damaged-records", "count": 1, "items": damage.items}
        self._repairs.append(canonical.dumps({**where, **told}) + b"\n")
        self._changed.update(dict.fromkeys(self.state.unbuilt()))

    def _note(self, segment: str, record: Record, notes: Counter[str]) -> None:
        for name, count in sorted(notes.items()):
            self.state.note(name, count)
            where = {"segment": segment, "offset": record.offset, "signal": record.signal.name.lower()}
            self._repairs.append(canonical.dumps({**where, "repair": name, "count": count}) + b"\n")

    def _put(self, piece: Piece, now_ns: int, segment: str) -> None:
        key = piece.group.key
        if not key:
            self._append(NOWHERE, piece, now_ns)
            return
        claim = piece.claim
        if claim is None:
            claim = Claim(BY_TRACE, key)
        place = self._place_of(key)
        if place is None or claim.rank < place[0]:
            if place is not None and place[1] != claim.value:
                self._move(key, place[1], claim.value, now_ns)
            place = (claim.rank, claim.value)
            self._places[key] = place
            self.state.place(key, *place)
        if piece.items:
            offset = self._append(place[1], piece, now_ns)
            self.state.from_segment(place[1], segment)
            if piece.group.trace is not None and place[0] > 0:
                self.state.add_extent(key, place[1], piece.signal, offset, len(piece.line), piece.items)

    def _place_of(self, key: str) -> tuple[int, str] | None:
        place = self._places.get(key)
        if place is None:
            place = self.state.placed(key)
            if place is not None:
                if len(self._places) >= _CACHE:
                    self._places.clear()
                self._places[key] = place
        return place

    # --- files

    def _append(self, attempt: str, piece: Piece, now_ns: int) -> int:
        offset = self.files.append(attempt, piece.signal, piece.line, now_ns)
        if attempt != NOWHERE:
            self.state.count(attempt, piece.signal, piece.items, now_ns)
            self._changed.pop(attempt, None)
            self._changed[attempt] = None
        else:
            self.state.note("unrouted-items", piece.items)
        return offset

    def _flush(self) -> None:
        self.files.flush()
        if self._repairs:
            with (self._root / REPAIRS).open("ab") as file:
                file.writelines(self._repairs)
            self._repairs.clear()

    def _commit(self) -> None:
        self._flush()
        self.state.db.execute("COMMIT")
        touched, self._touched = self._touched, set()
        for attempt in sorted(touched):
            self.files.tidy(attempt)

    # --- moving

    def _move(self, group: str, old: str, new: str, now_ns: int) -> None:
        """Take every line of a group from one attempt to another; the old bytes die and are cut out later."""
        self._flush()
        for attempt, signal, offset, length, items in self.state.extents(group):
            with self.files.path(attempt, signal).open("rb") as file:
                file.seek(offset)
                line = file.read(length)
            at = self.files.append(new, Signal(signal), line, now_ns)
            self.state.bury(attempt, signal, offset, length)
            self.state.count(attempt, signal, -items, now_ns)
            self.state.count(new, signal, items, now_ns)
            self._changed.update({attempt: None, new: None})
            self.state.db.execute(
                "UPDATE extent SET attempt=?, offset=? WHERE grp=? AND attempt=? AND signal=? AND offset=?",
                (new, at, group, attempt, signal, offset),
            )
            self._touched.add(attempt)
        self.state.same_sources(old, new)
        self._touched.add(old)

    # --- starting again

    def start_over(self, why: str) -> None:
        """Set the state and what was derived by it aside (see `set_aside`), and derive all again from the log."""
        self.set_aside = why
        with contextlib.suppress(AttributeError, sqlite3.Error):
            self.state.close()
        set_aside(self._root)
        self.state = State(self._root / STATE)
        self.files = AttemptFiles(self._root, self.state)
        self._finished = set()
        self._clear()

    def _clear(self) -> None:
        self.files.clear()
        for cache in (self._places, self._touched, self._repairs, self._changed):
            cache.clear()


def _arrival_after(file: IO[bytes], offset: int, before: int) -> int:
    """When the next record came, or `before` where there is none."""
    found = next(records_from(file, offset), None)
    return before if found is None else found.received_ns or before


def _read(record: Record) -> tuple[bytes, Split | None]:
    """The plain body and its lines; None for lines where one bad record must not keep those after it from being
    routed."""
    plain = b""
    try:
        plain = inflate(record.encoding.name.lower(), record.body, MAX_BODY)
        return plain, split(record.signal, record.content, plain)
    except Exception:
        return plain, None
