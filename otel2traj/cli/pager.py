"""Long output through the reader's pager, where a reader sits at a terminal; never otherwise."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[BinaryIO]:
    """Standard output, or a pager before it: `OTEL2TRAJ_PAGER`, `PAGER`, else `less`, which leaves at once where all
    fits on one screen. A pager set to nothing is none."""
    command = pager_command() if wanted and sys.stdout.isatty() else None
    if command is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    lazy = _Pager(command)
    out = io.BufferedWriter(lazy, 1 << 16)
    try:
        yield out
        out.flush()
    finally:
        lazy.finish()


def pager_command() -> list[str] | None:
    """The words of the pager; None where there is none, or the terminal could not show one."""
    if os.environ.get("TERM") in (None, "dumb"):
        return None
    told = os.environ.get("OTEL2TRAJ_PAGER", os.environ.get("PAGER", "less"))
    words = shlex.split(told)
    return words if words and shutil.which(words[0]) is not None else None


class _Pager(io.RawIOBase):
    """Starts the pager with the first byte, so that an error before it stands on the terminal itself."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._left = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        if self._left:
            return len(piece)
        if self._process is None:
            told = {"LESS": "FRX", **os.environ}
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, env=told)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(piece)
        except BrokenPipeError:  # the reader has seen enough
            self._left = True
        return len(piece)

    def finish(self) -> None:
        self._left = True
        if self._process is None:
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        while True:
            try:
                self._process.wait()
                return
            except KeyboardInterrupt:  # meant for the pager, which ends nothing on it
                continue
