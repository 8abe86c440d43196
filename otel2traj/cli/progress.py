"""What a person sees while a long build runs: one line on stderr, where that is a terminal; of a fleet now and then a
line anywhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..fleet.build import Progress

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


@contextmanager
def fleet_progress() -> Iterator[Callable[[Progress], None]]:
    """A callback for `build_dataset`: failures as they come, how far it is each second on a terminal, else each ten."""
    terminal = sys.stderr.isatty()
    pause = 1.0 if terminal else 10.0
    begun = last = time.monotonic()
    shown = False

    def report(told: Progress) -> None:
        nonlocal last, shown
        clear = "\r\033[K" if shown else ""
        for attempt, why in told.failures:
            print(f"{clear}{attempt}: {why}", file=sys.stderr, flush=True)
            clear, shown = "", False
        now = time.monotonic()
        if now - last < pause:
            return
        last = now
        rate = told.done / (now - begun)
        if terminal:
            print(f"\r\033[K{told.describe()}, {rate:.1f}/s", end="", file=sys.stderr, flush=True)
            shown = True
        else:
            print(f"{told.describe()}, {rate:.1f}/s", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
