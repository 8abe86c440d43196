"""Messages are read in `messages/` alone: no other room tells a shape of message by its keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "otel2traj"
SHAPES = {
    "custom_tool_call", "custom_tool_call_output", "functionCall", "functionResponse", "function_call",
    "function_call_output", "function_response", "image_url", "input_audio", "input_text", "output_text",
    "reasoning_content", "redacted_thinking", "summary_text", "thinking", "toolCallId", "toolResult", "toolUse",
    "toolUseId", "tool_call_response", "tool_result", "tool_use", "tool_use_id",
}  # fmt: skip
"""Words that occur in the messages of one provider or framework and nowhere else."""
OWN = {"messages", "providers", "readers", "capture", "corpus"}
"""Rooms whose matter these words are: the reading itself, bodies of model APIs, files and requests as they arrive."""
ELSEWHERE = {
    "assembly/index_abb.py": {"toolCallId"},  # ACP's own name of a tool call
    "dialects/bodies.py": {"output_text"},  # a response of OpenAI in an attribute
    "dialects/claude_code_logs.py": {"tool_result", "tool_use_id"},  # names of events, and their attributes
    "dialects/codex_cli.py": {"tool_result"},  # the name of an event
    "dialects/gemini_cli.py": {"functionResponse"},  # an answer inside a tool's own payload
    "dialects/histories.py": {"tool_call_response"},  # which parts a memo may hold, by the conventions' word
    "dialects/traceloop_legacy.py": {"thinking"},  # a flat attribute
    "prov/sem.py": {"tool_result"},  # the role of an AER artefact
    "writers/chat_messages.py": {"reasoning_content"},  # the form that it writes
    "writers/chat_rows.py": {"reasoning_content"},
}


def keys_read(tree: ast.AST) -> Iterator[str]:
    """Constants that the code looks up or compares with: `x.get("k")`, `x["k"]`, `"k" in x`, `kind == "k"`."""
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            found = node.args[:1]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            found = [node.slice]
        elif isinstance(node, ast.Compare):
            found = [node.left, *node.comparators]
        for one in found:
            for item in one.elts if isinstance(one, (ast.Tuple, ast.List, ast.Set)) else [one]:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value


def test_the_walk_sees_every_way_of_looking() -> None:
    code = "a.get('1'); b['2']; '3' in c; d == '4'; e in ('5', '6'); f['7'] = 1"
    assert set(keys_read(ast.parse(code))) == {"1", "2", "3", "4", "5", "6"}


def test_no_room_looks_into_messages_by_keys() -> None:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] not in OWN:
            words = SHAPES.intersection(keys_read(ast.parse(file.read_text("utf-8"))))
            if words - ELSEWHERE.get(name, set()):
                found[name] = words
    assert found == {}, "read them by Step.conversation() or a function of otel2traj.messages"


def test_every_exception_is_still_one() -> None:
    for name, words in ELSEWHERE.items():
        assert words <= set(keys_read(ast.parse((PACKAGE / name).read_text("utf-8")))), name
