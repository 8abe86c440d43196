"""Real runs of command-line agents: every subset of what a run left builds one trajectory without a wrong fact.

Nobody intercepted these runs: the wire of the subsets is written here, from the answers that the scripted model gave
(the truth of each run) and what Codex, Gemini CLI and OpenCode put into a request. What a recorded wire holds is the
matter of `fixtures/attempts`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes, build_path

RUNS = Path(__file__).parents[2] / "fixtures" / "cli"
WIRE = "network.jsonl"
AGENTS = {"codex": {"codex"}, "gemini-cli": {"gemini-cli"}, "opencode": {"build"}}


def records(agent: str) -> list[str]:
    return sorted(path.name for path in (RUNS / agent).iterdir() if path.name not in ("truth.json", "expected"))


def truth_of(agent: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RUNS / agent / "truth.json").read_text())
    return found


def subsets() -> Iterator[tuple[str, tuple[str, ...]]]:
    for agent in AGENTS:
        names = [*records(agent), WIRE]
        for size in range(1, len(names) + 1):
            yield from ((agent, chosen) for chosen in combinations(names, size))


def wire(truth: dict[str, Any]) -> str:
    """The interceptor's records of the model calls of a run, bodies made from what is known of them."""
    lines = []
    for call in truth["calls"]:
        common = {"call_id": f"w{call['serial']}", "path": call["path"]}
        headers = call["headers"]
        common["native_session_id"] = headers.get("session-id") or headers.get("x-session-id")
        common["traceparent"] = headers.get("traceparent")
        asked, answered = bodies(call)
        earlier = [
            one for one in truth["calls"] if one["serial"] < call["serial"] and one["purpose"] == call["purpose"]
        ]
        asked |= history(truth, call, earlier)
        for offset, (event, payload) in enumerate((("llm_request", asked), ("llm_response", answered))):
            data = {**{k: v for k, v in common.items() if v is not None}, "payload": payload, "status": 200}
            when = f"2026-12-02T16:57:{10 + call['serial']:02d}.{offset}00000+00:00"
            lines.append(
                json.dumps(
                    {
                        "schema": "abb.observe.event.v1",
                        "source": "interceptor",
                        "event": event,
                        "timestamp": when,
                        "data": data,
                    }
                )
            )
    return "\n".join(lines) + "\n"


