"""The known traps of agent spans, one test each: what is written there is not what it seems."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel2traj import dialects
from otel2traj.dialects import langchain_dump
from otel2traj.dialects.usage import provider_usage
from otel2traj.messages import Usage
from otel2traj.model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from otel2traj.model.reading import Role

REF = EvidenceRef("otel.jsonl", 0, 0, 1)


def span(attributes: dict[str, Any], name: str = "span", **more: Any) -> SpanRecord:
    return SpanRecord("a" * 32, "b" * 16, None, name, attributes, REF, end_ns=2, **more)


def role(attributes: dict[str, Any], name: str = "span", **more: Any) -> Role | None:
    return dialects.classify(span(attributes, name, **more)).role


LLM = {"openinference.span.kind": "LLM"}
TOOL = {"openinference.span.kind": "TOOL"}


class TestAttributeLimits:
    def test_dropped_indexed_messages_are_told_as_cut(self) -> None:
        reading = dialects.read(
            span({**LLM, "llm.input_messages.3.message.role": "user", "llm.input_messages.3.message.content": "x"})
        )
        assert [message.role for message in reading.messages or []] == ["user"]
        assert "messages" in reading.truncated

    def test_the_whole_request_is_read_where_indexed_messages_were_dropped(self) -> None:
        body = json.dumps({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]})
        reading = dialects.read(span({**LLM, "llm.input_messages.1.message.content": "u", "input.value": body}))
        assert [message.role for message in reading.messages or []] == ["system", "user"]
        assert "messages" not in reading.truncated

    def test_a_message_whose_role_was_dropped_is_nobodys(self) -> None:
        reading = dialects.read(span({**LLM, "llm.input_messages.0.message.content": "u"}))
        assert [message.role for message in reading.messages or []] == ["unknown"]

    def test_the_kind_itself_may_be_dropped(self) -> None:
        left = {"llm.token_count.prompt": 1, "llm.output_messages.0.message.content": "x"}
        assert role(left, dropped_attributes=9) is Role.MODEL_CALL
        assert role(left) is None


class TestValueLimits:
    def test_whole_leading_calls_of_cut_json_are_kept(self) -> None:
        parts = [{"type": "tool_call", "id": f"c{i}", "name": "f", "arguments": {}} for i in range(3)]
        text = json.dumps([{"role": "assistant", "parts": parts}])[:150]
        reading = dialects.read(span({"gen_ai.operation.name": "chat", "gen_ai.output.messages": text}))
        assert [call.id for call in reading.tool_calls or []] == ["c0", "c1"]
        assert {"text", "tool_calls"} <= reading.truncated


class TestGenAiPrompt:
    """`gen_ai.prompt` means three things."""

    def test_messages_of_the_old_conventions(self) -> None:
        prompt = json.dumps([{"role": "user", "content": "hi"}])
        reading = dialects.read(span({"gen_ai.system": "openai", "gen_ai.request.model": "m", "gen_ai.prompt": prompt}))
        assert reading.role is Role.MODEL_CALL
        assert [message.role for message in reading.messages or []] == ["user"]

    def test_a_whole_run_of_langsmith(self) -> None:
        run = {"langsmith.span.kind": "chain", "gen_ai.operation.name": "chat", "gen_ai.prompt": '{"messages": []}'}
        reading = dialects.read(span(run, scope_name="langsmith"))
        assert (reading.role, reading.messages, reading.input_text) == (Role.CHAIN, None, '{"messages": []}')

    def test_a_prefix_of_traceloop(self) -> None:
        reading = dialects.read(span({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi"}))
        assert reading.role is Role.MODEL_CALL
        assert [message.role for message in reading.messages or []] == ["user"]


class TestSpansThatOnlyLookLikeCalls:
    @pytest.mark.parametrize(
        ("attributes", "name", "scope", "expected"),
        [
            ({**LLM, "llm.model_name": "m"}, "OpenAI._prepare_chat_with_tools", "llama_index", Role.NONE),
            ({**LLM, "llm.model_name": "m", "output.value": "x"}, "error", "beeai", Role.NONE),
            ({**LLM, "input.value": "x"}, "Wrapper.achat", "llama_index", Role.CHAIN),
            ({"openinference.span.kind": "AGENT", "input.value": "x"}, "agent", "langchain", Role.CHAIN),
            (
                {"openinference.span.kind": "AGENT", "tool.name": "ask_agent"},
                "ask_agent",
                "langchain",
                Role.TOOL_EXECUTION,
            ),
            (
                {"openinference.span.kind": "AGENT", "llm.output_messages.0.message.content": "x"},
                "q",
                "any",
                Role.AGENT,
            ),
            ({"openinference.span.kind": "EMBEDDING"}, "embed", "openai", Role.NONE),
        ],
    )
    def test_openinference(self, attributes: dict[str, Any], name: str, scope: str, expected: Role) -> None:
        assert role(attributes, name, scope_name=f"openinference.instrumentation.{scope}") is expected

    def test_a_failed_call_without_content_is_a_call(self) -> None:
        assert role({**LLM, "llm.model_name": "m"}, status_code=2) is Role.MODEL_CALL

    def test_merged_tools_of_adk(self) -> None:
        merged = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}
        assert role(merged, "execute_tool (merged)", scope_name="gcp.vertex.agent") is Role.NONE

    def test_an_agent_that_carries_its_childrens_model_attributes(self) -> None:
        both = {"openinference.span.kind": "AGENT", "gen_ai.operation.name": "chat", "llm.model_name": "m"}
        assert role(both, scope_name="ai") is Role.AGENT

    @pytest.mark.parametrize("operation", ["embeddings", "rerank", "create_agent", "vector_db_retrieve"])
    def test_operations_that_are_no_calls(self, operation: str) -> None:
        assert role({"gen_ai.operation.name": operation}) is Role.NONE

    def test_transport(self) -> None:
        assert role({"http.request.method": "POST"}, "POST") is Role.NONE
        assert role({"http.request.method": "POST", "gen_ai.operation.name": "chat"}) is Role.MODEL_CALL


class TestToolCallIds:
    MESSAGE = {"content": "fine", "tool_call_id": "c1", "status": "success", "name": "f", "type": "tool"}  # noqa: RUF012

    @pytest.mark.parametrize(
        "output",
        [
            MESSAGE,
            {"output": MESSAGE},
            {"type": "tool", "data": MESSAGE},
            {"output": {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": MESSAGE}},
            {"graph": "__parent__", "update": {"messages": [{"type": "human", "content": "x"}, MESSAGE]}},
            [{"graph": None, "update": {"messages": [MESSAGE]}}],
        ],
    )
    def test_the_id_inside_a_tool_message(self, output: Any) -> None:
        reading = dialects.read(span({**TOOL, "tool.name": "f", "output.value": json.dumps(output)}))
        assert (reading.tool_call_id, reading.result, reading.is_error) == ("c1", "fine", False)

    def test_of_several_tool_messages_only_the_one_of_this_tool(self) -> None:
        messages = [{**self.MESSAGE, "name": name, "tool_call_id": f"c-{name}"} for name in ("f", "g")]
        output = json.dumps({"update": {"messages": messages}})
        assert dialects.read(span({**TOOL, "tool.name": "g", "output.value": output})).tool_call_id == "c-g"
        assert dialects.read(span({**TOOL, "tool.name": "h", "output.value": output})).tool_call_id is None

    def test_an_error_told_by_the_message(self) -> None:
        output = json.dumps({"output": {**self.MESSAGE, "status": "error"}})
        assert dialects.read(span({**TOOL, "output.value": output}, status_code=1)).is_error is True

    def test_placeholders(self) -> None:
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
        for word in ("<not specified>", "unknown", ""):
            assert dialects.read(span({**tool, "gen_ai.tool.call.id": word})).tool_call_id is None

    def test_gemini_ids_that_count_positions(self) -> None:
        parts = [{"type": "tool_call", "id": f"f_{i}", "name": "f", "arguments": {}} for i in range(2)]
        output = json.dumps([{"role": "assistant", "parts": parts}])
        chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": output}
        ids = {
            provider: [
                call.id for call in dialects.read(span({**chat, "gen_ai.provider.name": provider})).tool_calls or []
            ]
            for provider in ("gcp.gemini", "openai")
        }
        assert ids == {"gcp.gemini": [None, None], "openai": ["f_0", "f_1"]}


class TestWrappedArguments:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"p": 1}}', {"p": 1}),
            ('{"kwargs": {"p": 1}}', {"p": 1}),
            ('{"input": {"p": 1}, "options": null}', {"p": 1}),
            ('{"input": "{\'p\': 1}"}', {"p": 1}),
            ('{"inputs": {"p": 1}, "input_str": "{\'p\': 1}", "tags": []}', {"p": 1}),
            ("{'p': 1}", {"p": 1}),
            ("notes.txt", "notes.txt"),
            ('{"input": "x", "other": 1}', {"input": "x", "other": 1}),
            ('{"kwargs": {"p": 1}, "other": 1}', {"kwargs": {"p": 1}, "other": 1}),
        ],
    )
    def test_wrappers_are_taken_off_and_values_left(self, given: str, expected: Any) -> None:
        assert dialects.read(span({**TOOL, "input.value": given})).arguments == expected

    def test_a_schema_is_no_argument(self) -> None:
        schema = '{"type": "object", "properties": {"p": {"type": "string"}}}'
        assert dialects.read(span({**TOOL, "tool.parameters": schema})).arguments is None
        assert dialects.read(span({**TOOL, "tool.parameters": '{"p": "x"}'})).arguments == {"p": "x"}


class TestResults:
    @pytest.mark.parametrize(
        ("output", "result", "failed"),
        [
            ('{"content": [{"type": "text", "text": "fine"}], "isError": true}', "fine", True),
            (
                '{"blocks": [], "tool_name": "f", "raw_input": {}, "raw_output": "fine", "is_error": false}',
                "fine",
                False,
            ),
            ('{"id": "c1", "name": "f", "response": {"result": "fine"}}', "fine", False),
            ('{"id": "c1", "name": "f", "response": {"error": "boom"}}', "boom", True),
            ('{"exit_code": 3, "stdout": ""}', '{"exit_code": 3, "stdout": ""}', None),
            ("", "", None),
        ],
    )
    def test_wrappers_are_taken_off_and_text_left(self, output: str, result: Any, failed: bool | None) -> None:
        reading = dialects.read(span({**TOOL, "output.value": output}))
        assert (reading.result, reading.is_error) == (result, failed)


class TestErrors:
    def test_a_hand_over_is_no_error(self) -> None:
        tool = {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "transfer_to_x",
            "gen_ai.operation.name": "execute_tool",
        }
        event = SpanEvent(
            "exception", 1, {"exception.type": "langgraph.errors.ParentCommand", "exception.message": "x"}
        )
        reading = dialects.read(span(tool, status_code=2, status_message="ParentCommand(Command(...))", events=[event]))
        assert (reading.is_error, reading.error) == (False, None)

    def test_the_exceptions_own_words(self) -> None:
        event = SpanEvent("exception", 1, {"exception.type": "OSError", "exception.message": "no such file"})
        reading = dialects.read(
            span({**TOOL, "tool.name": "f"}, status_code=2, status_message="failed", events=[event])
        )
        assert (reading.is_error, reading.error) == (True, "no such file")


class TestUsage:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            (
                {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 64}},
                Usage(100, 20, 64),
            ),
            (
                {
                    "input_tokens": 36,
                    "output_tokens": 20,
                    "cache_read_input_tokens": 64,
                    "cache_creation_input_tokens": 0,
                },
                Usage(100, 20, 64, 0),
            ),
            (
                {
                    "promptTokenCount": 100,
                    "candidatesTokenCount": 12,
                    "thoughtsTokenCount": 8,
                    "cachedContentTokenCount": 64,
                },
                Usage(100, 20, 64, None, 8),
            ),
            ({"inputTokens": 36, "outputTokens": 20, "cacheReadInputTokens": 64}, Usage(100, 20, 64)),
            (
                {"input_tokens": 100, "output_tokens": 20, "input_token_details": {"cache_read": 64}},
                Usage(100, 20, 64),
            ),
            ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ],
    )
    def test_input_includes_cached_and_output_includes_reasoning(self, raw: Any, expected: Usage) -> None:
        assert provider_usage(raw) == expected

    def test_nothing_recorded_is_no_zero(self) -> None:
        assert provider_usage({"total_tokens": 5}) is None
        assert provider_usage(None) is None


class TestActors:
    def test_the_placeholder_of_the_agents_sdk_is_no_name(self) -> None:
        told = {"gen_ai.operation.name": "chat", "gen_ai.agent.name": "OpenAI Agent", "gen_ai.agent.description": "x"}
        scope = "opentelemetry.instrumentation.openai_agents"
        assert dialects.classify(span(told, scope_name=scope)).agent_name is None
        assert dialects.classify(span({**told, "gen_ai.agent.name": "lead"}, scope_name=scope)).agent_name == "lead"

    def test_the_full_namespace_goes_before_the_enclosing_one(self) -> None:
        path = "team:1|writer:2|model:3"
        metadata = json.dumps({"checkpoint_ns": "team:1", "langgraph_checkpoint_ns": path, "lc_agent_name": "inner"})
        found = dialects.classify(span({**LLM, "llm.token_count.prompt": 1, "metadata": metadata}))
        assert (found.agent_path, found.agent_name) == (path, "inner")

    def test_a_decorated_agent_of_traceloop_is_named_by_its_entity(self) -> None:
        told = {"traceloop.span.kind": "agent", "traceloop.entity.name": "planner"}
        assert dialects.classify(span(told)).agent_name == "planner"
        assert dialects.classify(span({**told, "traceloop.span.kind": "task"})).agent_name is None

    def test_the_session_of_langsmith_is_a_project(self) -> None:
        run = {
            "langsmith.span.kind": "llm",
            "langsmith.trace.session_id": "project",
            "langsmith.metadata.thread_id": "t",
        }
        assert dialects.classify(span(run)).conversation_id == "t"


class TestCarriers:
    def test_attributes_go_before_events_and_events_before_logs(self) -> None:
        def message(text: str) -> str:
            return json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]
            )

        details = "gen_ai.client.inference.operation.details"
        event = SpanEvent(details, 1, {"gen_ai.output.messages": message("event")})
        log = LogRecord("a" * 32, "b" * 16, details, None, {"gen_ai.output.messages": message("log")}, REF)
        chat = {"gen_ai.operation.name": "chat"}
        both = span({**chat, "gen_ai.output.messages": message("attribute")}, events=[event])
        assert dialects.read(both, [log]).text == "attribute"
        reading = dialects.read(span(chat, events=[event]), [log])
        assert (reading.text, reading.said_by["text"]) == ("event", "otel_genai_1_37:event")
        assert dialects.read(span(chat), [log]).said_by["text"] == "otel_genai_1_37:log"

    def test_events_of_one_name_with_one_attribute_each_are_one(self) -> None:
        details = "gen_ai.client.inference.operation.details"
        asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])
        told = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "ho"}]}])
        events = [
            SpanEvent(details, 1, {"gen_ai.input.messages": asked}),
            SpanEvent(details, 1, {"gen_ai.output.messages": told}),
        ]
        reading = dialects.read(span({"gen_ai.operation.name": "chat"}, events=events))
        assert ([message.role for message in reading.messages or []], reading.text) == (["user"], "ho")

    def test_semantic_kernel_orders_its_logs_by_an_index(self) -> None:
        def log(role: str, index: int) -> LogRecord:
            body = json.dumps({"role": role, "content": role})
            return LogRecord("a" * 32, "b" * 16, f"gen_ai.{role}.message", body, {"CHAT_MESSAGE_INDEX": index}, REF)

        logs = [log("user", 1), log("system", 0)]
        reading = dialects.read(span({"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}), logs)
        assert [message.role for message in reading.messages or []] == ["system", "user"]

    def test_empty_events_of_switched_off_content_say_nothing(self) -> None:
        log = LogRecord("a" * 32, "b" * 16, "gen_ai.user.message", {}, {}, REF)
        reading = dialects.read(span({"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}), [log])
        assert reading.messages is None


class TestGraphNodes:
    CALLS = [{"id": "c1", "name": "f", "args": {"p": 1}, "type": "tool_call"}]  # noqa: RUF012

    @pytest.mark.parametrize(
        "output",
        [
            {"messages": [{"type": "ai", "content": "", "tool_calls": CALLS}]},
            {"type": "ai", "content": "", "tool_calls": CALLS},
            [{"graph": None, "update": {"messages": [{"type": "ai", "content": "", "tool_calls": CALLS}]}}],
            {"messages": [{"lc": 1, "id": ["x", "AIMessage"], "kwargs": {"content": "", "tool_calls": CALLS}}]},
            {"response": {"role": "assistant", "blocks": [{"block_type": "tool_call", "tool_call_id": "c1",
                                                          "tool_name": "f", "tool_kwargs": {"p": 1}}]}},
        ],
    )  # fmt: skip
    def test_tool_calls_of_a_nodes_output(self, output: Any) -> None:
        for form in (output, json.dumps(output)):
            (call,) = langchain_dump.node_output_tool_calls(form)
            assert call.to_json() == {"id": "c1", "name": "f", "arguments": {"p": 1}}

    def test_a_node_without_messages_has_none(self) -> None:
        for output in (None, {}, [], "text", {"messages": ["x"]}, {"messages": [{"type": "tool", "content": "x"}]}):
            assert langchain_dump.node_output_tool_calls(output) == []
