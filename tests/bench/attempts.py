"""Makes attempts of a given size for the benchmarks, by plain rules, always the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_BASE = 1_780_000_000_000_000_000


def _stamp(ns: int) -> str:
    seconds, fraction = divmod(ns - _BASE, 1_000_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-05-28T{hours:02d}:{minutes:02d}:{seconds:02d}.{fraction // 1000:06d}+00:00"


def growing_attempt(root: Path, steps: int, turn_bytes: int) -> int:
    """An attempt of one Input whose every request holds the whole history. Returns the bytes written."""
    (root / "steps" / "0001").mkdir(parents=True)
    (root / "logs").mkdir()
    (root / "steps" / "0001" / "input.json").write_text(json.dumps({"input_id": "in-1", "payload": "go"}))
    request = {"session_id": "run-1", "agent_id": "agent", "framework": "langgraph", "input": "go"}
    (root / "steps" / "0001" / "request.json").write_text(json.dumps(request))
    (root / "steps" / "0001" / "result.json").write_text(json.dumps({"status": "succeeded", "output": "done"}))
    (root / "run.json").write_text(json.dumps({"run_id": "run-1", "agent_id": "agent", "status": "succeeded"}))
    filler = ("All work and no play makes “Jack” a dull boy.\n" * (turn_bytes // 46 + 1))[:turn_bytes]
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": "go"},
    ]
    now = _BASE
    with (root / "logs" / "network.jsonl").open("w") as out:
        for step in range(steps):
            call_id = f"call_{step:032x}"
            payload = {"model": "m", "messages": history, "tools": [{"type": "function", "function": {"name": "read"}}]}
            common = {"call_id": call_id, "agent_id": "agent", "mode": "observe", "path": "/v1/chat/completions"}
            _line(out, "llm_request", now, {**common, "payload": payload, "raw_body": json.dumps(payload)})
            tool = {"id": f"tc_{step}", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
            answer = {"role": "assistant", "content": None, "tool_calls": [tool]}
            body = {
                "id": f"chatcmpl-{step}",
                "model": "m",
                "choices": [{"index": 0, "message": answer, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 10 * step, "completion_tokens": 7},
            }
            _line(out, "llm_response", now + 5_000_000, {**common, "status": 200, "payload": body})
            history += [answer, {"role": "tool", "tool_call_id": f"tc_{step}", "content": f"{step}: {filler}"}]
            now += 1_000_000_000
    return (root / "logs" / "network.jsonl").stat().st_size


def _line(out: Any, event: str, ns: int, data: dict[str, Any]) -> None:
    record = {
        "schema": "abb.observe.event.v1",
        "run_id": "run-1",
        "source": "interceptor",
        "event": event,
        "timestamp": _stamp(ns),
        "data": data,
    }
    out.write(json.dumps(record, ensure_ascii=False) + "\n")


def many_spans(file: Path, spans: int, per_line: int = 300) -> int:
    """One trace of `spans` spans, a sixth of them model calls and a third tools, as OTLP JSON lines of the
    Collector's form."""
    return many_traces(file, spans, spans, per_line, "a" * 32)


def many_traces(file: Path, spans: int, per_trace: int, per_line: int = 300, name: str | None = None) -> int:
    """The same in traces of `per_trace` spans, which number themselves from 1 where there is no `name`."""
    with file.open("w") as out:
        batch: list[dict[str, Any]] = []
        for number in range(spans):
            at, place = divmod(number, per_trace)
            batch.append(_span(name or f"{at + 1:032x}", place))
            if len(batch) == per_line or number == spans - 1:
                scope = {"scope": {"name": "opentelemetry.util.genai"}, "spans": batch}
                resource = {"resource": {"attributes": [_attribute("service.name", "bench")]}, "scopeSpans": [scope]}
                out.write(json.dumps({"resourceSpans": [resource]}, separators=(",", ":")) + "\n")
                batch = []
    return file.stat().st_size


