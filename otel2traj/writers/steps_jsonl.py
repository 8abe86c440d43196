"""Steps as JSON Lines: one `header` line, one line a step, one `summary` line."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject, dumps
from ..model.codec import header_to_json, step_to_json, summary_to_json
from ..model.trajectory import Header, Step, StepSink, Summary, TrajectoryStatus


class StepsJsonl:
    name = "steps-jsonl"
    title = "JSON Lines for `jq`, `grep` and pipelines: a header line, a line a step, a summary line."
    suffix = ".jsonl"
    losses: tuple[str, ...] = ()

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(out)


def header_line(header: Header) -> JsonObject:
    """The header, without the status, which only the summary knows."""
    known = header_to_json(header, TrajectoryStatus.COMPLETE)
    del known["status"]
    return {"type": "header", **known, "metadata": header.metadata, **header.extra}


def summary_line(summary: Summary) -> JsonObject:
    line: JsonObject = {"type": "summary", "status": summary.status}
    if summary.error is not None:
        line["error"] = summary.error
    return {**line, **summary_to_json(summary)}


class _Sink:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def begin(self, header: Header) -> None:
        self._out.write(dumps(header_line(header)) + b"\n")

    def step(self, step: Step) -> None:
        self._out.write(dumps({"type": "step", **step_to_json(step)}) + b"\n")

    def end(self, summary: Summary) -> None:
        self._out.write(dumps(summary_line(summary)) + b"\n")
