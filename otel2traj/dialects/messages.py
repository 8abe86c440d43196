"""Messages of any shape become messages in the GenAI conventions' parts form, alike for alike.

Roles are system, user, assistant and tool; every tool result is a message of role tool of its own; no empty texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.message import Message, reasoning_part, refusal_part, text_part, tool_call_response_part
from .nested import decode, ident, string
from .parts import Parts, block, call_part, flat_text, parts_of, response_value

ROLES: Final[dict[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-call": "assistant",
    "tool-response": "user",
    "thinking": "assistant",
}
_CLASSES: Final[dict[str, str]] = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
ITEMS: Final[dict[str, str]] = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "web_search_call": "assistant",
    "file_search_call": "assistant",
    "code_interpreter_call": "assistant",
    "image_generation_call": "assistant",
    "computer_call": "assistant",
    "computer_call_output": "tool",
    "local_shell_call": "assistant",
    "local_shell_call_output": "tool",
    "mcp_call": "assistant",
    "mcp_list_tools": "assistant",
    "mcp_approval_request": "assistant",
    "mcp_approval_response": "user",
}
"""Items of OpenAI Responses that stand without a role, and whose they are."""


def role_of(word: JsonValue) -> str | None:
    """A role in the convention's word; a word of no known role as it stands; None for none."""
    if not isinstance(word, str) or not word:
        return None
    return ROLES.get(word.removeprefix("MessageRole.").removeprefix("ChatRole.").lower(), word)


def read_messages(value: JsonValue, role: str | None = None) -> list[Message]:
    """Messages from a message, a list of them, a batch of lists, an object with `messages`, or plain text.

    `role` is taken where a message names none.
    """
    value = decode(value).value
    if value is None:
        return []
    if isinstance(value, dict):
        for key in ("messages", "message_list"):
            if isinstance(value.get(key), (list, dict)):
                return read_messages(value[key], role)
        return read_message(value, role)
    if isinstance(value, list):
        batch = value[0] if value else None
        if isinstance(batch, list) and all(isinstance(item, list) for item in value) and not _is_pair(batch):
            value = batch
        out: list[Message] = []
        previous_item = False
        for item in value:
            alone = is_item(item)
            for message in read_message(item, role):
                if alone and previous_item and message.role == "assistant" and out and out[-1].role == "assistant":
                    out[-1].parts.extend(message.parts)
                else:
                    out.append(message)
            previous_item = alone
        return out
    return read_message(value, role)


def is_item(value: JsonValue) -> bool:
    """An item of OpenAI Responses without a role: several in a row are one message."""
    return (
        isinstance(value, dict)
        and "role" not in value
        and isinstance(value.get("type"), str)
        and value["type"] in ITEMS
    )


