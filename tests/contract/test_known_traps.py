"""The known traps of agent spans, and where each is held; a trap whose test is gone is told here."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes
from tests.attempt_factory import model_span, otlp, span

TESTS = Path(__file__).parents[1]

TRAPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "T01": (
        "a limit of 128 attributes eats indexed messages",
        (
            "unit/dialects/test_traps.py::TestAttributeLimits",
            "golden/test_samples.py::test_calls_answers_and_usage[langgraph_oi_attrlimit24]",
        ),
    ),
    "T02": (
        "values cut to a length are no JSON any more",
        (
            "unit/dialects/test_traps.py::TestValueLimits",
            "unit/messages/test_nested.py::test_every_cut_gives_whole_leading_elements_or_nothing",
            "golden/test_samples.py::test_values_cut_at_120_characters",
        ),
    ),
    "T03": (
        "a value limit hits two carriers of one call differently",
        ("contract/test_known_traps.py::test_the_carrier_that_was_not_cut_speaks",),
    ),
    "T04": (
        "one call is reported by two instrumentations",
        (
            "unit/pairing/test_joins.py::test_a_second_instrumentation_with_the_response_id_is_no_second_step",
            "golden/test_samples.py::test_calls_answers_and_usage[langgraph_og_both_stream]",
        ),
    ),
    "T05": (
        "content is off by default",
        ("unit/dialects/test_traps.py::TestCarriers.test_empty_events_of_switched_off_content_say_nothing",),
    ),
    "T06": ("gen_ai.prompt means three things", ("unit/dialects/test_traps.py::TestGenAiPrompt",)),
    "T07": (
        "an output is there and its tool calls are not",
        (
            "unit/dialects/test_framework_dialects.py::"
            "test_litellm_takes_ids_from_the_raw_child_and_nothing_secret_from_metadata",
            "unit/dialects/test_traps.py::TestGraphNodes",
            "golden/test_samples.py::test_outputs_that_were_never_recorded",
        ),
    ),
    "T08": (
        "JSON in JSON, and reprs",
        (
            "unit/messages/test_nested.py::test_three_layers_are_decoded",
            "unit/messages/test_nested.py::test_python_literals",
            "unit/messages/test_nested.py::test_text_that_only_looks_like_json_stays_text",
        ),
    ),
    "T09": (
        "executions without the model's call id",
        (
            "unit/dialects/test_traps.py::TestToolCallIds",
            "golden/test_samples.py::test_executions_and_links",
            "unit/dialects/test_enclosing.py::test_a_task_started_with_one_call",
        ),
    ),
    "T10": (
        "equal call ids in one run",
        (
            "golden/test_samples.py::test_ids_that_repeat_each_turn_tie_nothing",
            "unit/assembly/test_worked_examples.py::test_c_two_emitters_are_ambiguous_and_nothing_is_attached",
        ),
    ),
    "T11": (
        "spans that only look like calls or executions",
        ("unit/dialects/test_traps.py::TestSpansThatOnlyLookLikeCalls",),
    ),
    "T12": ("cached tokens inside or outside the input", ("unit/dialects/test_traps.py::TestUsage",)),
    "T13": (
        "parents that are missing, late or in another trace",
        (
            "properties/test_hostile.py::test_parents_that_never_came_leave_the_run",
            "properties/test_hostile.py::test_the_run_is_read_all_the_same[late-parent.jsonl]",
            "properties/test_bare_evidence.py::"
            "TestConversations.test_traces_of_one_conversation_are_inputs_in_order_of_their_start",
        ),
    ),
    "T14": (
        "wrappers with a model's attributes",
        (
            "unit/pairing/test_joins.py::test_a_wrapper_lends_what_its_only_leaf_lacks",
            "unit/dialects/test_framework_dialects.py::"
            "test_vercel_wrappers_are_agents_and_only_the_inner_spans_are_calls",
        ),
    ),
    "T15": (
        "hosted tools, and MCP told by client and server",
        (
            "unit/messages/test_reader.py::test_hosted_tools_are_kept_apart_from_calls_that_wait_for_an_execution",
            "unit/pairing/test_tool_links.py::test_the_two_sides_of_an_mcp_call_are_one_execution_and_the_tool_around_them_is_another",
        ),
    ),
    "T16": (
        "retries",
        (
            "unit/assembly/test_worked_examples.py::test_retries_share_a_span_and_the_last_success_owns_its_output",
            "contract/test_known_traps.py::test_a_failed_attempt_before_a_good_one_is_a_step_of_its_own",
        ),
    ),
    "T17": (
        "one set of messages over several events, or on two carriers",
        ("unit/dialects/test_traps.py::TestCarriers",),
    ),
    "T18": (
        "log records that name another span than their own",
        (
            "unit/dialects/test_framework_dialects.py::test_claude_code_request_and_response_bodies_are_one_call",
            "golden/test_samples.py::test_claude_code",
        ),
    ),
    "T19": ("runs without model spans", ("golden/test_samples.py::test_runs_without_model_spans",)),
    "T20": (
        "attributes that lie",
        (
            "unit/dialects/test_framework_dialects.py::test_mlflow_semconv_takes_the_asked_model_from_the_call_itself",
            "unit/dialects/test_framework_dialects.py::test_langfuse_defaults_nobody_gave_are_left_out",
            "unit/dialects/test_framework_dialects.py::"
            "test_crewai_ids_that_are_no_agents_and_no_conversations_stay_out_of_the_fields",
        ),
    ),
    "T21": ("the acting agent is not the nearest agent span", ("unit/dialects/test_traps.py::TestActors",)),
    "T22": (
        "ids of one name and another meaning",
        (
            "unit/dialects/test_framework_dialects.py::"
            "test_claude_code_spans_do_not_take_the_request_id_for_the_response_id",
            "unit/dialects/test_traps.py::TestActors.test_the_session_of_langsmith_is_a_project",
        ),
    ),
    "T23": (
        "clock skew and odd clocks",
        (
            "properties/test_hostile.py::test_the_run_is_read_all_the_same[clock-skew.jsonl]",
            "properties/test_hostile.py::test_unreadable_times_come_last_and_are_told",
        ),
    ),
    "T24": (
        "histories that are rewritten or told as a delta",
        (
            "contract/test_known_traps.py::test_an_input_is_what_was_sent",
            "contract/test_known_traps.py::test_a_delta_is_told_as_one",
        ),
    ),
    "T25": (
        "streams that leave partial records",
        (
            "properties/test_hostile.py::test_what_never_ended_is_told",
            "unit/dialects/test_framework_dialects.py::test_logfire_counts_a_streamed_call_once",
        ),
    ),
    "T26": (
        "secrets in metadata",
        (
            "unit/dialects/test_framework_dialects.py::"
            "test_litellm_takes_ids_from_the_raw_child_and_nothing_secret_from_metadata",
            "contract/test_known_traps.py::test_metadata_stays_out_of_the_trajectory",
        ),
    ),
    "T27": (
        "converters: one span, two dialects",
        (
            "unit/dialects/test_front.py::test_two_dialects_on_one_span_fill_each_other_and_say_so",
            "properties/test_hostile.py::test_no_dialect_silences_another",
        ),
    ),
}


def names(file: Path) -> set[str]:
    """Every test function and class of a file; methods as `Class.test`."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
    return found


