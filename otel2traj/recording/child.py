"""Running the recorded command: its streams are the caller's own, its end is reported as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended: an exit code or the name of a signal, and when (nanoseconds since 1970); `error` where it
    could not be started."""

    code: int | None
    signal: str | None
    interrupted: bool = False
    error: str | None = None
    time_ns: int = field(default_factory=time.time_ns)

    @property
    def exit_code(self) -> int:
        """What a shell would report: the code, or 128 and the signal's number."""
        if self.signal is not None:
            return 128 + int(signal.Signals[self.signal])
        return 0 if self.code is None else self.code


def run(command: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> End:
    """Run to the end. SIGINT and SIGTERM are passed on, unless the terminal gave the child the signal itself; a second
    one that we had to pass on kills it."""
    try:
        child = subprocess.Popen(command, env=dict(env), cwd=cwd)
    except OSError as err:
        return End(127 if isinstance(err, FileNotFoundError) else 126, None, error=f"{command[0]}: {err.strerror}")
    got: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        got.append(number)
        if number == signal.SIGINT and _from_terminal():
            return
        child.send_signal(signal.SIGKILL if got.count(number) > 1 else number)

    previous: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                previous.setdefault(number, signal.signal(number, pass_on))
    try:
        status = child.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if status < 0:
        try:
            return End(None, signal.Signals(-status).name, bool(got))
        except ValueError:
            return End(128 - status, None, bool(got))
    return End(status, None, bool(got))


def _from_terminal() -> bool:
    """Whether this process is in the foreground of a terminal, which sends its signals to the whole group."""
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(fd)