def _is_pair(value: JsonValue) -> bool:
    """LangChain's `("user", "text")`."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0].lower() in ROLES


def read_message(value: JsonValue, role: str | None = None) -> list[Message]:
    """One recorded message as messages: more than one where it holds tool results, none where it says nothing."""
    if isinstance(value, str):
        return [Message(role or "user", [text_part(value)])] if value else []
    if _is_pair(value) and isinstance(value, list):
        return [Message(ROLES[value[0].lower()], parts_of(value[1]))]
    if isinstance(value, list):
        return [message for item in value for message in read_message(item, role)]
    if not isinstance(value, dict):
        return []
    return _read_object(value, role)


def _read_object(value: Mapping[str, Any], role: str | None) -> list[Message]:
    kind = value.get("type")
    if value.get("lc") is not None and isinstance(value.get("kwargs"), dict):
        path = value.get("id")
        cls = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
        return _read_object(
            {**value["kwargs"], "type": None}, role_of_class(cls) or role_of(value["kwargs"].get("type"))
        )
    if isinstance(value.get("data"), dict) and isinstance(kind, str) and kind.lower() in ROLES and "role" not in value:
        return _read_object({**value["data"], "type": None}, role_of(kind))
    inner = value.get("message")
    if isinstance(inner, (dict, list)) and "parts" not in value and "content" not in value:
        found = read_message(inner, role or role_of(value.get("role")))
        reason = string(value.get("finish_reason"))
        if found and reason is not None and found[-1].finish_reason is None:
            found[-1].finish_reason = reason
        return found
    if "role" not in value and isinstance(kind, str) and kind in ITEMS:
        return _split(ITEMS[kind], block(value), None, None)
    word = value.get("role")
    if word is None and isinstance(kind, str) and (kind.lower() in ROLES or kind in _CLASSES or "Message" in kind):
        word = role_of_class(kind) or kind
    who = role_of(word) or role or _told_by_content(value) or "user"
    return _split(who, _parts(value, who), value, string(value.get("finish_reason")))


def role_of_class(word: str) -> str | None:
    """The role of a LangChain message class (`AIMessageChunk` is an `AIMessage`)."""
    return _CLASSES.get(word.removesuffix("Chunk"))


def _told_by_content(value: Mapping[str, Any]) -> str | None:
    if value.get("tool_call_id") is not None:
        return "tool"
    return "assistant" if value.get("tool_calls") else None


def _parts(value: Mapping[str, Any], role: str) -> Parts:
    """All that a message object says, in reading order: reasoning, content, refusal, calls."""
    content = value.get("parts")
    if content is None:
        content = value.get("content")
    if content is None:
        content = value.get("contents", value.get("blocks", value.get("_content", value.get("text"))))
    parts = parts_of(content) if role != "tool" or "parts" in value else _tool_content(value, content)
    more = value.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    if not any(part.get("type") == "reasoning" for part in parts):
        for holder in (value, more):
            found = flat_text(holder.get("reasoning_content")) or flat_text(holder.get("reasoning"))
            if found:
                parts.insert(0, reasoning_part(found))
                break
    for holder in (value, more):
        refusal = holder.get("refusal")
        if isinstance(refusal, str) and refusal and not any(part.get("type") == "refusal" for part in parts):
            parts.append(refusal_part(refusal))
    return _with_calls(parts, [call_part(call) for call in _calls(value, more)])


def _tool_content(value: Mapping[str, Any], content: JsonValue) -> Parts:
    if isinstance(content, list) and any(isinstance(item, dict) and _is_result(item) for item in content):
        return parts_of(content)
    if isinstance(content, dict) and _is_result(content):
        return parts_of(content)
    return [tool_call_response_part(_result_id(value), response_value(content), string(value.get("name")))]


def _is_result(item: Mapping[str, Any]) -> bool:
    if any(key in item for key in ("toolResult", "functionResponse", "function_response", "tool_call_result")):
        return True
    return item.get("type") in ("tool_call_response", "tool_result", "tool-result", "function_call_output")


def _result_id(value: Mapping[str, Any]) -> str | None:
    more = value.get("additional_kwargs")
    for holder in (value, more if isinstance(more, dict) else {}):
        for key in ("tool_call_id", "call_id", "toolCallId"):
            found = ident(holder.get(key))
            if found is not None:
                return found
    return None if "additional_kwargs" in value or "response_metadata" in value else ident(value.get("id"))


def _calls(value: Mapping[str, Any], more: Mapping[str, Any]) -> list[JsonObject]:
    """Tool calls that stand beside the content; LangChain's invalid ones were emitted as well."""
    calls: list[JsonObject] = []
    for key in ("tool_calls", "toolCalls", "invalid_tool_calls"):
        found = decode(value.get(key), repair=False).value
        if isinstance(found, list):
            calls.extend(item for item in found if isinstance(item, dict))
    if not calls and isinstance(more.get("tool_calls"), list):
        calls = [item for item in more["tool_calls"] if isinstance(item, dict)]
    if not calls:
        for holder in (value, more):
            single = holder.get("function_call")
            if isinstance(single, dict) and single.get("name"):
                calls = [single]
                break
    return calls


def _with_calls(parts: Parts, calls: Parts) -> Parts:
    """Calls told twice, among the content and beside it, are one; the one beside is decoded and stands."""
    if not calls:
        return parts
    beside = {call["id"]: call for call in calls if call["id"] is not None}
    out = [beside.pop(part["id"], part) if part.get("type") == "tool_call" else part for part in parts]
    if not any(part.get("type") == "tool_call" for part in parts):
        return out + calls
    return out + [call for call in calls if call["id"] in beside]


_OF_TOOLS: Final = ("tool_call_response", "tool_call")


def _split(role: str, parts: Parts, value: Mapping[str, Any] | None, reason: str | None) -> list[Message]:
    """Tool results leave the message that carried them, each as a message of its own."""
    name = None if value is None or role in ("assistant", "tool") else string(value.get("name"))
    if role == "tool" and value is not None and parts and not any(p.get("type") in _OF_TOOLS for p in parts):
        text = response_value(parts if len(parts) > 1 else parts[0].get("content", parts[0]))
        parts = [tool_call_response_part(_result_id(value), text, string(value.get("name")))]
    out: list[Message] = []
    rest: Parts = []
    for part in parts:
        if part.get("type") == "tool_call_response" and not part.get("builtin"):
            out.append(Message("tool", [part]))
        else:
            rest.append(part)
    if rest or (not out and (reason is not None or role == "assistant")):
        out.append(Message(role if role != "tool" or not out else "user", rest, name, reason))
    return out


def system_value(value: JsonValue) -> JsonValue:
    """Instructions that stand apart: their text where they are text alone, else the parts."""
    value = decode(value, repair=False).value
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) and ("role" in item or "parts" in item or "lc" in item) for item in items):
        parts = [part for message in read_messages(value, "system") for part in message.parts]
    else:
        parts = parts_of(value)
    if parts and all(part.get("type") == "text" for part in parts):
        return "\n".join(str(part["content"]) for part in parts)
    return parts or None
