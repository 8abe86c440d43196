"""What only an agent span tells stands under its Input, with the bytes that tell it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from otel2traj.api.build import build_bytes
from tests.attempt_factory import model_span, otlp, span

HTTP, AGENT, INNER, CALL = "1" * 16, "2" * 16, "3" * 16, "4" * 16
WHO = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"}


def text(role: str, content: str) -> list[dict[str, Any]]:
    return [{"role": role, "parts": [{"type": "text", "content": content}]}]


def agent(span_id: str = AGENT, parent: str | None = None, **told: Any) -> dict[str, Any]:
    return span(span_id, 1, {**WHO, **told}, parent=parent)


def build(root: Path, *spans: dict[str, Any]) -> dict[str, Any]:
    (root / "trace.jsonl").write_bytes(otlp(list(spans)) + b"\n")
    document: dict[str, Any] = json.loads(build_bytes(root))
    return document


def recorded(root: Path, evidence: dict[str, Any]) -> list[str]:
    """The span ids that stand at the addresses of an evidence object."""
    whole = (root / "trace.jsonl").read_bytes()
    found = [json.loads(whole[r["offset"] : r["offset"] + r["length"]]) for r in evidence["records"]]
    return [made["spanId"] for made in found]


MESSAGES = {
    "gen_ai.input.messages": text("user", "how many?"),
    "gen_ai.output.messages": text("assistant", "three"),
}


def test_prompt_and_answer_of_an_agent_below_a_servers_span(tmp_path: Path) -> None:
    server = span(HTTP, 0, {"http.request.method": "POST", "http.route": "/run"})
    call = span(CALL, 2, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}, parent=AGENT)
    document = build(tmp_path, server, agent(parent=HTTP, **MESSAGES), call)
    (item,) = document["inputs"]
    assert (item["prompt"], item["result"]) == ("how many?", {"output": "three"})
    assert document["metadata"]["task_instruction"] == "how many?"
    for name in ("prompt", "output"):
        assert recorded(tmp_path, item["evidence"]["told_by"][name]) == [AGENT]


def test_usage_and_calls_of_an_agent_without_recorded_calls(fixtures: Path) -> None:
    """The Claude Agent SDK under OpenInference: one agent span carries the answers of the whole run."""
    root = fixtures / "dialects" / "openinference_claude_agent_sdk" / "claude-agent-sdk-0.1.22" / "otel.jsonl"
    document = json.loads(build_bytes(root))
    (item,) = document["inputs"]
    (told,) = item["evidence"]["agents"]
    assert told["told"]["model"] == "claude-sonnet-4-5"
    assert told["told"]["usage"]["input_tokens"] > 0
    assert [call["id"] for call in told["told"]["tool_calls"]] == ["toolu_1"]
    assert document["coverage"]["model_calls"] == 0
    assert [warning.split(":")[0] for warning in document["warnings"]] == ["unrecorded_model_calls"]


def test_what_the_calls_below_tell_is_not_told_again(tmp_path: Path) -> None:
    call = model_span(CALL, 2, text="three", parent=INNER)
    asked = json.dumps(text("user", "how many?"))
    call["attributes"].append({"key": "gen_ai.input.messages", "value": {"stringValue": asked}})
    document = build(tmp_path, agent(**MESSAGES, **{"gen_ai.usage.input_tokens": 7}), agent(INNER, AGENT), call)
    assert "agents" not in document["inputs"][0]["evidence"]
    assert document["warnings"] == []


def test_messages_that_only_the_agent_holds(tmp_path: Path) -> None:
    """Content capture that keeps it off the calls: the agent's whole history is kept."""
    history = [*text("user", "how many?"), *text("assistant", "of what?"), *text("user", "of the lines")]
    system = [{"type": "text", "content": "Count."}]
    told = {"gen_ai.input.messages": history, "gen_ai.system_instructions": system}
    call = span(CALL, 2, {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7}, parent=AGENT)
    document = build(tmp_path, agent(**told), call)
    (found,) = document["inputs"][0]["evidence"]["agents"]
    assert [message["role"] for message in found["told"]["messages"]] == ["user", "assistant", "user"]
    assert found["told"]["system"] == "Count."
    assert "usage" not in found["told"]
    assert recorded(tmp_path, found) == [AGENT]
    assert document["warnings"] == []
