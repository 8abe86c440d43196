"""What it costs to show a run whose requests grow: linear in what is recorded, no memory for what has been shown."""

from __future__ import annotations

import io
import time
import tracemalloc
from typing import Any

import pytest

from otel2traj.model.trajectory import StepSink
from otel2traj.renderers import RENDERERS
from otel2traj.renderers.base import RenderOptions
from otel2traj.renderers.bundle import BundleSink
from tests.factory import step, tool_log, trajectory

pytestmark = pytest.mark.bench


class Nowhere(io.RawIOBase):
    """Takes bytes and keeps none."""

    def write(self, data: Any, /) -> int:
        return len(data)


def feed(sink: StepSink, count: int) -> tuple[int, float]:
    """Bytes of all requests, and CPU seconds spent in the sink, for a run that grows by 2 KB a step."""
    frame = trajectory()
    talk: list[Any] = [{"role": "user", "content": "begin"}]
    total, spent = 0, 0.0
    sink.begin(frame.header)
    for number in range(1, count + 1):
        one = step(number, tool_log(f"call_{number}", outputs=f"{number} " * 300), input={"messages": list(talk)})
        total += sum(len(message["content"]) for message in talk)
        started = time.process_time()
        sink.step(one)
        spent += time.process_time() - started
        talk += [{"role": "assistant", "content": f"a{number}" * 200}, {"role": "tool", "content": f"{number} " * 300}]
    started = time.process_time()
    sink.end(frame.summary)
    return total, spent + time.process_time() - started


def sinks() -> dict[str, StepSink]:
    text = RENDERERS.get("text")
    return {
        "text": text.sink(Nowhere(), RenderOptions()),  # type: ignore[arg-type]
        "text in a budget": text.sink(Nowhere(), RenderOptions(budget=50_000)),  # type: ignore[arg-type]
        "bundle": BundleSink("run"),
    }


@pytest.mark.parametrize("name", list(sinks()))
def test_time_follows_what_is_recorded(name: str) -> None:
    feed(sinks()[name], 20)
    (few, short), (many, long) = feed(sinks()[name], 150), feed(sinks()[name], 450)
    print(f"{name}: {few / 1e6:.0f} MB {short:.2f} s, {many / 1e6:.0f} MB {long:.2f} s")
    assert long / short < 3 * many / few


@pytest.mark.parametrize("name", list(sinks()))
def test_no_step_stays_in_memory(name: str) -> None:
    sink = sinks()[name]
    tracemalloc.start()
    try:
        total, _ = feed(sink, 300)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f"{name}: {total / 1e6:.0f} MB of requests, peak {peak / 1e6:.1f} MB")
    assert peak < total / 5
