"""Rows that a fine-tuning job accepts, and a reason for each step that makes none."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from otel2traj.canonical import loads
from otel2traj.model.trajectory import Step, StepKind, StepStatus
from otel2traj.writers.chat_rows import ChatRowSink
from tests.factory import play, step, tool_log, trajectory
from tests.unit.writers.run import ASKED, CALL, CALLED, SYSTEM, TOLD


def rows(*steps: Step, trl: bool = False) -> tuple[list[Any], list[tuple[int, str]]]:
    out = BytesIO()
    sink = ChatRowSink(out, trl=trl)
    play(trajectory(*steps), sink)
    rejects = [(reject.step_id, reject.reason) for reject in sink.rejects()]
    return [loads(line) for line in out.getvalue().splitlines()], rejects


def said(step_id: int, messages: list[Any], **fields: Any) -> Step:
    return step(step_id, input={"messages": messages}, **fields)


def test_a_conversation_that_goes_on_is_one_row() -> None:
    first = step(1, tool_log(), input={"messages": [SYSTEM, ASKED]})
    got, rejects = rows(first, said(2, [SYSTEM, ASKED, CALLED, TOLD]))
    assert rejects == []
    assert [message["role"] for message in got[0]["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert len(got) == 1


def test_a_rewritten_history_begins_another_row() -> None:
    got, _ = rows(said(1, [SYSTEM, ASKED]), said(2, [SYSTEM, {"role": "user", "content": "Summary so far."}]))
    assert len(got) == 2


def test_agents_have_rows_of_their_own() -> None:
    steps = [said(1, [ASKED], agent_name="a"), said(2, [ASKED], agent_name="b"), said(3, [ASKED, CALLED, TOLD])]
    got, _ = rows(*steps)
    assert len(got) == 3


def test_arguments_are_text_for_one_and_an_object_for_the_other() -> None:
    messages = [ASKED, CALLED, TOLD]
    openai, trl = rows(said(1, messages))[0][0], rows(said(1, messages), trl=True)[0][0]
    assert openai["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"q":"x"}'
    assert trl["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"q": "x"}
    assert openai["messages"][1]["content"] is None
    assert trl["messages"][1]["content"] == ""


def test_reasoning_goes_where_there_is_a_place_for_it() -> None:
    one = said(1, [ASKED])
    one.output["reasoning"] = "hm"
    assert "reasoning_content" not in rows(one)[0][0]["messages"][-1]
    assert rows(one, trl=True)[0][0]["messages"][-1]["reasoning_content"] == "hm"


NO_ID = {**CALL, "id": None}


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (step(1, tool_log(), kind=StepKind.TOOL_ONLY), "tool_only"),
        (said(1, [ASKED], status=StepStatus.FAILED), "no_answer"),
        (said(1, [ASKED], output={"text": None, "tool_calls": []}), "no_answer"),
        (step(1, input={"model": "m"}), "messages_unknown"),
        (said(1, [{"role": "user", "content": [{"type": "document"}]}]), "unsupported_content"),
        (said(1, [ASKED, CALLED, ASKED]), "unanswered_tool_call"),
        (said(1, [ASKED, CALLED]), "unanswered_tool_call"),
        (said(1, [ASKED, TOLD]), "result_without_call"),
        (said(1, [ASKED, {**CALLED, "tool_calls": [NO_ID]}, TOLD]), "tool_call_without_id"),
    ],
)
def test_rejects_say_why(one: Step, reason: str) -> None:
    got, rejects = rows(one)
    assert (got, rejects) == ([], [(1, reason)])


def test_an_answer_that_the_next_request_does_not_repeat_is_a_row_of_its_own() -> None:
    first = said(1, [ASKED], output={"text": "The first answer."})
    second = said(2, [ASKED, {"role": "user", "content": "And now?"}], output={"text": "The second."})
    got, rejects = rows(first, second)
    assert rejects == []
    assert [row["messages"][-1]["content"] for row in got] == ["The first answer.", "The second."]
    third = said(2, [ASKED, {"role": "assistant", "content": [{"type": "text", "text": "The first answer."}]}, ASKED])
    assert len(rows(first, third)[0]) == 1, "repeated in another form"
    other = said(2, [ASKED, {"role": "assistant", "content": "Another answer."}, ASKED])
    assert len(rows(first, other)[0]) == 2


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": PNG},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
    ],
)
def test_a_step_with_a_picture_makes_a_row(part: Any) -> None:
    got, rejects = rows(said(1, [{"role": "user", "content": [{"type": "text", "text": "Look."}, part]}]))
    assert rejects == []
    assert got[0]["messages"][0]["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]


def test_a_picture_in_a_tool_result_is_a_line() -> None:
    told = {
        **TOLD,
        "content": [{"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}],
    }
    got, rejects = rows(said(1, [ASKED, CALLED, told]))
    assert rejects == []
    assert "[image/png 70 bytes sha256 " in got[0]["messages"][2]["content"]
    assert PNG not in got[0]["messages"][2]["content"]
