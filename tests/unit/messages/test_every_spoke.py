"""One table of recorded shapes, and every room that reads messages: all of them say the same of each shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from otel2traj import dialects
from otel2traj.canonical import dumps
from otel2traj.messages import Message, Part, PartKind, read_conversation, result_parts
from otel2traj.model.evidence import EvidenceRef, SpanRecord
from otel2traj.model.trajectory import Step
from otel2traj.providers import PROVIDERS
from otel2traj.renderers.messages import read_said
from otel2traj.writers.chat_messages import arguments_object, chat_of
from tests.conftest import ROOT
from tests.factory import step

CASES = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "fixtures" / "messages").glob("*.json"))}
OF_PROVIDERS = [name for name, case in CASES.items() if "provider" in case]
MEDIA_BYTES = ("iVBORw0KGgo", "UklGRiQA")
"""How the base64 in the fixtures begins."""


def view(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages in the words of the fixtures."""
    return [{"role": message.role, "parts": [part_view(part) for part in message.parts]} for message in messages]


def part_view(part: Part) -> dict[str, Any]:
    out: dict[str, Any]
    if part.kind in (PartKind.TEXT, PartKind.REASONING, PartKind.REFUSAL):
        return {part.kind.value: part.text}
    if part.kind is PartKind.TOOL_CALL:
        out = {"call": {"id": part.id, "name": part.name, "arguments": part.value}}
    elif part.kind is PartKind.TOOL_RESULT:
        out = {"result": {"id": part.id}}
        inside = [] if part.hosted else result_parts(part)
        if any(one.media is not None for one in inside):
            texts = [one.text for one in inside if one.text is not None]
            out["result"] |= {"texts": texts} if texts else {}
            out["result"]["media"] = [media_view(one) for one in inside if one.media is not None]
        else:
            out["result"]["value"] = part.answer
        if part.is_error is not None:
            out["result"]["is_error"] = part.is_error
    elif part.media is not None:
        return {"media": media_view(part)}
    else:
        raw = part.raw
        return {"other": raw.get("type") if isinstance(raw, dict) else raw}
    return {**out, "hosted": True} if part.hosted else out


def media_view(part: Part) -> dict[str, Any]:
    media = part.media
    assert media is not None
    out: dict[str, Any] = {"modality": media.modality, "mime_type": media.mime_type}
    if media.data is not None:
        return {**out, "bytes": media.size}
    return {**out, "uri": media.uri} if media.uri is not None else {**out, "file_id": media.file_id}


def step_of(case: dict[str, Any]) -> Step:
    given = {"messages": case["messages"]}
    if "system" in case:
        given["system"] = case["system"]
    return step(input=given, output={})


def test_the_table_is_wide() -> None:
    assert len(CASES) >= 29


@pytest.mark.parametrize("name", CASES)
def test_a_step_reads_its_conversation(name: str) -> None:
    said = step_of(CASES[name]).conversation()
    assert view(said.messages) == CASES[name]["expected"]
    assert [part.text for part in said.system] == (["Be brief."] if "system" in CASES[name] else [])
    places = [message.at for message in said.messages]
    assert places == sorted(places, key=lambda at: at or 0)
    assert set(places) <= set(range(len(CASES[name]["messages"])))


@pytest.mark.parametrize("name", CASES)
def test_a_dialect_writes_what_reads_the_same(name: str) -> None:
    case = CASES[name]
    if "flattened" in case:
        flat = {
            f"{case['flattened']}{n}.{key}": value
            for n, item in enumerate(case["messages"])
            for key, value in item.items()
        }
        attributes = {"openinference.span.kind": "LLM", **flat}
    else:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": dumps(case["messages"]).decode()}
    reading = dialects.read(span(attributes))
    written = [message.to_json() for message in reading.messages or []]
    told = view(step(input={"messages": written}, output={}).conversation().messages)
    assert merged(errors_left_out(told)) == merged(errors_left_out(case["expected"]))