def windowed_traces(file: Path, runs: int, turns: int = 20, window: int = 8) -> int:
    """One OTLP JSON document of `runs` traces: an agent, its model calls, which each tell the task and last messages
    again, and a tool after each. Returns the number of spans."""
    spans: list[dict[str, Any]] = []
    tools = json.dumps([{"type": "function", "name": f"tool_{n}", "description": "words " * 12} for n in range(5)])
    for run in range(runs):
        trace = f"{run + 1:032x}"
        spans.append(
            _plain_span(trace, 1, None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder"})
        )
        history: list[dict[str, Any]] = [_said("user", {"type": "text", "content": f"task {run} " * 20})]
        for turn in range(turns):
            call = {"type": "tool_call", "id": f"c{run}_{turn}", "name": "tool_1", "arguments": {"q": f"{turn} " * 8}}
            answer = _said("assistant", {"type": "text", "content": f"thinking {turn} " * 8}, call)
            asked = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "m",
                "gen_ai.tool.definitions": tools,
                "gen_ai.input.messages": json.dumps(history[:1] + history[1:][1 - window :]),
                "gen_ai.output.messages": json.dumps([{**answer, "finish_reason": "tool_calls"}]),
            }
            result = f"line {turn} of run {run} " * 25
            done = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "tool_1",
                "gen_ai.tool.call.id": call["id"],
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
                "gen_ai.tool.call.result": result,
            }
            spans.append(_plain_span(trace, 2 * turn + 2, 1, asked))
            spans.append(_plain_span(trace, 2 * turn + 3, 1, done))
            history += [answer, _said("tool", {"type": "tool_call_response", "id": call["id"], "response": result})]
    scope = {"scope": {"name": "opentelemetry.util.genai"}, "spans": spans}
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}, separators=(",", ":")))
    return len(spans)


def _said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def _plain_span(trace: str, number: int, parent: int | None, attributes: dict[str, str]) -> dict[str, Any]:
    start = _BASE + int(trace, 16) * 60_000_000_000 + number * 1_000_000
    out: dict[str, Any] = {"traceId": trace, "spanId": f"{number:016x}", "name": "span", "kind": 1}
    if parent is not None:
        out["parentSpanId"] = f"{parent:016x}"
    out["startTimeUnixNano"], out["endTimeUnixNano"] = str(start), str(start + 900_000)
    out["attributes"] = [_attribute(key, value) for key, value in attributes.items()]
    return out


def _attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def _span(trace: str, number: int) -> dict[str, Any]:
    turn, place = divmod(number, 6)
    if number == 0:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"}
    elif place == 1:
        calls = [
            {"type": "tool_call", "id": f"tc_{turn}_{n}", "name": "read", "arguments": {"path": f"f{n}"}}
            for n in (2, 3)
        ]
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "m",
            "gen_ai.response.id": f"resp-{turn}",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "go " * 40}]}]),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": calls, "finish_reason": "tool_calls"}]
            ),
        }
    elif place in (2, 3):
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "read",
            "gen_ai.tool.call.id": f"tc_{turn}_{place}",
            "gen_ai.tool.call.arguments": json.dumps({"path": f"f{place}"}),
            "gen_ai.tool.call.result": "some text " * 20,
        }
    else:
        attributes = {"http.request.method": "POST", "url.full": "https://model.example/v1/chat/completions"}
    out = {
        "traceId": trace,
        "spanId": f"{number + 1:016x}",
        "name": attributes.get("gen_ai.operation.name", "POST"),
        "kind": 1,
        "startTimeUnixNano": str(_BASE + number * 1_000_000),
        "endTimeUnixNano": str(_BASE + number * 1_000_000 + 900_000),
        "attributes": [_attribute(key, value) for key, value in attributes.items()],
    }
    if number > 0:
        out["parentSpanId"] = f"{1:016x}"
    return out
