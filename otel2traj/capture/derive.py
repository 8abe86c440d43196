"""The log to attempts and trajectories, behind the receiver: a loop, and the process that runs it.

It has a process of its own so that deriving never holds up accepting. Commands come as lines on its standard input:
`build` builds everything that changed, `drain` does what is left and ends, the end of input ends at once. What it did
goes to its standard output, one JSON object a line (`Told`).
"""

from __future__ import annotations

import contextlib
import ctypes
import heapq
import importlib
import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

from .. import canonical
from ..errors import NothingRecordedError, Otel2TrajError, some_of
from .retention import Keep, sweep
from .router import Router
from .state import AttemptRow, Lost

Build = Callable[[Path], object]
"""Builds the trajectory of one attempt directory in place, and may say in words what came of it; any exception counts
as a failed build."""
Tell = Callable[[str, dict[str, Any]], None]
"""Gets the name of an event and what belongs to it: `routed`, `built`, `failed`, `trouble`, `fine`, `drain`, `aside`,
`dropped`."""

OTEL_STATUS: Final = "otel-status.json"
_POLL: Final = 0.2
_PATIENCE: Final = 4
"""A rebuild waits this many times as long as the last build took, so that rebuilding stays a bounded share."""
_ORPHAN_SECONDS: Final = 5.0
"""How long a process whose receiver is gone may take to end."""
_SWEEP_SECONDS: Final = 60.0