def history(truth: dict[str, Any], call: dict[str, Any], earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """The prompt, what the model called before, and what it was told of that."""
    told = {ran["call_id"]: ran["returned_to_model"] for ran in truth["executions"]}
    calls = [one for before in earlier for one in before["tool_calls"]]
    if call["api"] == "responses":
        items: list[Any] = [{"type": "message", "role": "user", "content": truth["prompt"]}]
        for one in calls:
            given = json.dumps(one["arguments"])
            items.append({"type": "function_call", "call_id": one["id"], "name": one["name"], "arguments": given})
            items.append({"type": "function_call_output", "call_id": one["id"], "output": told[one["id"]]})
        return {"input": items}
    if call["api"] == "gemini":
        turns: list[Any] = [{"role": "user", "parts": [{"text": truth["prompt"]}]}]
        for one in calls:
            asked = {"id": one["id"], "name": one["name"], "args": one["arguments"]}
            turns.append({"role": "model", "parts": [{"functionCall": asked}]})
            answer = {"id": one["id"], "name": one["name"], "response": told[one["id"]]}
            turns.append({"role": "user", "parts": [{"functionResponse": answer}]})
        return {"contents": turns}
    messages: list[Any] = [{"role": "user", "content": truth["prompt"]}]
    for one in calls:
        function = {"name": one["name"], "arguments": json.dumps(one["arguments"])}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": one["id"], "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": told[one["id"]]})
    return {"messages": messages}


def bodies(call: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    usage, calls, text = call["usage"], call["tool_calls"], call["text"]
    if call["api"] == "responses":
        output = [
            {
                "type": "function_call",
                "call_id": one["id"],
                "name": one["name"],
                "arguments": json.dumps(one["arguments"]),
            }
            for one in calls
        ] or [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
        told = {
            "input_tokens": usage["input"],
            "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens": usage["output"],
            "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
        }
        answer = {"id": call["response_id"], "object": "response", "status": "completed", "model": call["model"]}
        return {"model": call["model"], "input": []}, {**answer, "output": output, "usage": told}
    if call["api"] == "gemini":
        parts = [{"functionCall": {"id": c["id"], "name": c["name"], "args": c["arguments"]}} for c in calls]
        told = {
            "promptTokenCount": usage["input"],
            "cachedContentTokenCount": usage["cached"],
            "candidatesTokenCount": usage["output"],
            "thoughtsTokenCount": usage["reasoning"],
        }
        content = {"role": "model", "parts": parts or [{"text": text}]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        answer = {"responseId": call["response_id"], "modelVersion": call["model"], "usageMetadata": told}
        return {"contents": []}, {**answer, "candidates": [candidate]}
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": c["id"],
                "type": "function",
                "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
            }
            for c in calls
        ]
    told = {
        "prompt_tokens": usage["input"],
        "prompt_tokens_details": {"cached_tokens": usage["cached"]},
        "completion_tokens": usage["output"],
        "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]},
    }
    answer = {"id": call["response_id"], "object": "chat.completion", "model": call["model"], "usage": told}
    return {"model": call["model"], "messages": []}, {**answer, "choices": [{"index": 0, "message": message}]}


def build(agent: str, chosen: tuple[str, ...], folder: Path) -> dict[str, Any]:
    folder.mkdir()
    for name in chosen:
        if name == WIRE:
            (folder / WIRE).write_text(wire(truth_of(agent)))
        else:
            shutil.copy(RUNS / agent / name, folder / name)
    (built,) = build_path(folder)
    if chosen == ("otel-logs.jsonl",) and agent == "opencode":  # its own log lines tell of no call
        assert built.failed
        assert "log records were read" in built.summary.error["message"]
        return {}
    assert not built.failed, built.summary.error
    document: dict[str, Any] = json.loads(build_bytes(folder))
    return document


def wrong(agent: str, document: dict[str, Any], truth: dict[str, Any]) -> list[str]:
    """Every fact of the trajectory that the truth of the wire denies."""
    out = []
    calls = list(truth["calls"])
    models = [step for step in document["steps"] if step["kind"] == "model"]
    for step in models:
        match = next((call for call in calls if not denied(agent, step, call)), None)
        if match is None:
            out.append(f"step {step['step_id']}: {[denied(agent, step, call) for call in calls]}")
        else:
            calls.remove(match)
    declared = document["status"] == "partial" or bool(document["warnings"])
    if len(models) < len(truth["calls"]) and not declared:
        out.append(f"{len(models)} of {len(truth['calls'])} calls, and no gap declared")
    ran = {one["call_id"]: one for one in truth["executions"]}
    logs = [log for step in document["steps"] for log in step["tool_logs"] if log["evidence"].get("records")]
    if len(logs) > len(ran):
        out.append(f"{len(logs)} executions")
    for log in logs:
        out += [f"execution {log['tool_call_id']}: {why}" for why in belied(log, ran)]
    prompt = document["metadata"]["task_instruction"]
    if prompt is not None and truth["prompt"] not in str(prompt):
        out.append(f"prompt {prompt!r}")
    named = {step["agent_name"] for step in document["steps"]} - {None}
    if not named <= AGENTS[agent]:
        out.append(f"agents {named}")
    return out


def denied(agent: str, step: dict[str, Any], call: dict[str, Any]) -> list[str]:
    output, usage, out = step["output"], step["output"].get("usage") or {}, []
    thought = call["usage"]["reasoning"]
    whole = call["usage"]["output"] + (thought if agent == "gemini-cli" else 0)
    allowed = {None, whole} if "reasoning_output_tokens" in usage else {None, whole, call["usage"]["output"]}
    facts = [
        ("response id", step["evidence"].get("response_id"), {None, call["response_id"]}),
        ("model", step["model"], {None, call["model"]}),
        ("text", output["text"] or None, {None, call["text"]}),
        ("input", usage.get("input_tokens"), {None, call["usage"]["input"]}),
        ("output", usage.get("output_tokens"), allowed),
        ("cached", usage.get("cache_read_input_tokens"), {None, call["usage"]["cached"]}),
        ("reasoning", usage.get("reasoning_output_tokens"), {None, thought}),
        ("purpose", step["purpose"] if step["purpose"] == "title" else None, {None, call["purpose"]}),
    ]
    out += [f"{name} {came!r}" for name, came, right in facts if came not in right]
    emitted = {one["id"]: one for one in call["tool_calls"]}
    for told in output["tool_calls"]:
        same = emitted.get(told["id"])
        if same is None or same["name"] != told["name"] or told["arguments"] not in (None, same["arguments"]):
            out.append(f"emitted {told}")
    return out


def belied(log: dict[str, Any], ran: dict[str, dict[str, Any]]) -> Iterator[str]:
    known = ran.get(log["tool_call_id"]) if log["tool_call_id"] is not None else None
    if log["tool_call_id"] is not None and known is None:
        yield "no such call"
    candidates = [known] if known is not None else list(ran.values())
    status = {"succeeded": True, "error": False}.get(log["execution_status"])
    if not any(status in (None, one["succeeded"]) for one in candidates if told_by(log, one)):
        yield f"{log['execution_status']}, {log['tool_name']}, {log['input_arguments']}, {log['outputs']!r}"


def told_by(log: dict[str, Any], one: dict[str, Any]) -> bool:
    returned = one["returned_to_model"]
    whole = json.dumps(returned)
    texts = [returned] if isinstance(returned, str) else list(returned.values())
    came = json.dumps(log["outputs"])
    same = (
        log["outputs"] is None
        or came in whole
        or any(text.strip() in json.dumps(log["outputs"]).replace("\\n", "\n") for text in texts)
    )
    held = isinstance(log["outputs"], str) and any(log["outputs"].strip() in text for text in texts)
    return (
        (same or held)
        and log["tool_name"] in (None, one["name"])
        and log["input_arguments"] in (None, one["arguments"])
    )


@pytest.mark.parametrize(
    ("agent", "chosen"), list(subsets()), ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_every_subset_says_nothing_wrong(agent: str, chosen: tuple[str, ...], tmp_path: Path) -> None:
    document = build(agent, chosen, tmp_path / "run")
    assert not document or wrong(agent, document, truth_of(agent)) == []


def test_the_telemetry_file_of_a_run_says_nothing_wrong() -> None:
    folder = RUNS / "gemini-cli-outfile"
    document = json.loads(build_bytes(folder / "telemetry.log"))
    assert wrong("gemini-cli", document, json.loads((folder / "truth.json").read_text())) == []
    assert len([step for step in document["steps"] if step["kind"] == "model"]) == 3


@pytest.mark.parametrize("agent", AGENTS)
def test_all_records_together(agent: str, golden: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    """All that was left of a run is one trajectory with every call, every execution and its outcome."""
    truth, names = truth_of(agent), records(agent)
    for chosen in ((*names,), (*names, WIRE)):
        document = build(agent, chosen, tmp_path / str(len(chosen)))
        models = [step for step in document["steps"] if step["kind"] == "model"]
        assert len(models) == len(truth["calls"])
        logs = {log["tool_call_id"]: log for step in models for log in step["tool_logs"]}
        for ran in truth["executions"]:
            log = logs[ran["call_id"]]
            assert (log["link"], log["execution_status"]) == ("exact", "succeeded" if ran["succeeded"] else "error")
        assert [i["ordinal"] for i in document["inputs"]] == ["0001"]
    golden(RUNS / agent / "expected" / "trajectory.json", build_bytes(tmp_path / str(len(names))))


@pytest.mark.parametrize("agent", ["codex", "gemini-cli"])
def test_session_files_of_an_attempt_are_read(agent: str, tmp_path: Path) -> None:
    """`otel2traj record` keeps them beside the telemetry, as `session-*`."""
    step = tmp_path / "steps" / "0001"
    step.mkdir(parents=True)
    name = {"codex": "rollout.jsonl", "gemini-cli": "session.jsonl"}[agent]
    shutil.copy(RUNS / agent / name, step / f"session-{name}")
    for telemetry in ("otel.jsonl", "otel-logs.jsonl"):
        shutil.copy(RUNS / agent / telemetry, step / telemetry)
    document, truth = json.loads(build_bytes(tmp_path)), truth_of(agent)
    assert f"steps/0001/session-{name}" in [source["path"] for source in document["sources"]]
    assert wrong(agent, document, truth) == []
    models = [one for one in document["steps"] if one["kind"] == "model"]
    assert [log["execution_status"] for one in models for log in one["tool_logs"]] == ["succeeded", "error"]
    assert {one["input_ordinal"] for one in models} == {"0001"}


def test_a_call_of_a_session_file_is_timed_by_its_span(tmp_path: Path) -> None:
    """OpenCode stamps a message when it opens it, before the call that makes the title."""
    document = build("opencode", ("export.json", "otel.jsonl"), tmp_path / "run")
    assert [step["purpose"] for step in document["steps"]] == ["title", "unknown", "unknown", "unknown"]
    assert all(step["started_at"] < step["ended_at"] for step in document["steps"])


def test_the_prompt_of_gemini_cli_is_what_follows_its_account_of_the_surroundings(tmp_path: Path) -> None:
    document = build("gemini-cli", ("otel.jsonl",), tmp_path / "run")
    assert document["metadata"]["task_instruction"] == truth_of("gemini-cli")["prompt"]


def test_a_wire_call_and_a_rollout_with_one_response_id_are_one_call(tmp_path: Path) -> None:
    """A session file tells what was added since the call before: its history is shorter, which is no contradiction."""
    document = build("codex", ("rollout.jsonl", WIRE), tmp_path / "run")
    assert [step["agent_name"] for step in document["steps"]] == ["codex"] * 3
    assert not [one for one in document["warnings"] if "retold_call" in one or "unjoined" in one]
