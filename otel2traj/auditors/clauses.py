"""One step against the clauses of the contract that neither a schema nor a count can say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..canonical import JsonValue, sha256_canonical
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind
from ..timestamps import parse_ns

Told = tuple[str, str, str]
"""Rule, message, and where in the step, as the end of a JSON pointer."""

_MARK: Final = {"truncated", "size", "sha256", "head"}
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_EMPTY: Final = tuple(map(sha256_canonical, ({}, [], "", None)))
"""Digests of the requests that hold nothing."""


def step_clauses(step: Step) -> Iterator[Told]:
    """What is wrong with one step by itself."""
    emitted = step.output.get("tool_calls") or []
    if step.kind is StepKind.MODEL:
        for number, (call, log) in enumerate(zip(emitted, step.tool_logs, strict=False)):
            if call["id"] is not None and log.tool_call_id != call["id"]:
                yield "log-of-its-call", f"the log of {call['id']} names {log.tool_call_id}", f"/tool_logs/{number}"
            if log.link is LinkStatus.NONE and log.execution_status is not ExecutionStatus.NOT_OBSERVED:
                message = f"no link, and yet {log.execution_status}"
                yield "no-link-no-execution", message, f"/tool_logs/{number}/link"
        if not step.input and step.evidence.get("request_sha256") not in (None, *_EMPTY):
            yield "input-is-there", "a request was recorded, and the input is empty", "/input"
    for name in ("text", "reasoning", "refusal"):
        value = step.output.get(name)
        if value is not None and not isinstance(value, str) and not is_mark(value):
            yield "text-is-text", f"{name} is neither a text nor a mark of truncation", f"/output/{name}"
    times = [None if told is None else parse_ns(told) for told in (step.started_at, step.ended_at)]
    for name, told, read in (("started_at", step.started_at, times[0]), ("ended_at", step.ended_at, times[1])):
        if told is not None and read is None:
            yield "time-is-a-time", f"{told!r} is no time", f"/{name}"
    if times[0] is not None and times[1] is not None and times[1] < times[0]:
        yield "times-in-order", f"it ends at {step.ended_at}, before it starts", "/ended_at"


def mark_clauses(step: Step) -> Iterator[Told]:
    """What is wrong with the marks that stand for texts over the limit. Only a saved step has marks: they are made as
    it is written, and what looks like one before is a recorded value."""
    for where, value in _values(step):
        if isinstance(value, dict) and value.get("truncated") is True and value.keys() == _MARK:
            wrong = _wrong_mark(value["size"], value["sha256"], value["head"])
            if wrong is not None:
                yield "mark-agrees", wrong, where


def is_mark(value: JsonValue) -> bool:
    return isinstance(value, dict) and value.get("truncated") is True and value.keys() == _MARK


def _wrong_mark(size: JsonValue, sha256: JsonValue, head: JsonValue) -> str | None:
    if not isinstance(head, str) or not isinstance(sha256, str) or _SHA256.fullmatch(sha256) is None:
        return "a mark of truncation without a digest or a head"
    if not isinstance(size, int) or isinstance(size, bool) or size <= len(head.encode("utf-8", "surrogatepass")):
        return f"a mark of truncation says {size} bytes, and its head is not shorter"
    return None


def _values(step: Step) -> Iterator[tuple[str, JsonValue]]:
    """Every value of the recorded content of a step, with where it stands; without recursion."""
    stack: list[tuple[str, JsonValue]] = [("/input", step.input), ("/output", step.output)]
    for number, log in enumerate(step.tool_logs):
        stack += [(f"/tool_logs/{number}/input_arguments", log.input_arguments)]
        stack += [(f"/tool_logs/{number}/outputs", log.outputs)]
    while stack:
        where, value = stack.pop()
        if isinstance(value, dict):
            yield where, value
            stack += [(f"{where}/{key}", item) for key, item in value.items() if isinstance(item, (dict, list))]
        elif isinstance(value, list):
            stack += [(f"{where}/{n}", item) for n, item in enumerate(value) if isinstance(item, (dict, list))]
