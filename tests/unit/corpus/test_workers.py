"""Results come in the order of the tasks; what a task raises is raised; a worker that dies is told."""

from __future__ import annotations

import os
import time

import pytest

from otel2traj.corpus.workers import run
from otel2traj.errors import Otel2TrajError, RefusedError, UsageError


def slow_first(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number * number


def refuses(number: int) -> int:
    if number == 3:
        raise RefusedError("three", hint="not three", code="corpus.three")
    return number


def dies(_: int) -> int:
    os._exit(9)


@pytest.mark.parametrize("jobs", [1, 2])
def test_order(jobs: int) -> None:
    assert list(run(slow_first, range(20), jobs)) == [number * number for number in range(20)]


def test_tasks_are_taken_as_they_are_needed() -> None:
    taken = []

    def tasks() -> object:
        for number in range(1000):
            taken.append(number)
            yield number

    results = run(slow_first, tasks(), 2)  # type: ignore[arg-type]
    next(results)
    assert len(taken) < 30
    results.close()  # type: ignore[attr-defined]


def test_errors() -> None:
    with pytest.raises(RefusedError) as caught:
        list(run(refuses, range(9), 2))
    assert caught.value.error_code == "corpus.three"
    with pytest.raises(Otel2TrajError) as died:
        list(run(dies, range(2), 2))
    assert died.value.error_code == "corpus.worker"
    with pytest.raises(UsageError):
        list(run(slow_first, [1], 0))
