"""What a person sees while a long build runs: one line on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int], None]


@contextmanager
def progress() -> Iterator[Report | None]:
    """A callback for `build_path`, or None where nobody watches. Shows nothing in the first second."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = last = time.monotonic()
    shown = False

    def report(path: str, records: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - begun < 1.0 or now - last < 0.1:
            return
        last, shown = now, True
        print(f"\r\033[K{records:>10,} records of {path}", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