class Due:
    """Which attempt is to be built next: by a monotonic clock from its last news on, whatever its records say.

    One entry an attempt in effect; news and removal cost O(log n).
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._valid: dict[str, int] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._valid)

    def add(self, attempt: str, due: float) -> None:
        self._count += 1
        self._valid[attempt] = self._count
        heapq.heappush(self._heap, (due, self._count, attempt))

    def pop(self, now: float) -> str | None:
        """The attempt that has been due for longest, or None where none is."""
        while self._heap and self._heap[0][0] <= now:
            _, number, attempt = heapq.heappop(self._heap)
            if self._valid.get(attempt) == number:
                del self._valid[attempt]
                return attempt
        return None


class Deriver:
    """Routes, and builds what has been quiet for `build_after` seconds (None: only when told to)."""

    def __init__(
        self,
        root: Path,
        build: Build | None,
        build_after: float | None,
        *,
        keep: Keep | None = None,
        tell: Tell = lambda event, what: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.router = Router(root)
        self._root = root
        self._build = build
        self._build_after = build_after
        self._keep = keep
        self._swept = 0.0
        self._tell = tell
        self._clock = clock
        self._due = Due()
        self._trouble: str | None = None
        for attempt in self.router.state.unbuilt():
            self._due.add(attempt, clock() + (build_after or 0.0))
        self._say_set_aside()

    def run(self, commands: queue.SimpleQueue[str]) -> None:
        """Until `drain` (does what is left) or `stop`."""
        built = False
        while True:
            busy = self._poll()
            command = _next(commands, 0 if busy or built else _POLL)
            built = False
            if command == "stop":
                return
            if command == "drain":
                self._drain()
                return
            if command == "build":
                self.router.drain()
                self.build_all()
            elif self._trouble is None:
                built = self.build_due()
                self._sweep()

    def _poll(self) -> bool:
        try:
            done = self.router.poll()
            trouble = None
        except sqlite3.OperationalError as err:  # locked or full: it may pass
            trouble = f"attempts cannot be written: {err}"
        except sqlite3.DatabaseError as err:  # damaged: derivable, so derived again
            self.router.start_over(str(err))
            self._due = Due()
            self._say_set_aside()
            return True
        except OSError as err:
            trouble = f"attempts cannot be written: {err}"
        if trouble is not None:
            if trouble != self._trouble:
                self._tell("trouble", {"message": trouble})
            self._trouble = trouble
            time.sleep(1)
            return False
        if self._trouble is not None:
            self._trouble = None
            self._tell("fine", {})
        if done.records:
            lag = max(0.0, (time.time_ns() - done.last_ns) / 1e9) if done.last_ns else 0.0
            counts = {"records": done.records, "repeated": done.repeats, "rejected": done.unreadable}
            self._tell("routed", {**counts, "damaged": done.damaged, "bytes": done.bytes, "lag_seconds": lag})
        return done.records > 0

    def _drain(self) -> None:
        def progress() -> None:
            self._tell("drain", {"unbuilt": len(self.router.state.unbuilt()), "routing": True})

        self.router.drain(progress)
        if self._build_after is not None:
            self.build_all()

    def build_due(self) -> bool:
        """Build one attempt that has been quiet long enough; the next poll comes before the next build."""
        if self._build is None or self._build_after is None:
            return False
        now = self._clock()
        for attempt in self.router.take_changed():
            row = self.router.state.attempt(attempt)
            if row is not None:
                self._due.add(attempt, now + max(self._build_after, _PATIENCE * (row.build_ms or 0) / 1000))
        while (found := self._due.pop(now)) is not None:
            row = self.router.state.attempt(found)
            if row is not None and row.changed > row.built:
                self.build_one(row)
                return True
        return False

    def build_all(self) -> None:
        if self._build is None:
            return
        waiting = self.router.state.unbuilt()
        for number, attempt in enumerate(waiting):
            row = self.router.state.attempt(attempt)
            if row is not None:
                self._tell("drain", {"unbuilt": len(waiting) - number, "routing": False})
                self.build_one(row)

    def build_one(self, row: AttemptRow) -> None:
        """Build, and remember how it went. Nothing an attempt holds stops the loop."""
        assert self._build is not None
        begin = time.monotonic()
        error: str | None = None
        result: object = None
        no_agent = False
        folder = self.router.files.attempt_dir(row.folder)
        try:
            self.router.files.compact(row.id)
            declare_damage(folder, self.router.state.lost_near(row.id))
            result = self._build(folder)
        except NothingRecordedError as err:
            error, no_agent = str(err), True
        except Otel2TrajError as err:
            error = str(err)
        except Exception as err:
            error = f"{type(err).__name__}: {err}"
        spent = int((time.monotonic() - begin) * 1000)
        self.router.state.set_built(row.id, row.changed, spent, error, no_agent=no_agent)
        about = {"attempt": row.id, "folder": row.folder, "ms": spent}
        if error is None:
            self._tell("built", {**about, "message": result if isinstance(result, str) else ""})
        else:
            self._tell("no_agent" if no_agent else "failed", {**about, "message": error})

    def _sweep(self) -> None:
        if self._keep is None or self._clock() - self._swept < _SWEEP_SECONDS:
            return
        self._swept = self._clock()
        dropped = sweep(self._root, self.router.state, self._keep, time.time_ns())
        if dropped.segments or dropped.attempts:
            self._tell("dropped", {"segments": dropped.segments, "attempts": dropped.attempts, "bytes": dropped.bytes})

    def _say_set_aside(self) -> None:
        if self.router.set_aside is not None:
            self._tell("aside", {"message": self.router.set_aside})
            self.router.set_aside = None

    def close(self) -> None:
        self.router.close()


def declare_damage(folder: Path, lost: list[Lost]) -> None:
    """Write `otel-status.json` as an exporter does that lost spans, so that the build declares it; or remove it."""
    path = folder / OTEL_STATUS
    if not lost:
        path.unlink(missing_ok=True)
        return
    places = some_of([f"{one.segment} @{one.offset}+{one.length}" for one in lost], 5)
    text = f"damage in the receiver's log may have held records of this attempt: {places}"
    path.write_bytes(canonical.dumps({"status": "incomplete", "unfinished_spans": 0, "error": text}))


def _next(commands: queue.SimpleQueue[str], seconds: float) -> str | None:
    try:
        return commands.get(timeout=seconds) if seconds else commands.get_nowait()
    except queue.Empty:
        return None


class DeriveProcess:
    """The deriving process of a receiver. `build` must be a function of a module, since the process imports it.

    `tell` gets its events, from a thread of its own.
    """

    def __init__(
        self,
        root: Path,
        build: Build | None,
        build_after: float | None,
        *,
        keep: Keep | None = None,
        tell: Tell = lambda event, what: None,
    ) -> None:
        target = "" if build is None else f"{build.__module__}:{build.__qualname__}"
        after = "" if build_after is None else repr(build_after)
        kept = "" if keep is None else str(keep)
        command = [sys.executable, "-m", "otel2traj.capture.derive", str(root), target, after, kept]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env=env
        )
        self._tell = tell
        self._reader = threading.Thread(target=self._read, name="otel2traj-derive-events", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        for line in pipe:
            with contextlib.suppress(canonical.JsonError, KeyError, TypeError):
                told = canonical.loads(line)
                assert isinstance(told, dict)
                self._tell(str(told.pop("event")), told)

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def code(self) -> int | None:
        """The exit code; None while it runs. All it said has been told by then."""
        code = self._process.poll()
        if code is not None:
            self._reader.join(5)
        return code

    def tell(self, command: str) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            pipe.write(command.encode() + b"\n")
            pipe.flush()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _listen(pipe: IO[str], commands: queue.SimpleQueue[str]) -> None:
    for line in pipe:
        commands.put(line.strip())
    commands.put("stop")
    time.sleep(_ORPHAN_SECONDS)
    os._exit(1)  # the receiver is gone, and what holds this up can be derived again


def _end_with_parent() -> None:
    """Linux: SIGTERM to this process when its receiver dies, however it dies."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            set_death_signal = 1
            ctypes.CDLL(None).prctl(set_death_signal, signal.SIGTERM)


def _print_event(event: str, what: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(canonical.dumps({"event": event, **what}) + b"\n")
        sys.stdout.buffer.flush()


def main(arguments: list[str]) -> int:
    """`python -m otel2traj.capture.derive ROOT MODULE:FUNCTION SECONDS KEEP`, as `DeriveProcess` starts it."""
    root, target, after, keep = arguments
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    _end_with_parent()
    build: Build | None = None
    if target:
        module, _, name = target.partition(":")
        build = getattr(importlib.import_module(module), name)
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, commands), daemon=True).start()
    try:
        deriver = Deriver(
            Path(root),
            build,
            float(after) if after else None,
            keep=Keep.parse(keep) if keep else None,
            tell=_print_event,
        )
    except Otel2TrajError as err:
        _print_event("trouble", {"message": str(err)})
        return err.exit_code
    except (OSError, sqlite3.Error) as err:
        _print_event("trouble", {"message": f"attempts cannot be written: {err}"})
        return 1
    try:
        deriver.run(commands)
    finally:
        deriver.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
