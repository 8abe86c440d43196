"""Every dialect that recognises a span is asked; what they say becomes one reading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj import dialects
from otel2traj.dialects import DIALECTS, LOG_DIALECTS
from otel2traj.dialects.front import fold
from otel2traj.model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from otel2traj.model.reading import Role

from .cases import ROOT, find, plain, records

REF = EvidenceRef("otel.jsonl", 0, 0, 1)


def span(attributes: dict[str, Any], name: str = "span", **more: Any) -> SpanRecord:
    return SpanRecord("a" * 32, "b" * 16, None, name, attributes, REF, end_ns=2, **more)


def test_a_span_of_nobody_has_no_role() -> None:
    found = dialects.classify(span({"db.system": "postgresql"}))
    assert (found.role, found.dialects) == (None, ())
    assert plain(dialects.read(span({"db.system": "postgresql"}))) == {}


def test_two_dialects_on_one_span_fill_each_other_and_say_so() -> None:
    both = span(
        {
            "openinference.span.kind": "LLM",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "hello",
            "gen_ai.operation.name": "chat",
            "gen_ai.response.id": "chatcmpl-1",
            "gen_ai.usage.input_tokens": 0,
        }
    )
    reading = dialects.read(both)
    assert (reading.text, reading.response_id, reading.usage and reading.usage.input_tokens) == (
        "hello",
        "chatcmpl-1",
        0,
    )
    assert reading.said_by["text"] == "openinference"
    assert reading.said_by["response_id"] == "otel_genai_1_37"


def test_identifiers_that_differ_are_told_with_both_names() -> None:
    tool = span({"openinference.span.kind": "TOOL", "tool.id": "c1", "gen_ai.operation.name": "execute_tool"})
    tool.attributes["gen_ai.tool.call.id"] = "c2"  # type: ignore[index]
    reading = dialects.read(tool)
    assert reading.tool_call_id == "c1"
    (notice,) = [notice for notice in reading.notices if notice.code == "dialects_disagree"]
    assert "'c1'" in notice.message
    assert "'c2'" in notice.message


def test_instructions_are_not_told_twice() -> None:
    reading = dialects.read(
        span(
            {
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "Be brief.",
                "gen_ai.operation.name": "chat",
                "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
            }
        )
    )
    assert [message.role for message in reading.messages or []] == ["system"]
    assert reading.system is None


def test_attributes_nobody_reads_are_counted_with_positions_folded() -> None:
    unknown = span({"gen_ai.operation.name": "chat", "gen_ai.novelty.0.x": 1, "gen_ai.novelty.1.x": 1, "other.key": 1})
    assert dialects.unmapped_keys(unknown) == ("gen_ai.novelty.N.x",)
    assert fold("llm.input_messages.12.message.contents.0.text") == "llm.input_messages.N.message.contents.N.text"
    assert fold("gen_ai.usage.v2tokens") == "gen_ai.usage.v2tokens"


def test_the_order_of_attributes_changes_nothing() -> None:
    for case in find("openinference_langchain", "pydantic_ai", "traceloop_genai"):
        for record in records(case)[0]:
            forward = plain(dialects.read(record))
            turned = dict(reversed(list(record.attributes.items())))
            backward = plain(dialects.read(span(turned, record.name, **_rest(record))))
            for reading in (forward, backward):
                reading.get("parameters", {})
            assert json.dumps(forward, sort_keys=True) == json.dumps(backward, sort_keys=True)


def _rest(record: SpanRecord) -> dict[str, Any]:
    return {
        "events": record.events,
        "status_code": record.status_code,
        "status_message": record.status_message,
        "scope_name": record.scope_name,
        "dropped_attributes": record.dropped_attributes,
    }


def test_registries_hold_each_name_once_and_the_general_last() -> None:
    names = DIALECTS.names()
    assert names[0] == "http_client_noise"
    assert names[-4:] == ("otel_genai_1_37", "otel_genai_events_1_28_1_36", "otel_genai_pre_1_28", "generic")
    special = [name for name in names if name.startswith("openinference_")]
    assert all(names.index(name) < names.index("openinference") for name in special)
    assert len(set(names)) == len(names)
    assert len(set(LOG_DIALECTS.names())) == len(LOG_DIALECTS)


def keys() -> list[str]:
    """Attribute names of all fixtures: what arbitrary values are put under."""
    found: set[str] = set()
    for folder in sorted(ROOT.iterdir()):
        for case in sorted(folder.iterdir()) if folder.is_dir() else ():
            for record in records(case)[0]:
                found.update(record.attributes)
    return sorted(found)


KEYS = keys()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "parts", "output", "kwargs", "messages", "id", "args", "usage"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
VALUES = JSON | JSON.map(lambda value: json.dumps(value)) | JSON.map(lambda value: json.dumps(value)[:-1])
KINDS = {
    "openinference.span.kind": ["LLM", "TOOL", "AGENT", "CHAIN"],
    "gen_ai.operation.name": ["chat", "execute_tool", "invoke_agent", "generate_content"],
    "traceloop.span.kind": ["tool", "agent", "workflow", "task"],
    "langsmith.span.kind": ["llm", "tool", "chain"],
    "ai.operationId": ["ai.generateText.doGenerate", "ai.toolCall"],
    "abb.kind": ["llm", "tool"],
}


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=10),
    st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in KINDS.items()}),
    st.sampled_from(
        ["", "strands.telemetry.tracer", "gcp.vertex.agent", "pydantic-ai", "openinference.instrumentation.agno"]
    ),
    st.sampled_from([(), ("gen_ai.choice",), ("gen_ai.client.inference.operation.details",), ("exception",)]),
    st.integers(0, 2),
)
def test_no_attribute_value_makes_a_reading_fail(
    values: dict[str, Any], kinds: dict[str, str], scope: str, events: tuple[str, ...], status: int
) -> None:
    record = span({**values, **kinds}, scope_name=scope, status_code=status)
    record.events = [SpanEvent(name, 1, values) for name in events]
    log = LogRecord("a" * 32, "b" * 16, "gen_ai.choice", values, values, REF)
    found = dialects.classify(record)
    assert found.role is None or isinstance(found.role, Role)
    assert found.agent_name is None or isinstance(found.agent_name, str)
    assert found.conversation_id is None or isinstance(found.conversation_id, str)
    reading = dialects.read(record, [log])
    assert reading.role is found.role
    for name in ("response_id", "tool_call_id", "tool_name", "text", "reasoning", "finish_reason", "error"):
        value = getattr(reading, name)
        assert value is None or isinstance(value, str), name
    json.dumps(plain(reading))
    dialects.unmapped_keys(record)


@pytest.mark.parametrize("depth", [100, 500, 900, 100_000])
@pytest.mark.parametrize("ends", [("[", "]"), ('{"parts":[', "]}"), ('{"message":', "}"), ('{"content":[', "]}")])
def test_a_nesting_bomb_costs_the_reading_and_not_the_build(depth: int, ends: tuple[str, str]) -> None:
    bomb = ends[0] * depth + '"x"' + ends[1] * depth
    for key in ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"):
        reading = dialects.read(span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", key: bomb}))
        assert reading.role is Role.MODEL_CALL
        assert all(notice.code == "unreadable_record" for notice in reading.notices)
    tool = dialects.read(span({"openinference.span.kind": "TOOL", "input.value": bomb, "output.value": bomb}))
    assert tool.role is Role.TOOL_EXECUTION


@pytest.mark.parametrize("dialect", list(DIALECTS), ids=lambda dialect: dialect.name)
def test_a_span_without_attributes_is_no_trouble(dialect: Any) -> None:
    empty = span({}, scope_name=(dialect.marks.scopes or ("",))[0])
    if dialect.recognises(empty):
        dialect.classify(empty)
        dialect.read(empty, [])
