"""Every recorded message shape, and that all of them say the same in the same words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.messages import Message, PartKind, output_of, read_messages, read_parts, system_value, text_part

ARGUMENTS = {"city": "Paris"}
TEXT = json.dumps(ARGUMENTS)
EXPECTED = [
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "Ask the tool."},
            {"type": "text", "content": "Looking."},
            {"type": "tool_call", "id": "c1", "name": "weather", "arguments": ARGUMENTS},
        ],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "fine"}]},
]

SHAPES: dict[str, Any] = {
    "gen_ai parts": [
        {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Ask the tool."},
                {"type": "text", "content": "Looking."},
                {"type": "tool_call", "id": "c1", "name": "weather", "arguments": TEXT},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "fine"}]},
    ],
    "gen_ai parts with their early names": [
        {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "thinking", "content": "Ask the tool."},
                {"type": "text", "content": "Looking."},
                {"type": "tool_call", "id": "c1", "name": "weather", "arguments": ARGUMENTS},
            ],
        },
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "fine"}]},
    ],
    "OpenAI chat": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "Ask the tool.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "fine"},
    ],
    "OpenAI Responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Ask the tool."}], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": TEXT},
        {"type": "function_call_output", "call_id": "c1", "output": "fine"},
    ],
    "Anthropic": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Ask the tool.", "signature": "x"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGUMENTS},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "fine"}]}],
        },
    ],
    "Bedrock Converse": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Ask the tool.", "signature": "x"}}},
                {"text": "Looking."},
                {"toolUse": {"toolUseId": "c1", "name": "weather", "input": ARGUMENTS}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "fine"}]}}],
        },
    ],
    "LangChain constructors": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Weather?"}},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "AIMessageChunk"],
            "kwargs": {
                "content": [
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "c1", "partial_json": "{"},
                ],
                "additional_kwargs": {"reasoning_content": "Ask the tool."},
                "tool_calls": [{"id": "c1", "name": "weather", "args": ARGUMENTS, "type": "tool_call"}],
            },
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "ToolMessage"],
            "kwargs": {"content": "fine", "tool_call_id": "c1", "status": "success"},
        },
    ],
    "LangChain data": [
        {"type": "human", "data": {"content": "Weather?"}},
        {
            "type": "ai",
            "data": {
                "content": "Looking.",
                "additional_kwargs": {
                    "reasoning_content": "Ask the tool.",
                    "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": TEXT}}],
                },
            },
        },
        {"type": "tool", "data": {"content": "fine", "tool_call_id": "c1", "id": "8b1f"}},
    ],
    "Vercel 4 and 5": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "Ask the tool."},
                {"type": "text", "text": "Looking."},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": ARGUMENTS},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "fine"}}],
        },
    ],
    "Haystack": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoning": {"reasoning_text": "Ask the tool.", "extra": {}}},
                {"text": "Looking."},
                {"tool_call": {"tool_name": "weather", "arguments": ARGUMENTS, "id": "c1"}},
            ],
        },
        {
            "role": "tool",
            "content": [{"tool_call_result": {"result": "fine", "error": False, "origin": {"id": "c1"}}}],
        },
    ],
    "LlamaIndex": [
        {"role": "user", "blocks": [{"block_type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "blocks": [
                {"block_type": "thinking", "content": "Ask the tool."},
                {"block_type": "text", "text": "Looking."},
                {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "weather", "tool_kwargs": TEXT},
            ],
        },
        {
            "role": "tool",
            "blocks": [{"block_type": "text", "text": "fine"}],
            "additional_kwargs": {"tool_call_id": "c1"},
        },
    ],
}


def plain(messages: list[Message]) -> list[dict[str, Any]]:
    out = []
    for message in messages:
        data = message.to_json()
        for part in data["parts"]:
            part.pop("name", None) if part["type"] == "tool_call_response" else None
        out.append(data)
    return out


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_the_same(shape: str) -> None:
    messages = plain(read_messages(SHAPES[shape]))
    if shape == "OpenAI Responses":  # the items of one answer stand apart; together they say the same
        assert [part for message in messages for part in message["parts"]] == [
            part for message in EXPECTED for part in message["parts"]
        ]
        assert {message["role"] for message in messages} == {"user", "assistant", "tool"}
    else:
        assert messages == EXPECTED


@pytest.mark.parametrize("shape", SHAPES)
def test_json_text_of_a_shape_is_read_like_the_shape(shape: str) -> None:
    whole = read_messages(SHAPES[shape])
    assert read_messages(json.dumps(SHAPES[shape])) == whole
    assert read_messages({"messages": SHAPES[shape]}) == whole


@pytest.mark.parametrize("shape", SHAPES)
def test_the_answer_of_every_shape_is_the_same_output(shape: str) -> None:
    output = output_of([m for m in read_messages(SHAPES[shape]) if m.role == "assistant"])
    assert output is not None
    assert (output.text, output.reasoning, output.refusal) == ("Looking.", "Ask the tool.", None)
    assert [call.to_json() for call in output.tool_calls] == [{"id": "c1", "name": "weather", "arguments": ARGUMENTS}]


def test_gemini_contents_have_no_ids() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [{"text": "Hm.", "thought": True}, {"functionCall": {"name": "weather", "args": ARGUMENTS}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "fine"}}}]},
    ]
    user, model, tool = read_messages(contents)
    assert (user.role, model.role, tool.role) == ("user", "assistant", "tool")
    assert model.to_json()["parts"] == [
        {"type": "reasoning", "content": "Hm."},
        {"type": "tool_call", "id": None, "name": "weather", "arguments": ARGUMENTS},
    ]
    assert tool.parts[0].answer == {"result": "fine"}


def test_langchain_batches_and_pairs() -> None:
    assert [m.role for m in read_messages([[{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}]])] == [
        "user",
        "assistant",
    ]
    assert read_messages([["user", "hello"]]) == [Message("user", [text_part("hello")])]


def test_an_empty_id_is_no_id_and_an_empty_text_no_part() -> None:
    (message,) = read_messages(
        [{"role": "assistant", "content": "", "tool_calls": [{"id": "", "name": "f", "args": {}}]}]
    )
    assert message.to_json()["parts"] == [{"type": "tool_call", "id": None, "name": "f", "arguments": {}}]


def test_hidden_text_is_not_text() -> None:
    assert read_messages("__REDACTED__") == []
    assert read_messages({"role": "user", "content": [{"type": "text", "text": "<elided>"}]}) == []


def test_arguments_that_are_no_json_stay_as_they_stand() -> None:
    (part,) = read_parts([{"type": "tool_call", "id": "c", "name": "f", "arguments": '{"path": "unterminated'}])
    assert part.value == '{"path": "unterminated'
    (number,) = read_parts([{"type": "tool_call", "id": "c", "name": "f", "arguments": "42"}])
    assert number.value == "42"


def test_hosted_tools_are_kept_apart_from_calls_that_wait_for_an_execution() -> None:
    hosted = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
        {"type": "tool_call", "id": "b1", "name": "code", "arguments": {}, "builtin": True},
    ]
    output = output_of(read_messages([{"role": "assistant", "parts": hosted}]))
    assert output is not None
    assert output.tool_calls == []
    assert [part["type"] for part in output.other_parts] == ["web_search_call", "server_tool_use", "tool_call"]


def test_a_tool_result_error_of_anthropic_web_search_is_kept_as_recorded() -> None:
    block = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": {"error_code": "unavailable"}}
    assert [part.to_json() for part in read_parts([block])] == [block]


def test_several_messages_are_choices_only_where_each_has_ended() -> None:
    ended = [{"role": "assistant", "content": text, "finish_reason": "stop"} for text in ("a", "b")]
    output = output_of(read_messages(ended))
    assert output is not None
    assert [choice["text"] for choice in output.choices or []] == ["a", "b"]
    assert output.text == "a"
    pieces = output_of(read_messages([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]))
    assert pieces is not None
    assert (pieces.text, pieces.choices) == ("ab", None)


def test_what_stands_in_another_choice_beside_its_words_is_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    said = {"role": "assistant", "content": "a", "finish_reason": "stop"}
    shown = {"role": "assistant", "content": [image], "finish_reason": "stop"}
    output = output_of(read_messages([said, shown]))
    assert output is not None
    assert output.choices == [
        {"index": 0, "text": "a", "tool_calls": [], "finish_reason": "stop"},
        {"index": 1, "text": None, "tool_calls": [], "finish_reason": "stop", "other_parts": [image]},
    ]


def test_system_instructions_are_text_where_they_are_text_alone() -> None:
    assert system_value([{"type": "text", "content": "Be brief."}]) == "Be brief."
    assert system_value("Be brief.") == "Be brief."
    image = {"type": "blob", "content": "x"}
    assert system_value([image]) == [image]
    assert system_value([]) is None


KEYS = [
    "role",
    "content",
    "parts",
    "type",
    "text",
    "tool_calls",
    "function",
    "id",
    "name",
    "arguments",
    "data",
    "kwargs",
    "lc",
    "message",
    "messages",
    "functionCall",
    "toolUse",
    "toolResult",
    "tool_call_result",
    "reasoning",
    "summary",
    "thinking",
    "additional_kwargs",
    "refusal",
    "call_id",
    "output",
    "result",
    "response",
    "tool_call",
    "blocks",
    "block_type",
    "ai",
    "tool",
    "human",
    "constructor",
    "function_call",
    "tool_call_response",
]

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_whatever_stands_there_is_read_or_left(value: Any) -> None:
    messages = read_messages(value)
    for message in messages:
        assert isinstance(message.role, str)
        assert not any(part.kind is PartKind.TEXT and part.text == "" for part in message.parts)
    output_of(messages)
    json.dumps([message.to_json() for message in messages])


def test_what_a_custom_tool_is_given_is_text_even_where_it_is_json() -> None:
    calls = [{"id": "c1", "type": "custom", "custom": {"name": "patch", "input": '{"a": 1}'}}]
    (message,) = read_messages([{"role": "assistant", "content": None, "tool_calls": calls}])
    assert message.parts[0].value == '{"a": 1}'


def test_a_value_in_the_place_of_a_text_is_written_as_json() -> None:
    assert [part.text for part in read_parts([{"type": "text", "text": {"temp": 12, "unit": "C"}}])] == [
        '{"temp":12,"unit":"C"}'
    ]
    assert [part.text for part in read_parts([{"type": "text", "text": 0}, {"type": "text", "text": False}])] == [
        "0",
        "false",
    ]
