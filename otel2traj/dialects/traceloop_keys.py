"""What both ages of OpenLLMetry (Traceloop) share: kinds, association properties, wrapped tool payloads.

https://github.com/traceloop/openllmetry/blob/0.62.4/packages/opentelemetry-semantic-conventions-ai
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonValue
from ..messages.answer import output_of
from ..messages.nested import at, decode, decode_arguments, ident, literal, repr_fields, string
from ..messages.reader import read_message, read_messages
from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_response
from .draft import Draft
from .histories import tool_definitions
from .kit import STATUS_ERROR
from .tool_payload import call_input, tool_input, tool_result
from .whole import answered, asked

SOURCE: Final = "https://github.com/traceloop/openllmetry/tree/0.62.4/packages"
SWITCH: Final = "on by default; TRACELOOP_TRACE_CONTENT=false switches it off"
KIND: Final = "traceloop.span.kind"
PROPERTIES: Final = "traceloop.association.properties."
KINDS: Final[dict[str, Role]] = {
    "tool": Role.TOOL_EXECUTION,
    "agent": Role.AGENT,
    "workflow": Role.CHAIN,
    "task": Role.CHAIN,
    "handoff": Role.CHAIN,
}
AGENT_NAME: Final = ("gen_ai.agent.name", f"{PROPERTIES}lc_agent_name", "crewai.agent.role")
AGENT_PATH: Final = (f"{PROPERTIES}langgraph_checkpoint_ns", f"{PROPERTIES}checkpoint_ns")
CONVERSATION: Final = (f"{PROPERTIES}thread_id", f"{PROPERTIES}session_id", "gen_ai.conversation.id")
KNOWN: Final = (
    "traceloop.",
    "tool.",
    "crewai.",
    "gen_ai.task.",
    "gen_ai.is_streaming",
    "gen_ai.openai.",
    "gen_ai.usage.total_tokens",
)
SCOPES: Final = tuple(
    f"opentelemetry.instrumentation.{package}"
    for package in (
        "openai.v1", "langchain", "anthropic", "bedrock", "cohere", "groq", "mistralai", "ollama", "replicate",
        "together", "vertexai", "google_generativeai", "watsonx", "alephalpha", "sagemaker", "llamaindex", "haystack",
        "crewai", "agno", "openai_agents", "mcp", "writer", "voyageai", "litellm", "transformers",
    )
)  # fmt: skip
MARKS: Final = Marks(keys=(KIND, "traceloop.entity.name", "llm.request.type"), scopes=SCOPES)
INDEXED: Final = ("gen_ai.prompt.", "gen_ai.completion.")


def is_indexed(span: SpanRecord) -> bool:
    """Whether messages stand in indexed attributes (`gen_ai.prompt.0.content`), the older form."""
    return any(key.startswith(INDEXED) for key in span.attributes)


_GIVEN: Final = ("gen_ai.tool.call.arguments", "traceloop.entity.input", "tool.arguments", "tool.parameters")


def read_tool(draft: Draft, span: SpanRecord) -> None:
    """A tool execution, out of LangChain's wrappers and Traceloop's own."""
    attributes = span.attributes
    draft.put("tool_name", string(_first(attributes, "gen_ai.tool.name", "tool.name")))
    draft.put("tool_call_id", ident(_first(attributes, "gen_ai.tool.call.id", "tool.call.id")))
    given = _first(attributes, *_GIVEN)
    taken = _first(attributes, "gen_ai.tool.call.result")
    if taken is None:
        taken = literal(_first(attributes, "traceloop.entity.output", "tool.result"))
    inside = decode(given).value
    is_mcp = isinstance(inside, dict) and set(inside) == {"tool_name", "arguments"}
    result = tool_result(
        _of_mcp(taken) if is_mcp else _of_agno(taken), draft.reading.tool_call_id, draft.reading.tool_name
    )
    if result is not None:
        draft.put("tool_call_id", result.call_id)
        draft.put("result", result.content)
        draft.put("is_error", result.is_error)
        draft.put("tool_name", result.name)
    draft.put("tool_name", string(attributes.get("traceloop.entity.name")))
    call = call_input(inside)
    if call is not None:
        draft.put("tool_call_id", call.id)
        draft.put("arguments", call.arguments)
    draft.put("tool_call_id", ident(at(inside, ("kwargs", "tool_call_id"))))
    draft.put(
        "arguments", decode_arguments(at(inside, ("arguments",))) if is_mcp else tool_input(_wrapped(inside, given))
    )
    for field, value in (("arguments", given), ("result", taken)):
        if decode(value).cut:
            draft.cut(field)
    if attributes.get("gen_ai.task.status") == "failure" and draft.reading.is_error is None:
        draft.put("is_error", True)


def _wrapped(inside: JsonValue, given: JsonValue) -> JsonValue:
    """The recovered payload where it was cut behind the arguments, else the payload as it stands."""
    return inside if isinstance(inside, dict) and ("input_str" in inside or "inputs" in inside) else given


def _of_mcp(taken: JsonValue) -> JsonValue:
    """What Traceloop's MCP client wraps as `{"result": ...}`."""
    value = decode(taken, repair=False).value
    return value["result"] if isinstance(value, dict) and set(value) == {"result"} else taken


