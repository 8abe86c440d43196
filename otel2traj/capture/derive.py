"""The log to attempts and trajectories, behind the receiver: a loop, and the process that runs it.

It has a process of its own so that deriving never holds up accepting. Commands come as lines on its standard input:
`build` builds everything that changed, `drain` does what is left and ends, the end of input ends at once.
"""

from __future__ import annotations

import contextlib
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
from typing import IO, Final

from ..errors import Otel2TrajError
from .router import Router
from .state import AttemptRow

Build = Callable[[Path], object]
"""Builds the trajectory of one attempt directory in place; any exception counts as a failed build."""

_POLL: Final = 0.2
_PATIENCE: Final = 4
"""A rebuild waits this many times as long as the last build took, so that rebuilding stays a bounded share."""


class Deriver:
    """Routes, and builds what has been quiet for `build_after` seconds (None: only when told to)."""

    def __init__(self, root: Path, build: Build | None, build_after: float | None) -> None:
        self.router = Router(root)
        self._build = build
        self._build_after = build_after

    def run(self, commands: queue.SimpleQueue[str]) -> None:
        """Until `drain` (does what is left) or `stop`."""
        built = False
        while True:
            try:
                busy = self.router.poll().records > 0
            except (OSError, sqlite3.Error) as err:
                print(f"otel2traj: attempts cannot be written: {err}", file=sys.stderr, flush=True)
                busy = False
                time.sleep(1)
            command = _next(commands, 0 if busy or built else _POLL)
            built = False
            if command == "stop":
                return
            if command == "drain":
                self.router.drain()
                if self._build_after is not None:
                    self.build_all()
                return
            if command == "build":
                self.router.drain()
                self.build_all()
            else:
                built = self.build_due()

    def build_due(self) -> bool:
        """Build one attempt that has been quiet long enough; the next poll comes before the next build."""
        if self._build is None or self._build_after is None:
            return False
        now = time.time_ns()
        for row in self.router.state.unbuilt(now - int(self._build_after * 1e9)):
            rest = _PATIENCE * (row.build_ms or 0) * 1_000_000
            if now - row.last_ns >= rest:
                self.build_one(row)
                return True
        return False

    def build_all(self) -> None:
        if self._build is not None:
            for row in self.router.state.unbuilt(1 << 62):
                self.build_one(row)

    def build_one(self, row: AttemptRow) -> None:
        """Build, and remember how it went. Nothing an attempt holds stops the loop."""
        assert self._build is not None
        begin = time.monotonic()
        error: str | None = None
        try:
            self.router.compact(row.id)
            self._build(self.router.attempt_dir(row.folder))
        except Otel2TrajError as err:
            error = str(err)
        except Exception as err:
            error = f"{type(err).__name__}: {err}"
        self.router.state.set_built(row.id, row.changed, int((time.monotonic() - begin) * 1000), error)
        if error is not None:
            print(f"otel2traj: attempts/{row.folder}: build failed: {error}", file=sys.stderr, flush=True)

    def close(self) -> None:
        self.router.close()


def _next(commands: queue.SimpleQueue[str], seconds: float) -> str | None:
    try:
        return commands.get(timeout=seconds) if seconds else commands.get_nowait()
    except queue.Empty:
        return None


class DeriveProcess:
    """The deriving process of a receiver. `build` must be a function of a module, since the process imports it."""

    def __init__(self, root: Path, build: Build | None, build_after: float | None) -> None:
        target = "" if build is None else f"{build.__module__}:{build.__qualname__}"
        after = "" if build_after is None else repr(build_after)
        command = [sys.executable, "-m", "otel2traj.capture.derive", str(root), target, after]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, env=env)

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def tell(self, command: str) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            pipe.write(command.encode() + b"\n")
            pipe.flush()

    def finish(self, timeout: float | None = None) -> int | None:
        """Drain and wait; the exit code, or None when it is still at work after `timeout` seconds."""
        self.tell("drain")
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _listen(pipe: IO[str], commands: queue.SimpleQueue[str]) -> None:
    for line in pipe:
        commands.put(line.strip())
    commands.put("stop")


def main(arguments: list[str]) -> int:
    """`python -m otel2traj.capture.derive ROOT MODULE:FUNCTION SECONDS`, as `DeriveProcess` starts it."""
    root, target, after = arguments
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    build: Build | None = None
    if target:
        module, _, name = target.partition(":")
        build = getattr(importlib.import_module(module), name)
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, commands), daemon=True).start()
    try:
        deriver = Deriver(Path(root), build, float(after) if after else None)
    except Otel2TrajError as err:
        print(f"error: {err}", file=sys.stderr, flush=True)
        return err.exit_code
    try:
        deriver.run(commands)
    finally:
        deriver.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
