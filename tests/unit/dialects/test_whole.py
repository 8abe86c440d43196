"""What an agent or a chain was asked and answered, in people's words where a state object holds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel2traj.dialects.whole import answered, asked

HUMAN = {"type": "human", "content": "Weather?"}
AI = {"type": "ai", "content": "Fine."}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Weather?", "Weather?"),
        ({"messages": [["user", "Weather?"]]}, "Weather?"),
        ({"inputs": {"messages": [{"role": "user", "content": "Weather?"}]}, "tags": []}, "Weather?"),
        ({"messages": [HUMAN, AI, {**HUMAN, "content": "And now?"}]}, "And now?"),
        ({"input": "Weather?"}, "Weather?"),
        ([{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}], "Weather?"),
        ({"x": 1}, '{"x": 1}'),
        ({"messages": ["ChatMessage(role=...)"]}, '{"messages": ["ChatMessage(role=...)"]}'),
        ("", None),
        ("__REDACTED__", None),
    ],
)
def test_asked(value: Any, expected: str | None) -> None:
    assert asked(value if isinstance(value, str) else json.dumps(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"messages": [HUMAN, AI]}, "Fine."),
        ([{"graph": None, "update": {"messages": [AI]}}], "Fine."),
        ({"output": "Fine."}, "Fine."),
        ({"messages": [HUMAN]}, json.dumps({"messages": [HUMAN]})),
    ],
)
def test_answered(value: Any, expected: str) -> None:
    assert answered(json.dumps(value)) == expected


def test_nothing_recorded_says_nothing() -> None:
    assert asked(None) is None
    assert answered(None) is None