def _of_agno(taken: JsonValue) -> JsonValue:
    """Agno's `FunctionExecutionResult`, written as its repr."""
    if not isinstance(taken, str) or not taken.startswith("status="):
        return taken
    fields = repr_fields(taken)
    if fields is None or "result" not in fields:
        return taken
    return fields["error"] if fields["result"] == "None" and fields.get("error", "None") != "None" else fields["result"]


def is_function_result(value: JsonValue) -> bool:
    """Whether an output is LlamaIndex's `ToolOutput`: its tool spans have the kind `task`, like all else there."""
    found = decode(value, repair=False).value
    return isinstance(found, dict) and {"tool_name", "raw_input", "raw_output"} <= set(found)


def read_model(draft: Draft, span: SpanRecord) -> None:
    """The answer as the framework returned it, where the messages leave the tool calls out (LlamaIndex)."""
    taken = span.attributes.get("traceloop.entity.output")
    if taken is None:
        return
    value = draft.json("traceloop.entity.output")
    if isinstance(value, dict) and isinstance(value.get("message"), dict):
        draft.put_output(output_of(read_message(value["message"], "assistant")))
        raw = value.get("raw")
        if isinstance(raw, dict):
            read_response(draft, raw)
    given = draft.json("traceloop.entity.input")
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        draft.put_messages(read_messages(given["messages"]))
        kwargs = given.get("kwargs")
        if isinstance(kwargs, dict):
            draft.put("tools", tool_definitions(kwargs.get("tools")))


def _first(attributes: Mapping[str, Any], *names: str) -> JsonValue:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def is_handoff(span: SpanRecord) -> bool:
    """LangGraph hands over by raising a command to the parent graph; Traceloop takes that for an error."""
    if span.status_code != STATUS_ERROR:
        return False
    texts = [span.status_message, *(event.attributes.get("exception.type") for event in span.events)]
    return any(isinstance(text, str) and ("ParentCommand" in text or "Command(" in text) for text in texts)


def entity_agent(span: SpanRecord) -> str | None:
    """The name of a decorated agent (`@agent(name=...)`), which is that of its entity."""
    if span.attributes.get(KIND) != "agent":
        return None
    return string(span.attributes.get("traceloop.entity.name"))


def read_whole(draft: Draft, span: SpanRecord) -> None:
    """What an agent or chain span was asked and answered."""
    draft.put("input_text", asked(span.attributes.get("traceloop.entity.input")))
    draft.put("output_text", answered(span.attributes.get("traceloop.entity.output")))
