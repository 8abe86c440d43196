"""The edge of the program: whatever ends a command becomes words on stderr and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Final

from ..errors import Otel2TrajError

BUG: Final = 5
UNREADABLE: Final = 3
INTERRUPTED: Final = 130
TRACEBACK: Final = "OTEL2TRAJ_TRACEBACK"
"""Environment variable under which a bug shows where it happened."""


def guarded(command: Callable[[], None]) -> None:
    """Run a command and end the process: 0 clean, 1 findings, 2 usage, 3 evidence or target, 4 refused, 5 a bug."""
    _any_text()
    try:
        try:
            command()
            code: int | str | None = 0
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as err:
        code = tell(err)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    _let_go()
    sys.exit(code)


def tell(err: Exception) -> int:
    """An error in words; returns its exit code."""
    if type(err) is Otel2TrajError and err.error_code == "internal":
        return report_bug(err)
    if isinstance(err, Otel2TrajError):
        _say(f"error: {err}")
        if err.hint is not None:
            _say(f"hint: {err.hint}")
        return err.exit_code
    if isinstance(err, OSError) and err.errno is not None:
        where = "" if err.filename is None else f": {os.fsdecode(err.filename)}"
        _say(f"error: {err.strerror or err}{where}")
        return UNREADABLE
    if isinstance(err, MemoryError):
        _say("error: out of memory")
        return UNREADABLE
    return report_bug(err)


def report_bug(err: Exception) -> int:
    """A bug, with the request to report it; returns its exit code."""
    if os.environ.get(TRACEBACK):
        _say("".join(traceback.format_exception(err)).rstrip())
    _say(f"error: internal error: {type(err).__name__}: {err}")
    ask_to_report()
    return BUG


def ask_to_report() -> None:
    _say(f"hint: this is a bug of otel2traj; please report it with the command and its output under {TRACEBACK}=1")


def _say(text: str) -> None:
    from ..renderers.safe import visible  # a message may hold a recorded name

    with contextlib.suppress(OSError, ValueError):
        print("\n".join(visible(line) for line in text.split("\n")), file=sys.stderr)


def _any_text() -> None:
    """A console whose encoding lacks a character gets it escaped; it is no reason to end."""
    if sys.stdout is None:  # closed by the caller: whoever writes is told, and no other file gets its number
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _let_go() -> None:
    """What could not be written is not tried again when the interpreter ends, which would be a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
