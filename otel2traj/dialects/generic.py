"""The last resort: names that hand-written instrumentations give to tools, beside the names of any convention.

The names are those that lie next to the registry of the GenAI conventions, and those of OpenInference and OpenLLMetry
where they stand on spans that neither of the two wrote:
https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/registry/attributes/gen-ai.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..messages.nested import decode, ident, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .histories import tool_definitions
from .kit import SpanDialect
from .oi_content import is_schema, visible
from .table import AttributeTable
from .tool_payload import call_input, tool_input, tool_result

NAME: Final = ("gen_ai.tool.name", "tool.name", "tool_name")
CALL_ID: Final = ("gen_ai.tool.call.id", "gen_ai.tool.call_id", "tool.call.id", "tool.call_id", "tool_call_id")
GIVEN: Final = (
    "gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input", "gen_ai.tool.parameters",
    "tool.arguments", "tool.input", "tool.parameters",
)  # fmt: skip
TAKEN: Final = ("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output", "tool.result", "tool.output")
SHARED: Final = ("traceloop.entity.input", "traceloop.entity.output", "input.value", "output.value")
"""Names of what any span was given and gave; of a tool only where the span is known to be one."""
FUNCTIONS: Final = ("gen_ai.request.functions.", "llm.request.functions.", "llm.tools.")
KINDS: Final = {
    "gen_ai.operation.name": "execute_tool",
    "openinference.span.kind": "tool",
    "traceloop.span.kind": "tool",
    "langsmith.span.kind": "tool",
}
OWNERS: Final = {
    "openinference.span.kind": ("tool.", "input.", "output.", "llm."),
    "traceloop.span.kind": ("tool.", "traceloop.", "llm.", "gen_ai.request.functions."),
}
"""Spans of a convention that has such names itself, and which: its own dialect reads them, and knows what they hide."""

ANSWERS: Final = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages.")


class Generic(SpanDialect):
    name = "generic"
    title = "Names of no convention"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/registry/attributes/gen-ai.md"
    switch_on = "whatever the code that writes the spans was told to record"
    leaves_out = "nothing is promised: names that many use and no convention defines"
    marks = Marks(keys=(*NAME, *CALL_ID, *GIVEN, *TAKEN, *SHARED, "gen_ai.request.tools"), prefixes=FUNCTIONS)
    fields = AttributeTable(known=(*NAME, *CALL_ID, *GIVEN, *TAKEN, *SHARED, "gen_ai.request.tools", *FUNCTIONS))

    def confirms(self, span: SpanRecord) -> bool:
        attributes = span.attributes
        owned = tuple(prefix for kind, own in OWNERS.items() if kind in attributes for prefix in own)
        if is_tool(attributes):
            conventional = ("gen_ai.tool.name", "gen_ai.tool.call.", *owned)
            return any(key in _OF_TOOLS and not key.startswith(conventional) for key in attributes)
        return "gen_ai.operation.name" in attributes and any(
            key.startswith((*FUNCTIONS, "gen_ai.request.tools")) and not (owned and key.startswith(owned))
            for key in attributes
        )

    def role(self, span: SpanRecord) -> Role | None:
        """Asked where no other dialect tells it."""
        return Role.TOOL_EXECUTION if is_tool(span.attributes) else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            self._read_tool(draft)
        else:
            draft.put("tools", tool_definitions(draft.attributes.get("gen_ai.request.tools")))
            draft.put("tools", _functions(draft))

    def _read_tool(self, draft: Draft) -> None:
        attributes = draft.attributes
        draft.put("tool_name", string(_first(attributes, NAME)))
        draft.put("tool_call_id", ident(_first(attributes, CALL_ID)))
        given = _first(attributes, (*GIVEN, "traceloop.entity.input", "input.value"))
        call = call_input(given)
        if call is not None:
            draft.put("tool_call_id", call.id)
            draft.put("tool_name", call.name)
            draft.put("arguments", call.arguments)
        draft.put("arguments", tool_input(given))
        taken = _first(attributes, (*TAKEN, "traceloop.entity.output", "output.value"))
        result = tool_result(taken, draft.reading.tool_call_id, draft.reading.tool_name)
        if result is not None:
            draft.put("tool_call_id", result.call_id)
            draft.put("result", result.content)
            draft.put("is_error", result.is_error)
        for field, value in (("arguments", given), ("result", taken)):
            if decode(value, repair=False).cut:
                draft.cut(field)


_OF_TOOLS: Final = frozenset((*NAME, *CALL_ID, *GIVEN, *TAKEN, *SHARED))


def is_tool(attributes: Mapping[str, Any]) -> bool:
    """Whether a span is a tool's by the kind it states, or states no operation and names a tool with the id of its call
    or with its result."""
    for key, word in KINDS.items():
        told = attributes.get(key)
        if told is not None:
            return isinstance(told, str) and told.lower() == word
    return _first(attributes, NAME) is not None and _first(attributes, (*CALL_ID, *TAKEN)) is not None


STEP_WORDS: Final[dict[str, frozenset[str]]] = {
    "gen_ai.operation.name": frozenset(("chat", "text_completion", "generate_content", "execute_tool")),
    "openinference.span.kind": frozenset(("LLM", "TOOL")),
    "traceloop.span.kind": frozenset(("tool",)),
}
"""The words by which the conventions say that a span is a model call or a tool execution."""


def step_word(attributes: Mapping[str, Any]) -> str | None:
    """The word by which a span says that it is a step, with its attribute."""
    for key, words in STEP_WORDS.items():
        word = attributes.get(key)
        if isinstance(word, str) and word in words:
            return f"{key}={word}"
    return None


def likeness(attributes: Mapping[str, Any]) -> str | None:
    """What a span looks like that no dialect gives a role: `model` where it holds a model's answer, `tool` where it has
    names of tools."""
    if any(key.startswith(ANSWERS) for key in attributes):
        return "model"
    return "tool" if any(key.startswith(("gen_ai.tool.", "tool.")) for key in attributes) else None


def _first(attributes: Mapping[str, Any], names: Sequence[str]) -> JsonValue:
    """The first that is recorded and not hidden. A schema is no tool's input."""
    for name in names:
        value = visible(attributes.get(name))
        if value is None:
            continue
        if name.endswith(".parameters"):
            schema = decode(value, repair=False).value
            if isinstance(schema, dict) and is_schema(schema):
                continue
        return value
    return None


def _functions(draft: Draft) -> list[JsonObject] | None:
    """Tool definitions out of indexed attributes: whole ones as JSON, or one attribute a member."""
    for prefix in FUNCTIONS:
        tools: list[JsonObject] = []
        for _, fields in draft.family(prefix):
            whole = decode(fields.get("tool.json_schema", fields.get("json_schema"))).value
            tool: JsonObject = whole if isinstance(whole, dict) else {}
            for key in ("name", "description") if not tool else ():
                if fields.get(key) is not None:
                    tool[key] = fields[key]
            for key in ("parameters", "input_schema", "arguments") if tool and whole is not tool else ():
                if fields.get(key) is not None:
                    tool["parameters"] = decode(fields[key]).value
                    break
            tools.append(tool)
        if any(tools):
            return tools
    return None


GENERIC = Generic()