@pytest.mark.parametrize("name", OF_PROVIDERS)
def test_a_provider_hands_on_what_reads_the_same(name: str) -> None:
    case = CASES[name]
    provider = next(one for one in PROVIDERS if one.name == case["provider"])
    key = {"openai-responses": "input", "gemini": "contents"}.get(case["provider"], "messages")
    request = provider.request({key: case["messages"], "model": "m"})
    assert view(read_conversation({"messages": request.messages}, {}).messages) == case["expected"]


@pytest.mark.parametrize("name", [name for name in OF_PROVIDERS if "response" in CASES[name]])
def test_a_providers_answer_reads_the_same(name: str) -> None:
    case = CASES[name]
    provider = next(one for one in PROVIDERS if one.name == case["provider"])
    output = provider.response(case["response"]).output
    told = read_conversation({}, output_json(output)).answer
    assert told is not None
    assert view([told])[0] == case["answer"]


@pytest.mark.parametrize("name", CASES)
def test_text_and_page_show_every_part(name: str) -> None:
    case = CASES[name]
    said = [one for item in case["messages"] for one in read_said(item)]
    shown = [(one.role, piece.kind.value, piece.id, piece.value) for one in said for piece in one.pieces]
    for message in case["expected"]:
        for part in message["parts"]:
            ((kind, told),) = [(key, part[key]) for key in part if key in ("text", "refusal", "call", "result")] or [
                ("other", None)
            ]
            if kind in ("text", "refusal"):
                assert (message["role"], kind, None, told) in shown
            elif kind == "call":
                assert (message["role"], "tool call", told["id"], told["arguments"]) in shown
            elif kind == "result":
                found = [value for role, what, of, value in shown if (what, of) == ("tool result", told["id"])]
                assert told.get("value", found[0] if found else None) in found


@pytest.mark.parametrize("name", CASES)
def test_a_chat_export_holds_every_call_and_every_result_once(name: str) -> None:
    case = CASES[name]
    chat = chat_of({"messages": case["messages"]})
    calls = [call for message in chat.messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in chat.messages if message["role"] == "tool"]
    parts = [part for message in case["expected"] for part in message["parts"] if not part.get("hosted")]
    wanted = [part["call"] for part in parts if "call" in part]
    assert [(call["id"], call["function"]["name"]) for call in calls] == [(one["id"], one["name"]) for one in wanted]
    for call, one in zip(calls, wanted, strict=True):
        text = call["function"]["arguments"]
        assert one["arguments"] in (text, arguments_object(text)) or (one["arguments"] is None and text == "{}")
    assert results == [part["result"]["id"] for part in parts if "result" in part]
    texts = "\n".join(str(message.get("content")) for message in chat.messages)
    assert all(part["text"] in texts for part in parts if "text" in part and "\n" not in part["text"])


def output_json(output: Any) -> dict[str, Any]:
    return {
        "text": output.text,
        "reasoning": output.reasoning,
        "refusal": output.refusal,
        "tool_calls": [call.to_json() for call in output.tool_calls],
        "finish_reason": output.finish_reason,
        "other_parts": output.other_parts,
    }


def errors_left_out(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conventions' parts form has no place for the failure of a result."""
    out = json.loads(json.dumps(messages))
    for message in out:
        for part in message["parts"]:
            part.get("result", {}).pop("is_error", None)
    return out


def merged(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of one answer as one message."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if out and message["role"] == out[-1]["role"] == "assistant":
            out[-1] = {"role": "assistant", "parts": [*out[-1]["parts"], *message["parts"]]}
        else:
            out.append(message)
    return out


def span(attributes: dict[str, Any]) -> SpanRecord:
    return SpanRecord("a" * 32, "b" * 16, None, "chat", attributes, EvidenceRef("otel.jsonl", 0, 0, 1), end_ns=2)
