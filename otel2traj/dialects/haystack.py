"""Haystack 2 and 3: component and agent steps with messages as JSON, or as Python literals.

https://github.com/deepset-ai/haystack/tree/v3.4.1/haystack/tracing
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..messages.answer import output_of
from ..messages.nested import decode, decode_repr, string
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import put_parameters, usage_of
from .draft import Draft
from .kit import SpanDialect
from .mlflow import put_texts
from .table import AttributeTable, finish
from .tool_payload import tool_input, tool_result

_GENERATOR: Final = re.compile(r"Generator$")
_CHAINS: Final = (
    "haystack.agent.step",
    "haystack.pipeline.run",
    "haystack.async_pipeline.run",
    "haystack.component.run",
)
_META: Final = ("meta", "_meta")


class Haystack(SpanDialect):
    name = "haystack"
    title = "Haystack"
    source = "https://github.com/deepset-ai/haystack/tree/v3.4.1/haystack/tracing"
    switch_on = "HAYSTACK_CONTENT_TRACING_ENABLED=true, with a tracer enabled (package opentelemetry-haystack)"
    leaves_out = "Tool call ids on tool spans; response ids."
    namespaces = ("haystack.",)
    marks = Marks(prefixes=("haystack.",), span_names=("haystack.",))
    fields = AttributeTable(
        tool_name=("haystack.tool.name",),
        error=("haystack.tool.error",),
        known=("haystack.",),
    )

    def role(self, span: SpanRecord) -> Role | None:
        name = span.name
        if name == "haystack.agent.step.llm":
            return Role.MODEL_CALL
        if name == "haystack.agent.step.tool":
            return Role.TOOL_EXECUTION
        if name == "haystack.agent.run":
            return Role.AGENT
        if name == "haystack.component.run":
            kind = span.attributes.get("haystack.component.type")
            if isinstance(kind, str) and _GENERATOR.search(kind):
                return Role.MODEL_CALL
        return Role.CHAIN if name in _CHAINS else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.MODEL_CALL:
            self._model(draft)
        elif draft.role is Role.TOOL_EXECUTION:
            self._tool(draft)
        elif draft.role is Role.AGENT:
            put_texts(draft, _value(draft, "haystack.agent.input"), _value(draft, "haystack.agent.output"))

    def _model(self, draft: Draft) -> None:
        given = _either(draft, "haystack.agent.step.llm.input", "haystack.component.input", "messages")
        answer = _either(draft, "haystack.agent.step.llm.output", "haystack.component.output", "text", "tool_calls")
        if isinstance(given, dict):
            asked = given.get("messages")
            draft.put_messages(read_messages(asked if asked is not None else given.get("prompt"), "user"))
            tools = decode_repr(given.get("tools"))
            if isinstance(tools, list):
                draft.put("tools", [_tool(tool) for tool in tools if isinstance(tool, dict)] or None)
            arguments = decode_repr(given.get("generation_kwargs"))
            if isinstance(arguments, dict):
                put_parameters(draft, arguments)
        if not isinstance(answer, dict):
            return
        replies = decode_repr(answer.get("replies"))
        if not isinstance(replies, list):
            return
        metas = [_meta(reply) for reply in replies] if any(isinstance(r, dict) for r in replies) else _metas(answer)
        answers = read_messages(replies, "assistant")
        draft.put_output(output_of(answers, choices=len(replies) > 1))
        meta = metas[0] if metas else {}
        draft.put("finish_reason", finish(meta.get("finish_reason")))
        draft.put("response_model", string(meta.get("model")))
        draft.put_usage(usage_of(meta.get("usage")))

    def _tool(self, draft: Draft) -> None:
        draft.put("arguments", tool_input(draft.attributes.get("haystack.agent.step.tool.input")))
        raw = draft.attributes.get("haystack.agent.step.tool.output")
        decoded = decode(raw, repair=False).value
        if isinstance(decoded, dict) and set(decoded) == {"error"}:
            draft.put("is_error", True)
            draft.put("error", string(decoded["error"]))
        result = tool_result(raw)
        if result is not None:
            draft.put("tool_call_id", result.call_id)
            draft.put("result", result.content)
        if string(draft.attributes.get("haystack.tool.error")) is not None:
            draft.put("is_error", True)


def _value(draft: Draft, key: str, *fields: str) -> JsonValue:
    return decode_repr(draft.json(key, *fields))


def _either(draft: Draft, first: str, second: str, *fields: str) -> JsonValue:
    found = _value(draft, first, *fields)
    return _value(draft, second, *fields) if found is None else found


def _tool(value: JsonObject) -> JsonObject:
    """The definition out of Haystack's `{type, data}` envelope."""
    data = value.get("data")
    if not isinstance(data, dict):
        return value
    return {key: data[key] for key in ("name", "description", "parameters") if data.get(key) is not None}


def _meta(reply: JsonValue) -> JsonObject:
    if isinstance(reply, dict):
        for key in _META:
            if isinstance(reply.get(key), dict):
                found: JsonObject = reply[key]
                return found
    return {}


def _metas(answer: JsonObject) -> list[JsonObject]:
    found = answer.get("meta")
    return [meta for meta in found if isinstance(meta, dict)] if isinstance(found, list) else []


HAYSTACK = Haystack()
