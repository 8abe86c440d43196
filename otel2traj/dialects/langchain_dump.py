"""LangChain objects as they were dumped by a recorder or an exporter become readings.

The dumps are what `langchain_core` writes of its messages and results
(https://github.com/langchain-ai/langchain/tree/langchain-core%3D%3D1.0.0/libs/core/langchain_core): message objects
(`type`, `content`, `tool_calls`, ...), constructor objects (`lc`, `id`, `kwargs`), `LLMResult` (`generations`), and
LangGraph's node outputs (`{"messages": [...]}`, a bare message, a list of commands).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message, ToolCall, calls_in, text_part
from ..messages.answer import output_of
from ..messages.nested import decode, fields_of, ident, string
from ..messages.reader import read_message, read_messages
from ..model.reading import Reading, Role
from .draft import Draft
from .table import finish
from .tool_payload import call_input, plain_input, tool_message, tool_result
from .usage import provider_usage

DIALECT: Final = "langchain_dump"
SUCCEEDED: Final = frozenset({"succeeded", "success", "completed", "ok"})
_INTERNAL_IDS: Final = ("lc_run-", "run-", "lc_")


def read_llm(input: JsonValue, output: JsonValue, metadata: Mapping[str, Any] | None, error: str | None) -> Reading:
    """A model call of the framework recorder: `span_start.input` and `span_end.output` of a span of kind `llm`."""
    draft = Draft(DIALECT, {}, Role.MODEL_CALL)
    draft.put_messages(read_messages(input))
    read_result(draft, output)
    _read_metadata(draft, metadata or {})
    _read_error(draft, error)
    return draft.reading


def read_tool(
    input: JsonValue,
    output: JsonValue,
    tool_call_id: str | None,
    tool_status: str | None,
    error: str | None,
    metadata: Mapping[str, Any] | None = None,
) -> Reading:
    """A tool execution of the framework recorder. The id is the recorder's own, else that of the ToolMessage in the
    output, else that of the tool call given as input; the result is unwrapped."""
    draft = Draft(DIALECT, {}, Role.TOOL_EXECUTION)
    draft.put("tool_call_id", ident(tool_call_id))
    result = tool_result(output, draft.reading.tool_call_id)
    if result is not None:
        draft.put("tool_call_id", result.call_id)
        draft.put("tool_name", result.name)
        draft.put("result", result.content)
        draft.put("is_error", result.is_error)
    call = call_input(input)
    if call is not None:
        draft.put("tool_call_id", call.id)
        draft.put("tool_name", call.name)
        draft.put("arguments", call.arguments)
    draft.put("arguments", plain_input(input))
    if tool_status is not None:
        draft.reading.is_error = tool_status not in SUCCEEDED
    _read_actor(draft, metadata or {})
    _read_error(draft, error)
    return draft.reading


def answers_in(output: JsonValue, call_id: str | None, *, of_tool: bool) -> list[JsonObject]:
    """The fields of the dumped messages in an output whose content a reading takes."""
    if of_tool:
        message = tool_message(output, call_id)
        return [] if message is None else [fields_of(message)]
    return [fields_of(message) for _, message in _generations(output) if message is not None]


def node_output_tool_calls(output: JsonValue, history: Collection[str] = ()) -> list[ToolCall]:
    """Tool calls of the AI messages in the output of a LangGraph node, in order; [] without any.

    A node may return the whole conversation: what stands before the last message of another role and in the `history`
    of the request was emitted earlier.
    """
    calls: list[ToolCall] = []
    seen: set[str] = set()
    messages = node_messages(output)
    last = max((at for at, message in enumerate(messages) if message.role != "assistant"), default=-1)
    for at, message in enumerate(messages):
        for part in calls_in(message.parts) if message.role == "assistant" else ():
            if at < last and (part.id is None or part.id in history):
                continue
            if part.id is not None:
                if part.id in seen:
                    continue
                seen.add(part.id)
            calls.append(ToolCall(part.id, part.name, part.value))
    return calls


def node_messages(output: JsonValue) -> list[Message]:
    """The messages that a node returned, in whichever of its forms."""
    return [message for item in _message_objects(decode(output).value) for message in read_message(item)]


def _message_objects(value: JsonValue, depth: int = 0) -> Iterator[JsonObject]:
    if depth > 6:
        return
    if isinstance(value, list):
        for item in value:
            yield from _message_objects(item, depth + 1)
    elif isinstance(value, dict):
        if is_message(value):
            yield value
            return
        if value.get("lc") is not None:
            value = fields_of(value)
        for key in ("messages", "update", "output", "data", "result", "response"):
            if isinstance(value.get(key), (list, dict)):
                yield from _message_objects(value[key], depth + 1)


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a dumped message, in any of the forms."""
    if value.get("lc") is not None:
        path = value.get("id")
        return isinstance(path, list) and bool(path) and str(path[-1]).removesuffix("Chunk").endswith("Message")
    if isinstance(value.get("data"), dict) and isinstance(value.get("type"), str):
        return "content" in value["data"]
    if "content" in value and ("type" in value or "role" in value):
        return True
    return "role" in value and ("blocks" in value or "parts" in value)


