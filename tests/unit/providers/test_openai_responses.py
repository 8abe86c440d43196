"""Responses' own rules: which items a client must answer, and where the items of a stream come from."""

from __future__ import annotations

from typing import Any

from otel2traj.providers.openai_responses import OpenAIResponses, merge

ITEM = {"type": "message", "content": [{"type": "output_text", "text": "whole"}]}


def delta(text: str, kind: str = "output_text", **place: int) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": 0, "content_index": 0, "delta": text, **place}


def test_the_last_response_is_believed_before_the_pieces() -> None:
    events = [delta("half"), {"type": "response.completed", "response": {"status": "completed", "output": [ITEM]}}]
    body, complete = merge(events)
    assert (body["output"], complete) == ([ITEM], True)


def test_items_that_ended_are_believed_before_their_deltas() -> None:
    events = [
        delta("ha"),
        delta("lf"),
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        delta("Next", output_index=1),
    ]
    assert [part["content"][0]["text"] for part in merge(events)[0]["output"]] == ["whole", "Next"]


def test_pieces_are_put_together_where_nothing_else_arrived() -> None:
    events: list[Any] = [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c"}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a":'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "1}"},
        {"type": "response.refusal.delta", "output_index": 2, "content_index": 0, "delta": "No."},
    ]
    got = OpenAIResponses().response({"events": events})
    assert (got.output.reasoning, got.output.refusal, got.complete) == ("hm", "No.", False)
    assert [(call.id, call.arguments) for call in got.output.tool_calls] == [("c", {"a": 1})]
    assert got.output.finish_reason is None


def test_hosted_calls_are_no_calls_of_the_client() -> None:
    hosted = {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": "x"}
    got = OpenAIResponses().response({"id": "r", "output": [hosted, {"type": "function_call", "call_id": "c"}]})
    assert got.output.other_parts == [hosted]
    assert [call.id for call in got.output.tool_calls] == ["c"]
