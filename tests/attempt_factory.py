"""Attempts told in a few words, so that a test shows only the records it is about."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DAY = "2026-05-28T10:00:"


def at(second: float) -> str:
    return f"{_DAY}{second:09.6f}+00:00"


def chat_response(
    call_id: str = "chatcmpl-1", text: str | None = None, calls: list[tuple[str, str, str]] | None = None
) -> Any:
    """A chat completion; `calls` are (id, name, arguments text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ]
    reason = "tool_calls" if calls else "stop"
    return {
        "id": call_id,
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


@dataclass
class AttemptFactory:
    """Collects records by file and writes them all; methods return `self`, to be chained."""

    root: Path
    layout: str = "current"
    records: dict[str, list[bytes]] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)

    def folder(self, ordinal: str) -> str:
        return f"steps/{ordinal}" if self.layout == "current" else f"evaluation/inputs/{ordinal}"

    @property
    def wire_path(self) -> str:
        return "logs/network.jsonl" if self.layout == "current" else "network.jsonl"

    def line(self, path: str, raw: bytes) -> AttemptFactory:
        self.records.setdefault(path, []).append(raw)
        return self

    def event(self, path: str, event: str, second: float, data: dict[str, Any], source: str = "") -> AttemptFactory:
        record = {
            "schema": "abb.observe.event.v1",
            "run_id": "run-1",
            "source": source,
            "event": event,
            "timestamp": at(second),
            "data": data,
        }
        return self.line(path, json.dumps(record, ensure_ascii=False).encode())

    def input(self, ordinal: str, prompt: Any = "go", output: Any = "done") -> AttemptFactory:
        base = self.root / self.folder(ordinal)
        base.mkdir(parents=True, exist_ok=True)
        self.inputs[ordinal] = f"in-{ordinal}"
        (base / "input.json").write_text(json.dumps({"input_id": f"in-{ordinal}", "payload": prompt}))
        request = {"session_id": "run-1", "agent_id": "agent-1", "framework": "langgraph", "input": prompt}
        (base / "request.json").write_text(json.dumps(request))
        (base / "result.json").write_text(json.dumps({"status": "succeeded", "output": output}))
        return self

    def request(
        self, call: str, second: float, *, span: str | None = None, messages: Any = None, **data: Any
    ) -> AttemptFactory:
        payload = {"model": "m-1", "messages": messages or [{"role": "user", "content": "go"}]}
        fields = {
            "call_id": call,
            "path": "/v1/chat/completions",
            "framework_span_id": span,
            "payload": payload,
            **data,
        }
        return self.event(self.wire_path, "llm_request", second, fields, "interceptor")

    def response(self, call: str, second: float, payload: Any, *, status: int = 200, **data: Any) -> AttemptFactory:
        fields = {"call_id": call, "path": "/v1/chat/completions", "status": status, "payload": payload, **data}
        return self.event(self.wire_path, "llm_response", second, fields, "interceptor")

    def error(self, call: str, second: float, code: str) -> AttemptFactory:
        fields = {"call_id": call, "path": "/v1/chat/completions", "error": "broken", "error_code": code}
        return self.event(self.wire_path, "llm_error", second, fields, "interceptor")

    def start(self, ordinal: str, span: str, kind: str, second: float, **data: Any) -> AttemptFactory:
        fields = {
            "span_id": span,
            "parent_span_id": None,
            "kind": kind,
            "name": kind,
            "input": None,
            "metadata": {},
            **data,
        }
        return self.event(f"{self.folder(ordinal)}/framework.jsonl", "span_start", second, fields, "framework")

    def end(self, ordinal: str, span: str, second: float, output: Any = None, **data: Any) -> AttemptFactory:
        fields = {"span_id": span, "output": output, **data}
        return self.event(f"{self.folder(ordinal)}/framework.jsonl", "span_end", second, fields, "framework")

    def tool(self, ordinal: str, span: str, call_id: str | None, second: float, **data: Any) -> AttemptFactory:
        """A finished tool execution whose id stands in the ToolMessage of its output."""
        message = {"type": "tool", "content": "found", "name": "search", "tool_call_id": call_id, "status": "success"}
        fields: dict[str, Any] = {"name": "search", "input": '{"q": "x"}', **data}
        self.start(ordinal, span, "tool", second, **fields)
        return self.end(ordinal, span, second + 0.1, message)

    def write(self) -> Path:
        (self.root / "run.json").write_text(
            json.dumps({"run_id": "run-1", "agent_id": "agent-1", "status": "succeeded"})
        )
        for path, lines in self.records.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"".join(line + b"\n" for line in lines))
        return self.root


def otlp(spans: list[dict[str, Any]], scope: str = "test.scope") -> bytes:
    """One OTLP JSON line of spans told by `span`."""
    body = {"scope": {"name": scope}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [body]}]}, ensure_ascii=False).encode()


def span(
    span_id: str, second: float, attributes: dict[str, Any], *, parent: str | None = None, **fields: Any
) -> dict[str, Any]:
    """An OTLP span; attribute values are strings, integers, or JSON written as text."""
    start = 1_779_962_400_000_000_000 + int(second * 1_000_000_000)
    out: dict[str, Any] = {
        "traceId": "ab" * 16,
        "spanId": span_id,
        "name": "a span",
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 500_000_000),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
    }
    if parent is not None:
        out["parentSpanId"] = parent
    return {**out, **fields}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def model_span(
    span_id: str,
    second: float,
    *,
    calls: list[tuple[str, str, Any]] | None = None,
    text: str | None = None,
    response_id: str | None = None,
    parent: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A model call in the GenAI convention; `calls` are (id, name, arguments)."""
    parts: list[dict[str, Any]] = [] if text is None else [{"type": "text", "content": text}]
    parts += [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in calls or []]
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.output.messages": [{"role": "assistant", "parts": parts, "finish_reason": "stop"}],
    }
    if response_id is not None:
        attributes["gen_ai.response.id"] = response_id
    return span(span_id, second, attributes, parent=parent, **fields)


def tool_span(
    span_id: str,
    second: float,
    name: str,
    *,
    call_id: str | None = None,
    arguments: Any = None,
    result: Any = None,
    parent: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A tool execution in the GenAI convention."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    for key, value in (("id", call_id), ("arguments", arguments), ("result", result)):
        if value is not None:
            attributes[f"gen_ai.tool.call.{key}"] = value
    return span(span_id, second, attributes, parent=parent, **fields)
