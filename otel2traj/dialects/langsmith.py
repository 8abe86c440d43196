"""LangSmith's OpenTelemetry export: whole run inputs and outputs under `gen_ai.prompt` and `gen_ai.completion`.

https://github.com/langchain-ai/langsmith-sdk/blob/v0.15.1/python/langsmith/_internal/otel/_otel_exporter.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from ..canonical import JsonObject, JsonValue
from ..messages.answer import output_of
from ..messages.nested import decode, decode_repr, fields_of, ident, string
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request
from .draft import Draft
from .gen_ai_keys import REQUEST_MODEL, RESPONSE_MODEL
from .histories import tool_definitions
from .kit import SpanDialect
from .langchain_dump import read_result
from .table import AttributeTable, UsageKeys, count, make_usage
from .tool_payload import call_input, plain_input, tool_input, tool_result
from .usage import provider_usage
from .whole import answered, asked

META: Final = "langsmith.metadata."


_RUN_ID: Final = re.compile(r"(?:lc_run-|run)-+([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-\d+)?")


def langchain_run_id(result: JsonValue) -> str | None:
    """The id of the run that a generation's message names as its maker. The export gives the run's span another id,
    while a header of the running process carries the first eight bytes of this one."""
    current: JsonValue = result
    for key in ("generations", 0, 0, "message"):
        if isinstance(current, dict) and isinstance(key, str):
            current = current.get(key)
        elif isinstance(current, list) and isinstance(key, int) and current:
            current = current[key]
        else:
            return None
    made = fields_of(current).get("id") if isinstance(current, dict) else None
    found = _RUN_ID.fullmatch(made) if isinstance(made, str) else None
    return None if found is None else found.group(1)


class LangSmith(SpanDialect):
    name = "langsmith"
    title = "LangSmith OpenTelemetry export"
    source = (
        "https://github.com/langchain-ai/langsmith-sdk/blob/v0.15.1/python/langsmith/_internal/otel/_otel_exporter.py"
    )
    switch_on = "on by default; LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS switch it off"
    leaves_out = "reasoning text of chat completions; the span that an interceptor header names"
    namespaces = ("langsmith.",)
    marks = Marks(keys=("langsmith.span.kind",), scopes=("langsmith",))
    fields = AttributeTable(
        request_model=(*REQUEST_MODEL, f"{META}ls_model_name"),
        response_model=RESPONSE_MODEL,
        provider=(f"{META}ls_provider", "gen_ai.system"),
        conversation_id=(f"{META}thread_id", f"{META}session_id", f"{META}conversation_id"),
        agent_name=(f"{META}lc_agent_name",),
        agent_path=(f"{META}langgraph_checkpoint_ns", f"{META}checkpoint_ns"),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        parameters={
            "temperature": "gen_ai.request.temperature",
            "top_p": "gen_ai.request.top_p",
            "max_tokens": "gen_ai.request.max_tokens",
            "stop": f"{META}ls_stop",
        },
        usage=UsageKeys(input=("gen_ai.usage.input_tokens",), output=("gen_ai.usage.output_tokens",)),
        known=(
            "langsmith.",
            "gen_ai.prompt",
            "gen_ai.completion",
            "gen_ai.usage.",
            "gen_ai.tool.",
            "gen_ai.serialized",
        ),
    )
    role_key = "langsmith.span.kind"
    roles: ClassVar = {
        "llm": Role.MODEL_CALL,
        "tool": Role.TOOL_EXECUTION,
        "chain": Role.CHAIN,
        "prompt": Role.CHAIN,
        "parser": Role.CHAIN,
        "retriever": Role.NONE,
        "embedding": Role.NONE,
    }

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        attributes = span.attributes
        given, taken = attributes.get("gen_ai.prompt"), attributes.get("gen_ai.completion")
        if draft.role is Role.TOOL_EXECUTION:
            self._read_tool(draft, given, taken)
            draft.put("tool_name", string(span.name))
        elif draft.role is Role.MODEL_CALL:
            prompt = decode(given)
            draft.put_messages(read_messages(prompt.value))
            if prompt.cut:
                draft.cut("messages")
            if isinstance(prompt.value, dict):
                draft.put("tools", tool_definitions(prompt.value.get("tools")))
                if isinstance(prompt.value.get("model"), str):  # the arguments of a client that was wrapped
                    read_request(draft, prompt.value)
            draft.put("tools", tool_definitions(attributes.get("gen_ai.tool.definitions")))
            self._read_answer(draft, taken)
            self._read_counts(draft)
        else:
            draft.put("input_text", asked(given))
            draft.put("output_text", answered(taken))

    def _read_answer(self, draft: Draft, taken: JsonValue) -> None:
        answer = decode(taken)
        if answer.cut:
            draft.cut("text", "tool_calls")
        value = answer.value
        if isinstance(value, dict) and "choices" in value:
            found = [m for item in value["choices"] if isinstance(item, dict) for m in read_messages(item, "assistant")]
            draft.put_output(output_of(found))
            draft.put("response_id", ident(value.get("id")))
            draft.put("response_model", string(value.get("model")))
            draft.put_usage(provider_usage(value.get("usage")))
        read_result(draft, value)
        run_id = langchain_run_id(value)
        if run_id is not None:
            draft.reading.extra["langchain_run_id"] = run_id

    def _read_counts(self, draft: Draft) -> None:
        """Exact counts of the metadata first, then the Python reprs of the details."""
        draft.put_usage(provider_usage(draft.attributes.get(f"{META}usage_metadata")))
        ins = decode_repr(draft.attributes.get("gen_ai.usage.input_token_details"))
        outs = decode_repr(draft.attributes.get("gen_ai.usage.output_token_details"))
        cached: JsonObject = ins if isinstance(ins, dict) else {}
        reasoned: JsonObject = outs if isinstance(outs, dict) else {}
        draft.put_usage(
            make_usage(
                count(draft.attributes.get("gen_ai.usage.input_tokens")),
                count(draft.attributes.get("gen_ai.usage.output_tokens")),
                count(cached.get("cache_read")),
                count(cached.get("cache_creation")),
                count(reasoned.get("reasoning")),
            )
        )

    def _read_tool(self, draft: Draft, given: JsonValue, taken: JsonValue) -> None:
        draft.put("tool_call_id", ident(draft.attributes.get("gen_ai.tool.call.id")))
        if decode(taken, repair=False).value == {}:
            taken = None  # a run that raised has no output
        result = tool_result(taken, draft.reading.tool_call_id, string(draft.attributes.get("gen_ai.tool.name")))
        if result is not None:
            draft.put("tool_call_id", result.call_id)
            draft.put("result", result.content)
            draft.put("is_error", result.is_error)
            draft.put("tool_name", string(draft.attributes.get("gen_ai.tool.name")) or result.name)
        call = call_input(given)
        if call is not None:
            draft.put("tool_call_id", call.id)
            draft.put("arguments", call.arguments)
        arguments = tool_input(given)
        draft.put("arguments", plain_input(arguments) if isinstance(arguments, str) else arguments)
        for field, value in (("arguments", given), ("result", taken)):
            if decode(value).cut:
                draft.cut(field)


LANGSMITH = LangSmith()
