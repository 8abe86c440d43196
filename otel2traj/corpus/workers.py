"""Tasks into results, in the order of the tasks whatever the number of worker processes."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from typing import Final, TypeVar

from ..errors import Otel2TrajError, UsageError

T = TypeVar("T")
R = TypeVar("R")
_AHEAD: Final = 4


def run(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Iterator[R]:
    """`function` over `tasks`. With `jobs` 1 everything happens here; else in that many processes, a few tasks ahead.

    Raises whatever a task raises, and `Otel2TrajError` where a worker dies.
    """
    if jobs < 1:
        raise UsageError(f"-j {jobs} makes no sense", hint="the number of worker processes, 1 or more")
    if jobs == 1:
        yield from map(function, tasks)
        return
    waiting: deque[Future[R]] = deque()
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=end_with_parent)
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) >= jobs * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as err:
        raise Otel2TrajError(
            "a worker process died",
            hint="run the same command again: it goes on where it stopped",
            code="corpus.worker",
        ) from err
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def end_with_parent() -> None:
    """A worker whose parent was killed would wait for tasks forever."""
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
