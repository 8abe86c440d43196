"""TraceElephant's released files: `step_records.json` and `trace_metadata.json` (arXiv 2604.22708; steps from 1)."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject, dumps, dumps_pretty
from ..model.codec import tool_log_to_json
from ..model.trajectory import Header, Step, StepKind, StepSink, Summary
from .chat_messages import answer_of
from .jsonstream import ListDocument


class TraceElephantSteps:
    name = "traceelephant-steps"
    title = "TraceElephant `step_records.json`: the input and output of each step, for failure attribution."
    suffix = ".json"
    losses = (
        "The output of a step is the text form of a completion object, rebuilt from the step: not the recorded body.",
        "Evidence of a step, times, coverage, sources and warnings have no field; tool logs keep theirs.",
        "A step that no model call emitted has an empty input and its tool log alone.",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Steps(out)


class TraceElephantMetadata:
    name = "traceelephant-metadata"
    title = "TraceElephant `trace_metadata.json`: the task and the system, with the labels left open."
    suffix = ".json"
    losses = (
        "No labels: `mistake_agent`, `mistake_step` and `ground_truth` are null until a person fills them in.",
        "Everything but the task instruction, the system prompt, the tools and the agents' names.",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Metadata(out)


class _Steps:
    def __init__(self, out: BinaryIO) -> None:
        self._document = ListDocument(out, None)

    def begin(self, header: Header) -> None:
        self._document.open({})

    def step(self, step: Step) -> None:
        request: JsonObject = {}
        if step.kind is StepKind.MODEL:
            parameters = step.input.get("parameters")
            request = {key: step.input[key] for key in ("model", "system", "messages", "tools") if key in step.input}
            request |= parameters if isinstance(parameters, dict) else {}
        self._document.item(
            {
                "step_id": step.step_id,
                "agent_id": step.agent_name,
                "agent_name": step.agent_name,
                "input": request,
                "output": completion_text(step),
                "tool_logs": [tool_log_to_json(log) for log in step.tool_logs],
            }
        )

    def end(self, summary: Summary) -> None:
        self._document.close({})


def completion_text(step: Step) -> str:
    """A chat completion object that says what the step's output says, as JSON text."""
    message = answer_of(step.output)
    reasoning = step.output.get("reasoning")
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    choice = {"index": 0, "message": message, "finish_reason": step.output.get("finish_reason")}
    usage = step.output.get("usage")
    completion: JsonObject = {"object": "chat.completion", "model": step.model, "choices": [choice]}
    if isinstance(usage, dict):
        completion["usage"] = usage.get("raw", usage)
    return dumps(completion).decode("utf-8")


class _Metadata:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def begin(self, header: Header) -> None:
        self._header = header
        self._agents: list[str] = []

    def step(self, step: Step) -> None:
        if step.agent_name is not None and step.agent_name not in self._agents:
            self._agents.append(step.agent_name)

    def end(self, summary: Summary) -> None:
        header = self._header
        config = header.metadata.get("agent_configuration")
        intro = {
            "agents": self._agents,
            "system_prompt": config.get("system_prompt") if isinstance(config, dict) else None,
            "tools": config.get("tools") if isinstance(config, dict) else None,
        }
        self._out.write(
            dumps_pretty(
                {
                    "task_instruction": header.metadata.get("task_instruction"),
                    "ground_truth": None,
                    "mistake_agent": None,
                    "mistake_step": None,
                    "agent_system_intro": intro,
                    "system_name": header.framework,
                }
            )
            + b"\n"
        )