def test_all_of_them_are_listed() -> None:
    assert list(TRAPS) == [f"T{number:02}" for number in range(1, 28)]


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_is_held_by_a_test(trap: str) -> None:
    what, tests = TRAPS[trap]
    assert tests, what
    for test in tests:
        file, _, name = test.partition("::")
        assert name.partition("[")[0] in names(TESTS / file), f"{trap}, {what}: {test} is gone"


def build(path: Path, *spans: dict[str, Any]) -> dict[str, Any]:
    path.write_bytes(otlp(list(spans)))
    document: dict[str, Any] = json.loads(build_bytes(path))
    return document


def chat(span_id: str, second: float, attributes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return span(
        span_id, second, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", **attributes}, **fields
    )


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def test_the_carrier_that_was_not_cut_speaks(tmp_path: Path) -> None:
    whole = json.dumps([{**said("assistant", "a long answer"), "finish_reason": "stop"}])
    event = {
        "name": "gen_ai.client.inference.operation.details",
        "timeUnixNano": "1779962401000000000",
        "attributes": [{"key": "gen_ai.output.messages", "value": {"stringValue": whole}}],
    }
    one = chat("00000000000000a1", 1, {"gen_ai.output.messages": whole[:60]}, events=[event])
    (step,) = build(tmp_path / "t.jsonl", one)["steps"]
    assert step["output"]["text"] == "a long answer"


def test_a_failed_attempt_before_a_good_one_is_a_step_of_its_own(tmp_path: Path) -> None:
    failed = chat("00000000000000a1", 1, {}, status={"code": 2, "message": "429"})
    good = model_span("00000000000000a2", 2, text="at last")
    one, other = build(tmp_path / "t.jsonl", failed, good)["steps"]
    assert (one["status"], one["output"]["text"], one["output"]["error"]) == ("failed", None, {"message": "429"})
    assert (other["status"], other["output"]["text"]) == ("complete", "at last")


def test_an_input_is_what_was_sent(tmp_path: Path) -> None:
    """A later request may say less than an earlier one: nothing is put before it."""
    first = chat("00000000000000a1", 1, {"gen_ai.input.messages": [said("system", "be brief"), said("user", "one")]})
    compacted = chat("00000000000000a2", 2, {"gen_ai.input.messages": [said("user", "summary of one")]})
    delta = chat("00000000000000a3", 3, {"gen_ai.input.messages": [said("user", "two")]})
    steps = build(tmp_path / "t.jsonl", first, compacted, delta)["steps"]
    assert [[message["role"] for message in step["input"]["messages"]] for step in steps] == [
        ["system", "user"],
        ["user"],
        ["user"],
    ]
    assert steps[1]["input"]["messages"][0]["parts"][0]["content"] == "summary of one"
    assert not any("input_messages_delta" in step["evidence"] for step in steps)


def test_a_delta_is_told_as_one(tmp_path: Path) -> None:
    more = {"gen_ai.input.messages_delta": [said("user", "two")], "gen_ai.request.previous_response.id": "r1"}
    (step,) = build(tmp_path / "t.jsonl", chat("00000000000000a1", 1, more))["steps"]
    assert [message["role"] for message in step["input"]["messages"]] == ["user"]
    assert step["evidence"]["input_messages_delta"] is True
    assert step["evidence"]["previous_response_id"] == "r1"


def test_metadata_stays_out_of_the_trajectory(tmp_path: Path) -> None:
    secret = {
        "langsmith.metadata.OPENAI_KEY": "sk-12345",
        "metadata.user_api_key_hash": "sk-12345",
        "llm.metadata": {"token": "sk-12345"},
        "gen_ai.output.messages": [said("assistant", "hi")],
    }
    document = build(tmp_path / "t.jsonl", chat("00000000000000a1", 1, secret))
    assert document["steps"][0]["output"]["text"] == "hi"
    assert "sk-12345" not in json.dumps(document)
