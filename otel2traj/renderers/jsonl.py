"""Steps into JSON Lines: a header, the steps that were asked for, a summary with the outcome; `record` says which an
object is."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject
from ..errors import UsageError
from ..model.codec import step_to_json, summary_to_json
from ..model.trajectory import Header, Step, StepSink, Summary
from ..outcome import OutcomeReader, outcome_to_json
from .base import Mode, Part, RenderOptions
from .safe import json_line
from .words import request_text, truncate_middle


class JsonLines:
    """Streams: a step is written before the next one is read. A shortened request is
    `{"truncated_middle": true, "characters", "left_out", "text"}`; in `response_only` there is no `input`."""

    name = "json"

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink:
        if options.budget is not None:
            raise UsageError("a budget needs --format text or markdown", hint="use --mode to shorten JSON Lines")
        return _Lines(out, options)


class _Lines:
    def __init__(self, out: BinaryIO, options: RenderOptions) -> None:
        self._out, self._options = out, options
        self._shown = self._all = 0
        self._outcome = OutcomeReader()

    def begin(self, header: Header) -> None:
        self._outcome.begin(header)
        self._write(
            {
                "record": "header",
                "schema": header.schema,
                "builder_version": header.builder_version,
                "run_id": header.run_id,
                "agent_id": header.agent_id,
                "case_id": header.case_id,
                "framework": header.framework,
                "metadata": header.metadata,
                "mode": self._options.mode,
            }
        )

    def step(self, step: Step) -> None:
        self._all += 1
        self._outcome.step(step)
        if self._options.part is Part.HEAD or not self._options.selection.takes(step):
            return
        self._shown += 1
        data = step_to_json(step)
        if self._options.mode is Mode.RESPONSE_ONLY:
            del data["input"]
        elif self._options.mode is Mode.TRUNCATE_MIDDLE:
            whole = request_text(step)
            text, gone = truncate_middle(whole)
            if gone:
                data["input"] = {"truncated_middle": True, "characters": len(whole), "left_out": gone, "text": text}
        if not self._options.inference:
            _drop_inference(data)
        self._write({"record": "step", **data})

    def end(self, summary: Summary) -> None:
        head: JsonObject = {"record": "summary", "status": summary.status, "steps": self._all, "shown": self._shown}
        if summary.error is not None:
            head["error"] = summary.error
        self._outcome.end(summary)
        outcome = outcome_to_json(self._outcome.outcome)
        if not self._options.inference:
            for gap in outcome["unknowns"]:
                if gap.pop("inferred"):
                    gap.pop("detail", None)
        self._write({**head, "outcome": outcome, **summary_to_json(summary)})

    def _write(self, data: JsonObject) -> None:
        if self._options.part is not Part.STEPS or data["record"] == "step":
            self._out.write(json_line(data))


def _drop_inference(data: JsonObject) -> None:
    """Leave the class-I inferences out of a step, without touching the objects that others hold."""
    data["evidence"] = {key: value for key, value in data["evidence"].items() if key != "inferred_call"}
    for log in data["tool_logs"]:
        log["evidence"] = {key: value for key, value in log["evidence"].items() if key != "inferred"}
