"""Which spans are one conversation, what tells that two may be one run, and answers of which no call is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

ANOTHER = "cd" * 16
CALL = ("call_Yq8sJ2mZxPfT", "find", {"q": "x"})
MAY_BE_ONE = "conversations_may_be_one"


def agent(span_id: str, second: float, name: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **more}
    return span(span_id, second, attributes, parent=parent)


def within(conversation: str, made: dict[str, Any]) -> dict[str, Any]:
    made["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": conversation}})
    return made


def build(root: Path, *spans: dict[str, Any], **files: bytes) -> dict[str, dict[str, Any]]:
    """Trajectories by the names of their conversations."""
    source, out = root / "source", root / "out"
    source.mkdir()
    for made in spans:
        made["spanId"] = made["spanId"].zfill(16)
        if "parentSpanId" in made:
            made["parentSpanId"] = made["parentSpanId"].zfill(16)
    (source / "trace.jsonl").write_bytes(otlp(list(spans)) + b"\n")
    for name, content in files.items():
        (source / f"{name}.jsonl").write_bytes(content)
    found = {}
    out.mkdir()
    for built in build_path(source, output=out):
        assert built.bug is None
        assert built.file is not None
        assert validate(built.file) == []
        found[str(built.conversation)] = json.loads(built.file.read_bytes())
    return found


def codes(document: dict[str, Any]) -> list[str]:
    return [warning.partition(":")[0] for warning in document["warnings"]]


def test_two_conversation_ids_in_one_trace_are_two_conversations(tmp_path: Path) -> None:
    found = build(
        tmp_path,
        span("a0", 0, {"http.route": "/batch"}),
        within("c1", agent("a1", 1, "one", "a0")),
        within("c1", model_span("a2", 2, calls=[("call_0", "find", {})], parent="a1")),
        within("c2", agent("b1", 3, "two", "a0")),
        within("c2", model_span("b2", 4, calls=[("call_0", "find", {})], parent="b1")),
        tool_span("b3", 5, "find", call_id="call_0", result="of the second", parent="b1"),
    )
    assert {name: [len(document["steps"]), document["status"]] for name, document in found.items()} == {
        "c1": [1, "complete"],
        "c2": [1, "complete"],
    }
    logs = {name: document["steps"][0]["tool_logs"][0] for name, document in found.items()}
    assert (logs["c1"]["link"], logs["c2"]["link"], logs["c2"]["outputs"]) == ("none", "exact", "of the second")


def test_a_sub_agent_with_a_session_of_its_own_is_no_other_conversation(tmp_path: Path) -> None:
    found = build(
        tmp_path,
        within("c1", agent("a1", 1, "lead")),
        within("c1", model_span("a2", 2, calls=[("call_0", "ask", {})], parent="a1")),
        tool_span("a3", 3, "ask", call_id="call_0", result="done", parent="a1"),
        within("c2", agent("b1", 4, "helper", "a3")),
        within("c2", model_span("b2", 5, text="done", parent="b1")),
    )
    assert {name: [step["agent_name"] for step in document["steps"]] for name, document in found.items()} == {
        "c1": ["lead", "lead/helper"]
    }


def test_an_execution_without_a_conversation_goes_where_its_call_is(tmp_path: Path) -> None:
    other = ("call_Zb4kT7vQwRsD", "find", {"q": "y"})
    found = build(
        tmp_path,
        within("c1", model_span("a1", 1, calls=[CALL])),
        within("c2", model_span("b1", 2, calls=[other])),
        tool_span("d1", 3, "find", call_id=other[0], result="y"),
        tool_span("d2", 4, "find", call_id="call_0", result="nobody knows whose"),
    )
    assert sorted(found) == ["ab" * 16, "c1", "c2"]
    assert found["c2"]["steps"][0]["tool_logs"][0]["outputs"] == "y"
    assert found["ab" * 16]["steps"][0]["kind"] == "tool_only"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (model_span("a1", 1, response_id="resp-1"), model_span("b1", 1, response_id="resp-1", traceId=ANOTHER)),
        (model_span("a1", 1, calls=[CALL]), tool_span("b1", 2, "find", call_id=CALL[0], traceId=ANOTHER)),
        (model_span("a1", 1, calls=[CALL]), model_span("b1", 2, calls=[CALL], traceId=ANOTHER)),
    ],
    ids=["one response", "a call and its execution", "one answer"],
)
def test_two_conversations_with_an_id_in_common_may_be_one_run(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    found = build(tmp_path, one, other)
    assert [(document["status"], codes(document)) for document in found.values()] == [("partial", [MAY_BE_ONE])] * 2


def test_many_conversations_with_one_id_are_told_once_each(tmp_path: Path) -> None:
    """A gateway gives one answer to all: remarks grow with the conversations, not with their pairs."""
    spans = [
        within(f"c{number:02d}", model_span(f"a{number:02d}", number, text="hi", traceId=f"{number + 1:032x}"))
        for number in range(12)
    ]
    for made in spans:
        made["attributes"].append({"key": "gen_ai.response.id", "value": {"stringValue": "resp-cached-0001"}})
    found = build(tmp_path, *spans)
    assert [codes(document).count(MAY_BE_ONE) for document in found.values()] == [1] * 12
    assert "conversation c01 bears response resp-cached-0001" in "\n".join(found["c00"]["warnings"])


def test_ids_that_are_counted_anew_show_nothing(tmp_path: Path) -> None:
    one = model_span("a1", 1, calls=[("call_0", "find", {})])
    found = build(tmp_path, one, model_span("b1", 2, calls=[("call_0", "find", {})], traceId=ANOTHER))
    assert [document["status"] for document in found.values()] == ["complete"] * 2


def test_wire_calls_and_spans_that_nothing_ties_may_be_one_run(tmp_path: Path) -> None:
    wires = AttemptFactory(tmp_path).request("k1", 1).response("k1", 2, chat_response(text="hi"))
    spans = model_span("a1", 1, text="hi"), model_span("b1", 2, text="so", traceId=ANOTHER)
    found = build(tmp_path, *spans, network=b"".join(line + b"\n" for line in wires.records[wires.wire_path]))
    assert [(document["status"], codes(document)) for document in found.values()] == [("partial", [MAY_BE_ONE])] * 3


ANSWERED = {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "42"}]}]}


def test_an_answer_of_which_no_model_call_is_recorded_is_told(tmp_path: Path) -> None:
    (document,) = build(tmp_path, agent("a1", 1, "one", **ANSWERED), tool_span("a2", 2, "find", parent="a1")).values()
    assert (document["status"], codes(document)) == ("partial", ["unrecorded_model_calls"])


@pytest.mark.parametrize("told", [ANSWERED, {}])
def test_an_agent_whose_calls_are_recorded_or_that_says_nothing_is_not(tmp_path: Path, told: dict[str, Any]) -> None:
    call = [model_span("a2", 2, text="42", parent="a1")] if told else [tool_span("a2", 2, "find", parent="a1")]
    (document,) = build(tmp_path, agent("a1", 1, "one", **told), *call).values()
    assert (document["status"], document["warnings"]) == ("complete", [])


@pytest.mark.parametrize("empty", [None, "", {}, {"id": "chatcmpl-1", "choices": []}, chat_response(text="")])
def test_a_second_empty_response_takes_nothing_away(tmp_path: Path, empty: Any) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001").request("k1", 1)
    attempt.response("k1", 2, chat_response(text="first"))
    attempt.response("k1", 3, empty, status=204).write()
    (built,) = build_path(tmp_path / "attempt", output=tmp_path / "out.json")
    assert built.bug is None
    document = json.loads((tmp_path / "out.json").read_bytes())
    (step,) = document["steps"]
    assert (step["status"], step["output"]["text"], step["ended_at"][17:19]) == ("complete", "first", "02")
    assert len(step["evidence"]["records"]) == 3
    assert codes(document) == ["repeated_record"]


def test_a_second_response_that_says_something_stands(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001").request("k1", 1)
    attempt.response("k1", 2, chat_response(text="first")).response("k1", 3, chat_response(text="second")).write()
    build_path(tmp_path / "attempt", output=tmp_path / "out.json")
    (step,) = json.loads((tmp_path / "out.json").read_bytes())["steps"]
    assert step["output"]["text"] == "second"


@pytest.mark.parametrize(
    ("status", "stated", "said_by"),
    [({"code": 1}, "succeeded", None), ({}, "succeeded", "silence"), ({"code": 2}, "error", None)],
)
def test_a_success_that_nobody_stated_is_drawn_from_silence(
    tmp_path: Path, status: dict[str, int], stated: str, said_by: str | None
) -> None:
    spans = model_span("a1", 1, calls=[CALL]), tool_span("a2", 2, "find", call_id=CALL[0], status=status)
    (document,) = build(tmp_path, *spans).values()
    (log,) = document["steps"][0]["tool_logs"]
    assert log["execution_status"] == stated
    assert log["evidence"].get("said_by", {}).get("execution_status") == said_by
