"""Every member of every record of an attempt is changed, one at a time, and the trajectory changes with it.

What only says where the bytes stand (offsets, lengths, digests) is taken off before the two are compared: a record that
is merely pointed at has vanished all the same.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from otel2traj.api.build import build_path
from otel2traj.assembly.unsaid import LEFT_OUT
from tests.attempt_factory import AttemptFactory, at, chat_response
from tests.mutated import changed, members, put

_ADDRESS: Final = ("offset", "length", "sha256", "size", "request_sha256", "response_sha256")
_OF: Final = {"case_id": "case-1", "input_id": "in-0001", "agent_id": "agent-1"}
_METADATA: Final = {
    "thread_id": "th", "langgraph_step": 1, "langgraph_checkpoint_ns": "agent:1", "ls_model_name": "m-1", "note": "n"
}  # fmt: skip
FRAMEWORK: Final = "steps/0001/framework.jsonl"
WIRE: Final = "logs/network.jsonl"
ACP: Final = "steps/0001/acp-events.jsonl"


def wire(attempt: AttemptFactory) -> None:
    carried = {"agent_id": "agent-1", "mode": "observe", "method": "POST", "host": "h", "purpose": "agent_turn"}
    attempt.event(WIRE, "interceptor_ready", 0, {"mode": "observe"}, "interceptor")
    attempt.request("c1", 1, span="m1", truncated=False, **carried)
    attempt.event(WIRE, "llm_chunk", 1.05, {"call_id": "c1", "sequence": 1, "upstream_bytes": 3}, "interceptor")
    answer = chat_response(calls=[("t1", "search", '{"q": "x"}')])
    attempt.response("c1", 1.1, answer, framework_span_id="m1", latency_ms=10.3, raw_body="{}", new=1, **carried)
    attempt.request("c2", 3, cache={"hit": 1}, **carried)
    failed = {
        "error": "broken",
        "error_code": "transport_error",
        "error_stage": "upstream",
        "local_status": 502,
        "n": 1,
    }
    attempt.event(WIRE, "llm_error", 3.1, {"call_id": "c2", "path": "/v1/chat/completions", **failed}, "interceptor")
    attempt.event(WIRE, "tool_request", 4, {"call_id": "x", "path": "/s"}, "interceptor")
    attempt.event(WIRE, "observation_error", 4, {"error": "e", "error_code": "oc", "host": "h"}, "interceptor")


def framework(attempt: AttemptFactory) -> None:
    attempt.event(FRAMEWORK, "execution_start", 0.1, {"input": "go", **_OF}, "framework")
    attempt.event(FRAMEWORK, "native_event", 0.2, {"name": "n", "data": {"a": 1}, **_OF}, "framework")
    attempt.start("0001", "ch", "chain", 0.3, input={"messages": [["user", "go"]]}, metadata=_METADATA, **_OF)
    inside: dict[str, Any] = {"parent_span_id": "ch", "metadata": _METADATA, **_OF}
    attempt.start("0001", "m1", "llm", 0.9, input=[[{"type": "human", "content": "go"}]], **inside)
    call = {"id": "t1", "name": "search", "args": {"q": "x"}}
    message = {"type": "ai", "content": "", "tool_calls": [call], "response_metadata": {"model_name": "m-1"}}
    attempt.end("0001", "m1", 1.2, {"generations": [[{"text": "", "message": message}]]}, **_OF)
    attempt.start("0001", "t1s", "tool", 1.3, **{**inside, "name": "search", "input": {"q": "x"}, "tool_call_id": "t1"})
    updated = {"span_id": "t1s", "metadata": {**_METADATA, "note": "other"}, "progress": 1, **_OF}
    attempt.event(FRAMEWORK, "span_update", 1.4, updated, "framework")
    answer = {"type": "tool", "content": "found", "name": "search", "tool_call_id": "t1", "status": "success"}
    wrapped = {"update": {"messages": [{**answer, "artifact": {"k": 1}}], "todos": ["a"]}, "goto": "next"}
    attempt.end("0001", "t1s", 1.5, wrapped, tool_call_id="t1", tool_status="success", **_OF)
    attempt.start("0001", "t2s", "tool", 1.6, **{**inside, "name": "fail", "input": {"q": "y"}})
    error = {"message": "boom", "code": 7}
    attempt.event(FRAMEWORK, "span_error", 1.7, {"span_id": "t2s", "error": error, **_OF}, "framework")
    attempt.start("0001", "m2", "llm", 1.8, input=[[{"type": "human", "content": "go", "id": "h"}]], **inside)
    message = {
        "type": "ai", "id": "lc_run-1", "content": "bye", "additional_kwargs": {"w": 2}, "tool_calls": [],
        "usage_metadata": {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16},
        "response_metadata": {"model_name": "m-2", "id": "resp-2", "service_tier": "default"},
    }  # fmt: skip
    generation = {"text": "bye", "generation_info": {"finish_reason": "stop", "logprobs": {"l": 1}}, "message": message}
    attempt.end("0001", "m2", 1.9, {"generations": [[generation]], "llm_output": {"x": 1}}, **_OF)
    attempt.end("0001", "ch", 2.0, {"messages": [{"type": "ai", "content": "bye"}]}, **_OF)
    attempt.event(FRAMEWORK, "execution_end", 2.1, {"output": "done", **_OF}, "framework")


def payload_span(attempt: AttemptFactory) -> None:
    attributes = {
        "abb.framework_span_id": "t9", "abb.kind": "tool", "abb.input_id": "in-0001", "abb.input_ref": "p/a.json",
        "abb.output_ref": "p/b.json", "abb.metadata_ref": "p/c.json", "gen_ai.operation.name": "execute_tool",
    }  # fmt: skip
    raised = {"exception.type": "T", "exception.message": "m", "exception.stacktrace": "s"}
    told = {
        "name": "lookup", "kind": "SpanKind.INTERNAL", "trace_id": "ab" * 16, "span_id": "11" * 8,
        "context": {"trace_id": "0x" + "ab" * 16, "span_id": "0x" + "11" * 8},
        "start_time": at(5), "end_time": at(5.1), "start_time_unix_nano": "1779962405000000000",
        "status": {"status_code": "ERROR", "description": "m"}, "attributes": attributes,
        "events": [{"name": "exception", "timestamp": at(5), "attributes": raised}],
    }  # fmt: skip
    attempt.event("steps/0001/otel.jsonl", "span", 5, told, "otel")
    for name, value in (("a", {"k": "v"}), ("b", {"r": [1]}), ("c", _METADATA)):
        attempt.line(f"steps/0001/p/{name}.json", json.dumps(value).encode())


def acp(attempt: AttemptFactory) -> None:
    second = 1.0

    def event(name: str, **data: Any) -> None:
        nonlocal second
        second += 1
        attempt.event(ACP, name, second, {**data, **_OF}, "acp")

    def update(what: str, **members: Any) -> None:
        event("session_update", session_id="s1", update={"sessionUpdate": what, **members})

    event("initialize", initialize={"protocolVersion": 1, "agentInfo": {"name": "a"}}, pid=1)
    event("prompt_started", session_id="s1", input="go")
    update("agent_message_chunk", content={"type": "text", "text": "Let me "})
    update("agent_message_chunk", content={"type": "text", "text": "look."})
    update("tool_call", toolCallId="t1", title="Run", kind="execute", status="pending", locations=[{"path": "a"}])
    event("permission", session_id="s1", tool_call={"toolCallId": "t1"}, options=[{"optionId": "a"}], outcome={"o": 1})
    event("terminal_started", terminal_id="term", command="sh", args=["-c"])
    content = [{"type": "terminal", "terminalId": "term"}]
    update("tool_call_update", toolCallId="t1", title="Running", rawInput={"c": 1}, content=content)
    event("terminal_output", terminal_id="term", output="one", truncated=False)
    event("terminal_exited", terminal_id="term", exit_code=3, signal=None)
    update("tool_call_update", toolCallId="t1", status="failed", new={"x": 1})
    event("file_read", path="a", line=None, content="alpha")
    event("prompt_completed", stopReason="end_turn", new=1)
    counted = {
        "coverage": "protocol_events",
        "tool_calls": 1,
        "incomplete_tools": ["t1"],
        "session": {"sessionId": "s"},
    }
    attempt.line("steps/0001/acp-summary.json", json.dumps(counted).encode())


def replay(attempt: AttemptFactory) -> None:
    entry = {"type": "file", "size": 4, "mode": 420, "blob": "0" * 64, "redacted": False}
    omitted = {"type": "file", "size": 9, "mode": 420, "omitted": "binary_content"}
    changes = [
        {"path": "a", "before": entry, "after": omitted, "new": 1},
        {"path": "b", "before": None, "after": entry},
    ]
    for number, (reason, input_id, told) in enumerate(
        [("input_started", "in-0001", []), ("change", None, changes), ("input_finished", "in-0001", [])], 1
    ):
        event = {"sequence": number, "time_ms": number, "reason": reason, "input_id": input_id, "changes": told}
        attempt.line("replay/events.jsonl", json.dumps({**event, "partial": False}).encode())
    manifest = {"schema": "abb.workspace-replay.v1", "status": "partial", "warnings": ["w"], "poll_interval_ms": 250}
    attempt.line("replay/manifest.json", json.dumps(manifest).encode())
    attempt.line("replay/baseline.json", json.dumps({"time_ms": 1, "entries": {"a": entry}}).encode())


def documents(root: Path) -> None:
    change = {
        "path": "a.txt", "change_type": "modified", "file_type": "file", "before_hash": "sha256:" + "0" * 64,
        "after_size": 4, "complete": True, "reason": "r", "diff": "d", "new": 1,
    }  # fmt: skip
    given = {"input_id": "in-0001", "index": 0, "payload_type": "text", "payload": "go"}
    told: dict[str, Any] = {
        "run.json": {
            "run_id": "run-1", "agent_id": "agent-1", "status": "failed", "input": {"case_id": "case-1", "more": 1},
            "output": "out", "error": {"m": 1}, "exit_code": 3, "started": "x",
        },
        "evaluation/case.json": {"case_id": "case-1", "title": "t", "inputs": [given, {"input_id": "unrun"}]},
        "steps/0001/input.json": {"run_id": "run-1", **given, "public_constraints": {"p": 1}, "extensions": {"e": 1}},
        "steps/0001/request.json": {
            "schema": "s", "session_id": "run-1", "framework": "langgraph", "input": "go", "extra": 1,
            "observation_context": {"input_id": "in-0001"},
        },
        "steps/0001/result.json": {"status": "failed", "output": None, "error": {"type": "T", "code": 3}, "more": [1]},
        "steps/0001/otel-status.json": {"status": "incomplete", "unfinished_spans": 2, "error": "e", "dropped": 1},
        "steps/0001/capture-status.json": {
            "logs": {"status": "partial", "reasons": ["r"]}, "traces": {"status": "complete", "reasons": []}
        },
        "steps/0001/file-evidence.json": {"complete": True, "scope": "container", "reason": "why", "changes": [change]},
        "steps/0001/submission.json": {
            "status": "timeout", "output": "late", "error": {"type": "T"}, "extensions": {"trace_evidence": [1]},
            "capture_status": {"logs": {"status": "failed", "reasons": ["r"]}},
        },
        "steps/0001/mapped-input.json": {"asked": "go, in other words"},
    }  # fmt: skip
    for path, document in told.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(json.dumps(document))


def attempt_of(root: Path, case: str) -> Path:
    attempt = AttemptFactory(root).input("0001")
    attempt.event(WIRE, "interceptor_ready", 0, {"mode": "observe"}, "interceptor")
    parts = {"calls": (wire, framework), "span": (payload_span,), "acp": (acp,), "replay": (replay,), "documents": ()}
    for part in parts[case]:
        part(attempt)
    attempt.write()
    if case == "documents":
        documents(root)
    return root


_DOCUMENTS: Final = ("run.json", "input.json", "request.json", "result.json")
CASES: Final = ("calls", "span", "acp", "replay", "documents")


def without_addresses(node: Any) -> Any:
    if isinstance(node, list):
        return [without_addresses(item) for item in node]
    if isinstance(node, dict):
        addressed = "path" in node and ("offset" in node or "sha256" in node)
        drop = _ADDRESS if addressed else _ADDRESS[-2:]
        return {key: without_addresses(value) for key, value in node.items() if key not in drop}
    return node


def told(root: Path) -> Any:
    out = root.parent / "out.json"
    build_path(root, output=out)
    return without_addresses(json.loads(out.read_bytes()))


def label(record: Any, kinds: dict[str, str]) -> str:
    """The event of a record, and what kind of span it is of."""
    if not isinstance(record, dict) or "event" not in record:
        return ""
    return " ".join([*filter(None, [kinds.get(record["data"].get("span_id", ""))]), record["event"]])


def one_changed(file: Path) -> Iterator[tuple[str, bytes]]:
    """(`event place`, the file with it changed) of every member, one at a time."""
    kinds = {"ch": "chain", "m1": "wired llm", "m2": "llm", "t1s": "tool", "t2s": "tool"}
    raw = file.read_bytes()
    lines = raw.split(b"\n") if file.suffix == ".jsonl" else [raw]
    for number, line in enumerate(lines):
        record = json.loads(line) if line.strip() else {}
        for place, value in members(record):
            if place:
                other = copy.deepcopy(record)
                put(other, place, changed(value))
                what = f"{label(record, kinds)} {''.join(f'/{key}' for key in place)}"
                yield what, b"\n".join([*lines[:number], json.dumps(other).encode(), *lines[number + 1 :]])


def declared(name: str, member: str) -> set[int]:
    """The lines of the list that say that a member is left out."""
    lines = enumerate(LEFT_OUT)
    return {at for at, (file, pattern, _) in lines if re.search(f"({file})$", name) and re.match(pattern, member)}


def files(root: Path, case: str) -> list[tuple[str, Path]]:
    paths = sorted(path for path in root.rglob("*.json*") if case == "documents" or path.name not in _DOCUMENTS)
    return [(str(path.relative_to(root)), path) for path in paths]


@pytest.mark.parametrize("case", CASES)
def test_every_member_of_a_record_is_told(case: str, tmp_path: Path) -> None:
    root = attempt_of(tmp_path / "attempt", case)
    before = told(root)
    vanished = []
    for name, file in files(root, case):
        raw = file.read_bytes()
        for member, data in one_changed(file):
            if not declared(name, member):
                file.write_bytes(data)
                if told(root) == before:
                    vanished.append((name, member))
        file.write_bytes(raw)
    assert vanished == []


def test_nothing_is_declared_that_no_record_has(tmp_path: Path) -> None:
    used: set[int] = set()
    for case in CASES:
        root = attempt_of(tmp_path / case, case)
        for name, file in files(root, case):
            for member, _ in one_changed(file):
                used |= declared(name, member)
    assert used == set(range(len(LEFT_OUT)))
