"""Tasks to results in worker processes. A task that ends its process, or raises, is a result too."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from typing import Any, Final, TypeVar

from ..corpus.workers import end_with_parent
from ..errors import UsageError

T = TypeVar("T")
R = TypeVar("R")
Results = Iterator[tuple[T, R | Exception]]
_AHEAD: Final = 2
_RAY_CHUNK: Final = 1024


class ProcessDied(Exception):
    """The process that did the task is gone."""


def local(function: Callable[[T], R], tasks: Iterable[T], jobs: int, ahead: int = _AHEAD) -> Results[T, R]:
    """In `jobs` processes of this machine, the results as they come. Few tasks are ahead, so memory stays flat.

    What is under way beside a task that ends its process is lost with it; `ahead` of 1 in one process costs none."""
    todo = iter(tasks)
    while True:
        first = next(todo, None)
        if first is None:
            return
        yield from _until_broken(function, itertools.chain([first], todo), jobs, jobs * ahead)


def _until_broken(function: Callable[[T], R], todo: Iterator[T], jobs: int, most: int) -> Results[T, R]:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=end_with_parent)
    running: dict[Future[R], T] = {}
    broken = False
    try:
        while True:
            for task in itertools.islice(todo, 0 if broken else most - len(running)):
                try:
                    running[pool.submit(function, task)] = task
                except BrokenProcessPool:
                    broken = True
                    yield task, ProcessDied("not begun")
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                err = future.exception()
                if isinstance(err, BrokenProcessPool):
                    broken = True
                    yield task, ProcessDied("the process that built it died")
                elif isinstance(err, Exception):
                    yield task, err
                elif err is not None:
                    raise err
                else:
                    yield task, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def ray(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Results[T, R]:
    """By Ray Data over the tasks, `jobs` at a time, on the cluster of `RAY_ADDRESS`, else on this machine.

    Every node must see the evidence and the data set under the same paths or URLs. Raises `UsageError` without Ray.
    """
    try:
        found: Any = import_module("ray")
        data: Any = import_module("ray.data")
    except ImportError as err:
        raise UsageError("--engine ray needs Ray", hint="pip install 'otel2traj[ray]'") from err
    if not found.is_initialized():
        found.init(num_cpus=None, logging_level="warning", log_to_driver=False)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1  # a block that is lost is told below, and does not end the run
    todo = iter(tasks)
    while chunk := list(itertools.islice(todo, _RAY_CHUNK)):
        items = [{"number": number, "task": pickle.dumps(task)} for number, task in enumerate(chunk)]
        mapped = data.from_items(items, override_num_blocks=len(items)).map(
            _Guarded(function),
            compute=data.TaskPoolStrategy(size=jobs),
            num_cpus=1,
            ray_remote_args_fn=_once,
        )
        missing = dict(enumerate(chunk))
        for row in mapped.iter_rows():
            yield missing.pop(row["number"]), pickle.loads(row["result"])
        for task in missing.values():
            yield task, ProcessDied("the process that built it died")


def _once() -> dict[str, int]:
    """Ray Data tries for ever what ends its process."""
    return {"max_retries": 0}


class _Guarded:
    """A function over rows of Ray Data, whose errors are results."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            result = self._function(pickle.loads(row["task"]))
        except Exception as err:
            result = err
        return {"number": row["number"], "result": pickle.dumps(result)}


ENGINES: Final[dict[str, Callable[..., Iterator[tuple[Any, Any]]]]] = {"local": local, "ray": ray}
