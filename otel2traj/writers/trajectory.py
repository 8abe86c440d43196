"""Steps to `trajectory.json`: one JSON document in the contract's key order, one step a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, BinaryIO, Final

from ..canonical import JsonObject, dumps, sha256_hex
from ..model.codec import header_to_json, step_to_json, summary_to_json
from ..model.trajectory import Header, Step, StepSink, Summary, TrajectoryStatus

HEAD_BYTES = 4096
Check = Callable[[JsonObject, int | None], None]
"""Raises where a step with its number, or the document without its steps, is no part of a trajectory."""
"""How much of a value that is over the limit stays."""

_STEP: Final = frozenset({"input", "output"})
_LOG: Final = frozenset({"input_arguments", "outputs"})
_RECORDED: Final = frozenset({"error", "recorded", "recorded_arguments"})
_EVENT: Final = frozenset({"data"})
_INPUT: Final = frozenset({"prompt", "result", "file_changes"})
_NAMES: Final = re.compile(
    r"^(id|name|role|type|kind|model|path|old_path|status|finish_reason|sha256|index|mode|change_type|file_type"
    r"|tool_calls_source|output_source|agent_name|.*_id|.*Id|.*_hash|.*_name|.*_at)$"
)
"""Members whose texts name or point; the rest of what was recorded is content."""


class TrajectoryWriter:
    """The stored form of a trajectory (`abb.agent-trajectory.v1`)."""

    name = "trajectory"
    suffix = ".json"
    losses: tuple[str, ...] = ()

    def __init__(self, max_value_bytes: int = 1 << 20, check: Check | None = None) -> None:
        """`check` is shown each step as it is written, and in the end the document without its steps."""
        self._limit = max_value_bytes
        self._check = check

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(out, self._limit, self._check)


class _Sink:
    """`status` and `coverage` are known only at the end, and the contract has `status` in front: the steps go to `out`
    as they come, behind a place that is filled last. `out` must be seekable."""

    _STATUS_WIDTH = len('"complete"')

    def __init__(self, out: BinaryIO, limit: int, check: Check | None) -> None:
        self._out = out
        self._limit = limit
        self._check = check
        self._steps = 0
        self._rest: JsonObject = {}
        self._first = True
        self._status_at = 0
        self._extra: JsonObject = {}

    def begin(self, header: Header) -> None:
        top = header_to_json(header, TrajectoryStatus.COMPLETE)
        self._out.write(b"{\n")
        for key, value in top.items():
            self._out.write(dumps(key) + b": ")
            if key == "status":
                self._status_at = self._out.tell()
            self._out.write(dumps(value) + b",\n")
        metadata, data = self._json(header.metadata, truncate)
        self._out.write(b'"metadata": ' + data + b',\n"steps": [')
        self._extra = header.extra
        self._rest = {**top, "metadata": metadata, "steps": []}

    def step(self, step: Step) -> None:
        value, data = self._json(step_to_json(step), _step)
        if self._check is not None:
            self._check(value, self._steps)
        self._steps += 1
        self._out.write(b"\n" + data if self._first else b",\n" + data)
        self._first = False

    def end(self, summary: Summary) -> None:
        self._out.write(b"]" if self._first else b"\n]")
        rest: JsonObject = {**summary_to_json(summary), **self._extra}
        if summary.error is not None:
            rest = {"error": summary.error, **rest}
        for key, value in rest.items():
            self._out.write(b",\n" + dumps(key) + b": ")
            if key == "inputs" and value:
                told = [self._json(item, _sdk_input) for item in value]
                rest[key] = [item for item, _ in told]
                self._out.write(b"[\n" + b",\n".join(data for _, data in told) + b"\n]")
            elif key in ("sources", "warnings") and value:
                self._out.write(b"[\n" + b",\n".join(dumps(item) for item in value) + b"\n]")
            else:
                self._out.write(dumps(value))
        if self._check is not None:
            self._check({**self._rest, **rest, "status": summary.status.value}, None)
        self._out.write(b"\n}\n")
        end = self._out.tell()
        self._out.seek(self._status_at)
        self._out.write(dumps(summary.status).ljust(self._STATUS_WIDTH))
        self._out.seek(end)

    def _json(self, value: Any, shorten: Callable[[Any, int], Any]) -> tuple[Any, bytes]:
        data = dumps(value)
        if len(data) <= self._limit or not _has_long(value, self._limit):
            return value, data
        short = shorten(value, self._limit)
        return short, dumps(short)


def _has_long(value: Any, limit: int) -> bool:
    """Whether a string in the value may be over `limit` UTF-8 bytes."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is str:
            if len(item) * 4 > limit:
                return True
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, str) and len(item) * 4 > limit:
            return True
    return False


def truncate(value: Any, limit: int) -> Any:
    """Recorded content with every string over `limit` UTF-8 bytes replaced by `{"truncated", "size", "sha256",
    "head"}`; what names a thing (ids, names, digests, paths) stays whole."""
    if isinstance(value, str):
        return _cut(value, limit)
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            out[key] = item if isinstance(item, str) and _NAMES.search(key) is not None else truncate(item, limit)
        return out
    if isinstance(value, list):
        shortened = []
        for item in value:
            shortened.append(truncate(item, limit))
        return shortened
    return value


def _cut(value: str, limit: int) -> Any:
    if len(value) * 4 <= limit:
        return value
    data = value.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return value
    head = data[: min(HEAD_BYTES, limit)].decode("utf-8", "ignore")
    return {"truncated": True, "size": len(data), "sha256": sha256_hex(data), "head": head}


def _shorten(value: JsonObject, content: frozenset[str], limit: int) -> JsonObject:
    return {key: truncate(item, limit) if key in content else item for key, item in value.items()}


def _sdk_input(item: JsonObject, limit: int) -> JsonObject:
    out = _shorten(item, _INPUT, limit)
    evidence = item.get("evidence")
    if isinstance(evidence, dict) and "events" in evidence:
        events = [_shorten(event, _EVENT, limit) for event in evidence["events"]]
        out["evidence"] = {**evidence, "events": events}
    return out


def _step(step: JsonObject, limit: int) -> JsonObject:
    logs = []
    for log in step["tool_logs"]:
        evidence = _shorten(log["evidence"], _RECORDED, limit)
        if "candidates" in evidence:
            evidence["candidates"] = [_shorten(one, _LOG, limit) for one in evidence["candidates"]]
        logs.append({**_shorten(log, _LOG, limit), "evidence": evidence})
    return {**_shorten(step, _STEP, limit), "tool_logs": logs}
