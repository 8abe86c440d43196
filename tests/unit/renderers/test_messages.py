"""Messages of every recorded shape, with nothing left out."""

from __future__ import annotations

import pytest

from otel2traj.canonical import JsonValue
from otel2traj.renderers.messages import Piece, PieceKind, read_said

TEXT, CALL, RESULT = PieceKind.TEXT, PieceKind.TOOL_CALL, PieceKind.TOOL_RESULT
THOUGHT, OTHER, REFUSAL = PieceKind.REASONING, PieceKind.OTHER, PieceKind.REFUSAL


@pytest.mark.parametrize(
    ("message", "role", "pieces"),
    [
        ({"role": "user", "content": "hi"}, "user", [Piece(TEXT, "hi")]),
        ({"role": "user", "parts": [{"type": "text", "content": "hi"}]}, "user", [Piece(TEXT, "hi")]),
        ({"role": "model", "parts": [{"text": "hi"}]}, "assistant", [Piece(TEXT, "hi")]),
        ({"role": "model", "parts": [{"text": "hm", "thought": True}]}, "assistant", [Piece(THOUGHT, "hm")]),
        (
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 0}}}]},
            "assistant",
            [Piece(CALL, {"a": 0}, None, "f")],
        ),
        (
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "id": "1", "response": {"r": 1}}}]},
            "tool",
            [Piece(RESULT, {"r": 1}, "1", "f")],
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},  # noqa: E501
            "assistant",
            [Piece(CALL, {}, "1", "f")],
        ),
        ({"role": "tool", "tool_call_id": "1", "content": ""}, "tool", [Piece(RESULT, "", "1")]),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r"}]}]},  # noqa: E501
            "tool",
            [Piece(RESULT, "r", "1")],
        ),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}]},  # noqa: E501
            "assistant",
            [Piece(THOUGHT, "hm"), Piece(CALL, {}, "1", "f")],
        ),
        ({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, "assistant", [Piece(CALL, {}, "1", "f")]),  # noqa: E501
        ({"type": "function_call_output", "call_id": "1", "output": "r"}, "tool", [Piece(RESULT, "r", "1")]),
        ({"type": "human", "content": "hi"}, "user", [Piece(TEXT, "hi")]),
        ({"role": "assistant", "refusal": "no"}, "assistant", [Piece(REFUSAL, "no")]),
        ({"role": "user", "content": "hi", "cache": {"x": 1}}, "user", [Piece(TEXT, "hi"), Piece(OTHER, {"cache": {"x": 1}})]),  # noqa: E501
        ({"role": "user", "content": [{"type": "image_url", "url": "u"}]}, "user", [Piece(OTHER, {"type": "image_url", "url": "u"})]),  # noqa: E501
        ("hi", "user", [Piece(TEXT, "hi")]),
        (7, "unknown", [Piece(OTHER, 7)]),
        ({"role": "user", "content": ""}, "user", []),
    ],
)  # fmt: skip
def test_shapes(message: JsonValue, role: str, pieces: list[Piece]) -> None:
    (said,) = read_said(message)
    assert (said.role, said.pieces) == (role, pieces)
