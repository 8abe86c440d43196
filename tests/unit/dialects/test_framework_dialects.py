"""Frameworks, platforms and command line agents: golden readings of real and hand-made spans, and their traps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj import dialects
from otel2traj.canonical import dumps_pretty
from otel2traj.model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from otel2traj.model.reading import Role

from .cases import ROOT, find, groups, only, plain, read_case, records

MINE = (
    "agent_framework", "anthropic_sdk", "autogen", "azure_ai_inference", "bedrock_agentcore_adot", "claude_code_logs",
    "claude_code_traces", "codex_cli", "crewai_native", "gemini_cli", "github_copilot", "haystack",
    "laminar_livekit_voltagent_weave", "langchain4j", "langfuse", "litellm", "logfire", "mastra", "mlflow",
    "mlflow_semconv", "openlit", "otel_mcp", "semantic_kernel", "spring_ai", "traceloop_mcp", "vercel_ai_sdk_legacy",
    "vercel_ai_sdk_v7",
)  # fmt: skip
CASES = find(*MINE)
REF = EvidenceRef("otel.jsonl", 0, 0, 1)


def span(attributes: dict[str, Any], name: str = "span", **more: Any) -> SpanRecord:
    return SpanRecord("0" * 31 + "1", "0" * 15 + "1", None, name, attributes, REF, end_ns=2, **more)


def log(attributes: dict[str, Any], body: Any = None, **more: Any) -> LogRecord:
    event = more.pop("event_name", attributes.get("event.name"))
    return LogRecord(None, None, event, body, attributes, more.pop("ref", REF), **more)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_readings_are_the_golden_ones(case: Path, golden: Callable[[Path, bytes], None]) -> None:
    golden(case / "expected" / "readings.json", dumps_pretty(read_case(case)) + b"\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_every_own_span_is_recognised_and_no_key_is_left_unmapped(case: Path) -> None:
    for told in read_case(case):
        if "span" in told:
            assert told["dialects"], told["span"]
            assert told.get("unmapped", []) == [], told["span"]


def test_vercel_wrappers_are_agents_and_only_the_inner_spans_are_calls() -> None:
    roles = [(told["span"], told["role"]) for told in read_case(ROOT / "vercel_ai_sdk_legacy" / "ai-6.0")]
    assert [name for name, role in roles if role == "model_call"] == ["ai.generateText.doGenerate"] * 2
    assert [role for name, role in roles if name == "ai.generateText"] == ["agent"]


def test_a_vercel_result_loses_exactly_one_layer_of_json() -> None:
    tool = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "t", "ai.toolCall.id": "c1"}
    once = dialects.read(span({**tool, "ai.toolCall.result": '"{\\"a\\":1}"'}))
    assert once.result == '{"a":1}'
    assert dialects.read(span({**tool, "ai.toolCall.result": '{"a":1}'})).result == {"a": 1}
    assert dialects.read(span({**tool, "ai.toolCall.result": "0"})).result == 0
    cut = dialects.read(span({**tool, "ai.toolCall.result": '"half a te'}))
    assert (cut.result, "result" in cut.truncated) == ('"half a te', True)


def test_a_vercel_tool_that_the_provider_ran_is_no_call_left_to_the_client() -> None:
    calls = (
        '[{"toolCallId":"c1","toolName":"web_search","input":"{}","providerExecuted":true},'
        '{"toolCallId":"c2","toolName":"read","args":{"p":1}}]'
    )
    reading = dialects.read(span({"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls": calls}))
    assert [(c.id, c.name, c.arguments) for c in reading.tool_calls or []] == [("c2", "read", {"p": 1})]
    assert [part["toolCallId"] for part in reading.other_parts or []] == ["c1"]


def test_vercel_zero_counts_are_answers() -> None:
    reading = dialects.read(span({"ai.operationId": "ai.streamText.doStream", "ai.usage.inputTokens": 0}))
    assert reading.usage is not None
    assert (reading.usage.input_tokens, reading.usage.output_tokens) == (0, None)


def test_an_anthropic_sdk_span_without_content_is_a_call_with_its_response_id() -> None:
    told = read_case(ROOT / "anthropic_sdk" / "anthropic-2.14-retry")
    assert {t["role"] for t in told} == {"model_call"}
    first = told[0]["reading"]
    assert first["response_id"].startswith("msg_")
    assert first["extra"] == {"resend_count": 1}
    assert "text" not in first
    assert "messages" not in first


def test_claude_code_spans_do_not_take_the_request_id_for_the_response_id() -> None:
    for told in read_case(ROOT / "claude_code_traces" / "claude-code-2.1.332"):
        if told.get("span") == "claude_code.llm_request":
            assert told["reading"]["response_id"].startswith("msg_")
            assert told["reading"]["extra"]["request_id"].startswith("req_")
            assert told["log_key"].startswith("claude_code.request:req_")


def test_claude_code_adds_cached_tokens_to_its_bare_input_count_only() -> None:
    name = "claude_code.llm_request"
    bare = {"span.type": "llm_request", "input_tokens": 12, "cache_read_tokens": 100, "cache_creation_tokens": 7}
    assert plain(dialects.read(span(bare, name)))["usage"]["input_tokens"] == 119
    both = {**bare, "gen_ai.usage.input_tokens": 119}
    assert plain(dialects.read(span(both, name)))["usage"]["input_tokens"] == 119


def test_claude_code_tool_execution_spans_are_no_executions_of_their_own() -> None:
    told = read_case(ROOT / "claude_code_traces" / "claude-code-2.1.332")
    roles = {t["span"]: t["role"] for t in told if "span" in t}
    assert roles["claude_code.tool"] == "tool_execution"
    assert roles["claude_code.tool.execution"] == "none"
    assert roles["claude_code.tool.blocked_on_user"] == "none"


def test_claude_code_request_and_response_bodies_are_one_call() -> None:
    _, logs = records(ROOT / "claude_code_logs" / "claude-code-2.1.332")
    models = [(d, keys, found) for d, keys, found in groups(logs) if any("request:" in key for key in keys)]
    assert len(models) == 2
    for dialect, keys, members in models:
        assert any(key.startswith("claude_code.body:") for key in keys)
        reading = dialect.read(members)
        assert reading.messages is not None
        assert reading.response_id is not None


def test_claude_code_redacted_prompts_say_nothing() -> None:
    for dialect, _, members in groups([log({"event.name": "user_prompt", "prompt": "<REDACTED>"}, CLAUDE_BODY)]):
        assert dialect.read(members).input_text is None


CLAUDE_BODY = "claude_code.user_prompt"


def test_codex_counts_a_completed_response_once() -> None:
    told = read_case(ROOT / "codex_cli" / "codex-2026-11-by-hand")
    models = [t["reading"] for t in told if t["reading"]["role"] == "model_call"]
    assert [m.get("usage", {}).get("input_tokens") for m in models] == [100, None, 140]
    assert models[1]["is_error"] is True


def test_gemini_cli_adds_thoughts_to_the_output_once_though_it_tells_twice() -> None:
    told = read_case(ROOT / "gemini_cli" / "gemini-cli-0.61-logs-by-hand")
    models = [t["reading"] for t in told if t["reading"]["role"] == "model_call"]
    assert len(models) == 2
    assert models[0]["usage"] == {
        "input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 64, "reasoning_output_tokens": 8,
    }  # fmt: skip
    assert models[0]["response_id"] == "resp-1"


def test_logfire_counts_a_streamed_call_once() -> None:
    told = read_case(ROOT / "logfire" / "logfire-openai-5.4-stream")
    assert [t["role"] for t in told] == ["chain", "model_call", "chain", "model_call"]


def test_a_failed_logfire_request_is_still_a_call() -> None:
    attributes = {"request_data": "{}", "logfire.span_type": "span", "gen_ai.operation.name": "chat"}
    assert dialects.classify(span(attributes, status_code=2)).role is Role.MODEL_CALL
    assert dialects.classify(span(attributes)).role is Role.CHAIN


def test_litellm_takes_ids_from_the_raw_child_and_nothing_secret_from_metadata() -> None:
    told = read_case(ROOT / "litellm" / "litellm-1.110.2")
    raw = next(t["reading"] for t in told if t["span"] == "raw_gen_ai_request")
    assert [call["id"] for call in raw["tool_calls"]] == ["call_0abc", "call_1abc"]
    outer = next(t["reading"] for t in told if t["span"] == "litellm_request")
    assert [call["name"] for call in outer["tool_calls"]] == ["get_weather", "get_weather"]
    assert outer["usage"]["cache_read_input_tokens"] == 64
    assert "user_api_key" not in str(told)
    assert "hidden_params" not in str(told)


def test_mlflow_values_are_json_documents_and_zero_is_an_answer() -> None:
    attributes = {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanOutputs": '"Paris is fine"',
        "mlflow.chat.tokenUsage": '{"input_tokens": 0, "output_tokens": 0}',
    }
    reading = dialects.read(span(attributes))
    assert reading.text == "Paris is fine"
    assert reading.usage is not None
    assert (reading.usage.input_tokens, reading.usage.output_tokens) == (0, 0)


def test_mlflow_null_output_says_nothing() -> None:
    told = only(ROOT / "mlflow" / "mlflow-tracing-3.18", "weather_agent")
    assert "output_text" not in told


def test_mlflow_semconv_takes_the_asked_model_from_the_call_itself() -> None:
    told = only(ROOT / "mlflow_semconv" / "mlflow-tracing-3.18", "chat gpt-4o-2024-08-06")
    assert (told["request_model"], told["response_model"]) == ("gpt-4o", "gpt-4o-2024-08-06")


def test_langfuse_defaults_nobody_gave_are_left_out() -> None:
    told = only(ROOT / "langfuse" / "langfuse-5.0.4", "OpenAI-generation")
    assert told["parameters"] == {"temperature": 0.2}
    assert "request_model" not in told


def test_openlit_model_spans_are_no_tool_spans_and_invent_no_parameters() -> None:
    told = only(ROOT / "openlit" / "openlit-1.45-by-hand", "chat gpt-4o")
    assert told["parameters"] == {"temperature": 0.2}
    assert not {"tool_name", "tool_call_id", "arguments"} & told.keys()


def test_crewai_ids_that_are_no_agents_and_no_conversations_stay_out_of_the_fields() -> None:
    told = only(ROOT / "crewai_native" / "crewai-1.15-by-hand", "chat gpt-4o")
    assert (told["agent_name"], told["conversation_id"]) == ("researcher", "run-1")
    assert "response_model" not in told
    assert told["tools"][0]["parameters"]["properties"] == {"city": {"type": "string"}}


def test_agent_framework_unknown_call_ids_are_none() -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "unknown"}
    reading = dialects.read(span(attributes, scope_name="agent_framework"))
    assert (reading.tool_name, reading.tool_call_id) == ("t", None)


def test_agent_framework_reads_finish_reasons_out_of_json_text() -> None:
    told = read_case(ROOT / "agent_framework" / "agent-framework-1.23")
    assert [t["reading"]["finish_reason"] for t in told if t["role"] == "model_call"] == ["tool_calls", "stop"]


def test_semantic_kernel_messages_are_ordered_by_their_index_among_plain_log_lines() -> None:
    told = only(ROOT / "semantic_kernel" / "semantic-kernel-1.45-by-hand", "chat gpt-4o")
    assert [m["role"] for m in told["messages"]] == ["system", "user"]
    assert told["tool_calls"][0]["id"] == "call_0abc"


def test_autogen_names_tools_as_recorded_and_knows_no_provider() -> None:
    told = read_case(ROOT / "autogen" / "autogen-0.7.5")
    tools = [t["reading"] for t in told if t["role"] == "tool_execution"]
    assert [(t["tool_name"], t["tool_call_id"]) for t in tools] == [
        ("get_weather", "call_0abc"), ("get_weather", "call_1abc"),
    ]  # fmt: skip
    assert all("provider" not in t["reading"] for t in told)


def test_mcp_tells_its_two_sides_apart_and_the_tool_error() -> None:
    told = read_case(ROOT / "otel_mcp" / "mcp-python-sdk-2.3")
    tools = [t["reading"] for t in told if t["role"] == "tool_execution"]
    sides = [(t["tool_name"], t["extra"]["side"], t["extra"]["jsonrpc.request.id"]) for t in tools]
    assert sorted(sides)[:2] == [("flaky_service", "client", "3"), ("flaky_service", "server", "3")]
    assert [t["is_error"] for t in tools if t["tool_name"] == "flaky_service" and "is_error" in t] == [True]
    assert {t["role"] for t in told} == {"tool_execution", "none"}


def test_traceloop_mcp_unwraps_arguments_and_structured_content() -> None:
    told = only(ROOT / "traceloop_mcp" / "traceloop-mcp-0.62", "write_file.tool")
    assert told["arguments"] == {"path": "report.txt", "content": "lines: 3\n"}
    assert told["result"] == "wrote 9 bytes to report.txt"


def test_haystack_reads_python_literals_where_there_is_no_json() -> None:
    attributes = {
        "haystack.component.type": "OpenAIChatGenerator",
        "haystack.component.input": "{'messages': [{'role': 'user', 'content': [{'text': 'hi'}]}]}",
        "haystack.component.output": "{'replies': [{'role': 'assistant', 'content': [{'tool_call': "
        "{'tool_name': 't', 'arguments': {'a': None}, 'id': 'c1'}}], 'meta': {'finish_reason': 'tool_calls'}}]}",
    }
    reading = dialects.read(span(attributes, "haystack.component.run"))
    assert [(c.id, c.name, c.arguments) for c in reading.tool_calls or []] == [("c1", "t", {"a": None})]
    assert reading.finish_reason == "tool_calls"


def test_mastra_steps_are_calls_and_its_chunks_are_not() -> None:
    told = read_case(ROOT / "mastra" / "otel-exporter-0.3-by-hand")
    roles = {t["span"]: t["role"] for t in told}
    assert roles["step: 0"] == roles["chat gpt-4o"] == "model_call"
    assert roles["chunk: 'tool-call'"] == "none"
    step = next(t["reading"] for t in told if t["span"] == "step: 0")
    assert step["response_id"] == "chatcmpl-1"
    assert step["tool_calls"] == [{"id": "call_0abc", "name": "get_weather", "arguments": {"city": "Paris"}}]


def test_gemini_cli_says_which_values_it_cut() -> None:
    assert only(ROOT / "gemini_cli" / "gemini-cli-0.61-by-hand", "tool_call")["truncated"] == ["result"]


def test_copilot_json_that_was_cut_gives_what_is_whole() -> None:
    told = only(ROOT / "github_copilot" / "copilot-chat-by-hand", "chat gpt-4o")
    assert told["truncated"] == ["messages"]
    assert told["messages"] == [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}]


def test_adot_content_comes_back_to_its_span_whatever_its_dialect() -> None:
    case = ROOT / "bedrock_agentcore_adot" / "strands-by-hand"
    assert only(case, "chat")["tool_calls"][0]["id"] == "tooluse_1"
    tool = only(case, "execute_tool get_weather")
    assert (tool["arguments"], tool["result"]) == ({"city": "Paris"}, "Paris is fine")


def test_spring_ai_lists_printed_by_java_are_read() -> None:
    attributes = {"gen_ai.system": "spring_ai", "gen_ai.operation.name": "chat"}
    for printed in ('["STOP"]', "[STOP]", "STOP"):
        assert dialects.read(span({**attributes, "gen_ai.response.finish_reasons": printed})).finish_reason == "STOP"


def test_transport_spans_are_no_steps() -> None:
    attributes = {"http.request.method": "POST", "url.full": "http://127.0.0.1/v1/chat/completions"}
    for scope in ("opentelemetry.instrumentation.httpx", "@opentelemetry/instrumentation-undici"):
        assert dialects.classify(span(attributes, "POST", scope_name=scope)).role is Role.NONE


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["{", '[{"role": 1}]', '"x"']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "ai.operationId", "ai.prompt", "ai.prompt.messages", "ai.prompt.tools", "ai.response.toolCalls",
        "ai.toolCall.result", "ai.usage.inputTokens", "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs",
        "langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.output", "mastra.span.type",
        "input", "output", "body", "haystack.agent.step.llm.input", "haystack.agent.step.llm.output",
        "haystack.component.type", "llm.openai.choices", "llm.openai.messages", "gen_ai.completion.0.content",
        "gen_ai.output.messages", "gen_ai.tool.definitions", "crewai.event_name", "span.type", "tool_input",
        "request_data", "response_data", "logfire.span_type", "lmnr.span.type", "lmnr.span.input", "lk.chat_ctx",
        "spring.ai.kind", "gen_ai.response.finish_reasons", "mcp.method.name", "gen_ai.operation.name",
        "gen_ai.tool.call.result", "traceloop.entity.input", "traceloop.span.kind", "gen_ai.prompt",
    ]
)  # fmt: skip
NAMES = st.sampled_from(
    ["ai.toolCall", "claude_code.llm_request", "claude_code.tool", "litellm_request", "raw_gen_ai_request", "llm_node",
     "haystack.agent.step.llm", "haystack.agent.step.tool", "haystack.component.run", "anthropic.messages.create"]
)  # fmt: skip
SCOPES = st.sampled_from(
    ["ai", "gen_ai", "autogen", "agent_framework", "semantic_kernel.x", "gemini-cli", "crewai.telemetry", "openlit.x",
     "com.anthropic.claude_code.tracing", "com.anthropic.sdk.python", "opentelemetry.instrumentation.mcp.x", "lc"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(attributes=st.dictionaries(KEYS, VALUES, max_size=8), name=NAMES, scope=SCOPES, status=st.integers(0, 2))
def test_no_attribute_makes_a_dialect_raise(attributes: dict[str, Any], name: str, scope: str, status: int) -> None:
    record = span(attributes, name, scope_name=scope, status_code=status)
    record.events.append(SpanEvent("tool.output", 1, attributes))
    first, second = dialects.read(record), dialects.read(record)
    assert plain(first) == plain(second)
    assert dialects.classify(record).role is first.role


LOG_KEYS = st.sampled_from(
    ["event.name", "request_id", "request_body_id", "tool_use_id", "body", "response", "prompt", "input_tokens",
     "event.kind", "input_token_count", "call_id", "arguments", "output", "success", "error", "session.id",
     "event.timestamp", "gen_ai.output.messages", "response_text", "function_args", "conversation.id"]
)  # fmt: skip
EVENTS = st.sampled_from(
    ["claude_code.api_request", "claude_code.api_response_body", "claude_code.tool_result", "codex.sse_event",
     "codex.tool_result", "gemini_cli.api_response", "gemini_cli.tool_call", "gemini_cli.api_error",
     "gen_ai.client.inference.operation.details", "strands.telemetry.tracer"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(attributes=st.dictionaries(LOG_KEYS, VALUES, max_size=8), event=EVENTS, body=VALUES)
def test_no_log_record_makes_a_dialect_raise(attributes: dict[str, Any], event: str, body: Any) -> None:
    if event.startswith("claude_code."):
        body = event
    record = log(attributes, body, event_name=event, scope_name=event)
    for dialect, _, members in groups([record]):
        assert dialect.read(members).role is not None
