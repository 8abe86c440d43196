"""One conversation in every recorded shape gives the same chat messages."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.writers.chat_messages import answer_of, arguments_object, chat_of, tools_of

SYSTEM, ASK, SAY, RESULT = "Be brief.", "Go.", "Looking.", "ok"

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": ASK},
    {
        "role": "assistant",
        "content": SAY,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": RESULT},
]

SHAPES: dict[str, dict[str, Any]] = {
    "chat": {"messages": CHAT},
    "chat, content as blocks": {
        "messages": [
            CHAT[0],
            {"role": "user", "content": [{"type": "text", "text": ASK}]},
            CHAT[2],
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": RESULT}]},
        ]
    },
    "anthropic": {
        "system": [{"type": "text", "text": SYSTEM}],
        "messages": [
            {"role": "user", "content": ASK},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": SAY},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": RESULT}]},
        ],
    },
    "responses": {
        "system": SYSTEM,
        "messages": [
            {"role": "user", "content": [{"type": "input_text", "text": ASK}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAY}]},
            {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": RESULT},
        ],
    },
    "gemini": {
        "system": {"parts": [{"text": SYSTEM}]},
        "messages": [
            {"role": "user", "parts": [{"text": ASK}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": SAY},
                    {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
                ],
            },
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": RESULT}}]},
        ],
    },
    "parts": {
        "messages": [
            {"role": "system", "parts": [{"type": "text", "content": SYSTEM}]},
            {"role": "user", "parts": [{"type": "text", "content": ASK}]},
            {
                "role": "assistant",
                "parts": [
                    {"type": "reasoning", "content": "hm"},
                    {"type": "text", "content": SAY},
                    {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
                ],
            },
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": RESULT}]},
        ]
    },
    "bedrock": {
        "system": [{"text": SYSTEM}],
        "messages": [
            {"role": "user", "content": [{"text": ASK}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "hm"},
                    {"text": SAY},
                    {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}},
                ],
            },
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": RESULT}]}}]},
        ],
    },
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_conversation(shape: str) -> None:
    chat = chat_of(SHAPES[shape])
    assert chat.problems == []
    assert chat.messages == CHAT


FUNCTION = {"name": "f", "description": "F.", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "function": FUNCTION}],
        [{"type": "function", **FUNCTION}],
        [{"name": "f", "description": "F.", "input_schema": {"type": "object"}}],
        [{"functionDeclarations": [FUNCTION]}],
        [{"toolSpec": {"name": "f", "description": "F.", "inputSchema": {"json": {"type": "object"}}}}],
        [FUNCTION],
    ],
)
def test_one_tool(tools: Any) -> None:
    assert tools_of(tools) == ([{"type": "function", "function": FUNCTION}], [])


def test_what_is_no_function_is_named() -> None:
    assert tools_of([{"type": "web_search"}, {"type": "bash_20250124", "name": "bash"}, 3])[1] == [
        "web_search",
        "bash_20250124",
    ]
    assert tools_of(None) == ([], [])


def test_what_cannot_be_carried_is_told() -> None:
    cut = {"truncated": True, "size": 9, "sha256": "0", "head": "x"}
    blocks = [{"type": "document", "source": {}}, {"type": "text", "text": "t"}, cut]
    assert chat_of({"messages": [{"role": "user", "content": blocks}, 7]}).problems == [
        "content.truncated",
        "content.document",
        "message.unknown",
    ]


def test_a_picture_stays_a_picture() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    picture = {"type": "image", "source": source}
    chat = chat_of({"messages": [{"role": "user", "content": [{"type": "text", "text": "See"}, picture]}]})
    assert chat.messages[0]["content"][1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def test_answers() -> None:
    assert answer_of({"text": "", "tool_calls": []}) == {"role": "assistant", "content": ""}
    call = answer_of({"text": None, "tool_calls": [{"id": "c", "name": "f", "arguments": "{cut"}]})["tool_calls"][0]
    assert call["function"] == {"name": "f", "arguments": "{cut"}
    assert arguments_object("{cut") is None
    assert arguments_object("[1]") is None
    assert arguments_object('{"a": 1}') == {"a": 1}