def read_result(draft: Draft, output: JsonValue) -> None:
    """An `LLMResult`, a message, or a list of them: answer, usage, model, response id, finish reason."""
    value = decode(output).value
    objects = list(_generations(value))
    found: list[Message] = []
    for generation, message in objects:
        read = read_message(message) if message is not None else []
        if not read and isinstance(generation.get("text"), str):
            read = [Message("assistant", [text_part(generation["text"])] if generation["text"] else [])]
        for answer in read:
            answer.finish_reason = answer.finish_reason or _finish(generation, message)
        found.extend(read)
    draft.put_output(output_of(found, choices=len(objects) > 1))
    for generation, message in objects[:1]:
        _read_response(draft, generation, message or {})
    if isinstance(value, dict) and isinstance(value.get("llm_output"), dict):
        _read_llm_output(draft, value["llm_output"])


def _generations(value: JsonValue) -> Iterator[tuple[JsonObject, JsonObject | None]]:
    """(generation, its message) of the first prompt's batch."""
    if isinstance(value, list):
        for item in value:
            yield from _generations(item)
        return
    if not isinstance(value, dict):
        if isinstance(value, str) and value:
            yield {"text": value}, None
        return
    batches = value.get("generations")
    if isinstance(batches, list):
        batch = batches[0] if batches else []
        for item in batch if isinstance(batch, list) else batches:
            if isinstance(item, dict):
                item = item if item.get("message") is not None else fields_of(item)
                message = item.get("message")
                yield item, message if isinstance(message, dict) else None
        return
    if is_message(value):
        yield {}, value
        return
    inner = value.get("messages", value.get("message", value.get("output")))
    if isinstance(inner, dict):
        yield from _generations(inner)


def _finish(generation: JsonObject, message: JsonObject | None) -> str | None:
    info = generation.get("generation_info")
    response = fields_of(message).get("response_metadata") if message is not None else None
    for holder in (info, response):
        if isinstance(holder, dict):
            for key in ("finish_reason", "stop_reason", "stopReason", "done_reason"):
                found = finish(holder.get(key))
                if found is not None:
                    return found
    return None


def _read_response(draft: Draft, generation: JsonObject, message: JsonObject) -> None:
    fields = fields_of(message)
    info = fields.get("response_metadata")
    info = info if isinstance(info, dict) else {}
    for key in ("id", "response_id"):
        draft.put("response_id", response_id(info.get(key)))
    draft.put("response_id", response_id(fields.get("id")))
    draft.put("response_model", string(info.get("model_name")) or string(info.get("model")))
    if info.get("status") == "completed" or "status" in info:
        draft.put("finish_reason", finish(info.get("status")))
    draft.put_usage(provider_usage(fields.get("usage_metadata")))
    draft.put_usage(provider_usage(info.get("token_usage", info.get("usage"))))


def response_id(value: JsonValue) -> str | None:
    """A provider's response id; LangChain's own run and message ids are something else."""
    found = ident(value)
    if found is None or found.startswith(_INTERNAL_IDS) or _is_uuid(found):
        return None
    return found


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4


def _read_llm_output(draft: Draft, value: JsonObject) -> None:
    draft.put("response_id", response_id(value.get("id")))
    draft.put("response_model", string(value.get("model_name")) or string(value.get("model")))
    draft.put_usage(provider_usage(value.get("token_usage", value.get("usage"))))


def _read_metadata(draft: Draft, metadata: Mapping[str, Any]) -> None:
    draft.put("request_model", string(metadata.get("ls_model_name")))
    draft.put("provider", string(metadata.get("ls_provider")))
    parameters = {
        name: metadata[key]
        for name, key in (("temperature", "ls_temperature"), ("max_tokens", "ls_max_tokens"), ("stop", "ls_stop"))
        if metadata.get(key) is not None
    }
    draft.put("parameters", parameters or None)
    draft.put("conversation_id", ident(metadata.get("thread_id")))
    _read_actor(draft, metadata)


def _read_actor(draft: Draft, metadata: Mapping[str, Any]) -> None:
    draft.put("agent_name", string(metadata.get("lc_agent_name")))
    draft.reading.agent_path = string(metadata.get("langgraph_checkpoint_ns"))


def _read_error(draft: Draft, error: str | None) -> None:
    if error is not None:
        draft.reading.is_error = True
        draft.put("error", error)
