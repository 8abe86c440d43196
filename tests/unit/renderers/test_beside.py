"""What stands beside an answer, a tool's output or an Input is shown short."""

from __future__ import annotations

from typing import Any

from otel2traj.model.trajectory import SdkInput
from otel2traj.renderers.beside import beside_answer, beside_tool, input_events
from otel2traj.renderers.blocks import Block, Line, Quote
from tests.factory import step, tool_log


def words(blocks: list[Block]) -> list[str]:
    out = []
    for block in blocks:
        assert isinstance(block, Line | Quote)
        out.append(block.text if isinstance(block, Quote) else "".join(text for text, _ in block.words))
    return out


def of_tool(outputs: Any = None, **recorded: Any) -> list[str]:
    log = tool_log("c1")
    log.outputs, log.evidence["recorded"] = outputs, recorded
    return words(beside_tool(log))


def test_a_permission_names_what_was_chosen_and_of_what() -> None:
    options = [{"optionId": "a", "name": "Allow"}, {"optionId": "r", "name": "Reject"}]
    asked = {"options": options, "outcome": {"outcome": "selected", "optionId": "r"}}
    assert of_tool(acp_permissions=[asked]) == ["asked for permission: selected Reject  of Allow, Reject"]
    asked["outcome"] = {"outcome": "selected", "optionId": ["a"]}
    assert of_tool(acp_permissions=[asked]) == ['asked for permission: selected ["a"]  of Allow, Reject']
    asked["outcome"] = {"outcome": "cancelled"}
    assert of_tool(acp_permissions=[asked]) == ["asked for permission: cancelled  of Allow, Reject"]


def test_a_terminal_shows_its_text_where_the_output_does_not() -> None:
    terminal = {"command": "sh", "args": ["-c", "ls"], "output": "a\n", "truncated": True}
    line = "terminal sh -c ls  its beginning is cut"
    assert of_tool(acp_terminals=[terminal]) == [line, "a\n"]
    assert of_tool("a\n", acp_terminals=[terminal]) == [line]
    assert of_tool({"output": "a\n"}, acp_terminals=[terminal]) == [line]


def test_the_rest_is_one_line_cut_at_its_end() -> None:
    assert of_tool(acp_kind="edit") == []
    assert of_tool(metadata={"langgraph_step": 1}) == []
    (line,) = of_tool(output={"a": "b" * 400})
    assert line.startswith("recorded beside it: output {")
    assert "more characters)" in line
    one = step(1)
    one.output["extra"] = {"/service_tier": "default"}
    assert words(beside_answer(one)) == ["beside the answer: /service_tier default"]


def test_events_of_an_input_are_counted_by_name() -> None:
    chunk = {"event": "session_update", "data": {"update": {"sessionUpdate": "agent_message_chunk"}}}
    evidence = {"events": [chunk, {"event": "file_read", "data": {}}, chunk]}
    item = SdkInput("0001", "i", "go", None, None, [], {"evidence": evidence})
    assert words(input_events(item)) == ["events 2 agent_message_chunk, file_read"]
    assert input_events(SdkInput("0001", "i", "go", None, None, [])) == []
