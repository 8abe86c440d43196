"""Messages of any recorded shape become messages of one kind, alike for alike.

Roles are system, user, assistant and tool; every tool result is a message of role tool of its own; no empty texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from .beside import calls_beside, media_beside, reasoning_beside, result_of, tool_content, with_calls
from .blocks import is_cut, read_block, read_parts, said
from .flat import message_object
from .nested import REDACTED, decode, string
from .parts import Message, Part, PartKind, unwrapped
from .tool_blocks import Parts, call_part

ROLES: Final[dict[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
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
_PYDANTIC: Final[dict[str, str]] = {
    "system-prompt": "system",
    "user-prompt": "user",
    "tool-return": "tool",
    "retry-prompt": "tool",
}
UNKNOWN: Final = "unknown"
"""The role of what names none and has no content that would tell."""


def role_of(word: JsonValue) -> str | None:
    """A role in the convention's word; a word of no known role as it stands; None for none."""
    if not isinstance(word, str) or not word:
        return None
    return ROLES.get(word.removeprefix("MessageRole.").removeprefix("ChatRole.").lower(), word)


def item_role(kind: JsonValue) -> str | None:
    """Whose an item of OpenAI Responses is that stands without a role; None for what is no such item."""
    if not isinstance(kind, str):
        return None
    if kind.endswith("_call_output"):
        return "tool"
    if kind in ("reasoning", "mcp_list_tools", "mcp_approval_request") or kind.endswith("_call"):
        return "tool" if kind == "tool_call" else "assistant"
    return "user" if kind == "mcp_approval_response" else None


def read_messages(value: JsonValue, role: str | None = None) -> list[Message]:
    """Messages from a message, a list of them, a batch of lists, an object with `messages`, or plain text.

    `role` is taken where a message names none. Items of one answer that stand apart are one message.
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
    return isinstance(value, dict) and "role" not in value and item_role(value.get("type")) is not None


def continues(value: JsonValue) -> bool:
    """Whether a recorded message may be a piece of the one before it: an item of OpenAI Responses, with a role or
    without."""
    return is_item(value) or (isinstance(value, dict) and value.get("type") == "message")


def _is_pair(value: JsonValue) -> bool:
    """LangChain's `("user", "text")`."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0].lower() in ROLES


def read_message(value: JsonValue, role: str | None = None, *, stand_ins: bool = False) -> list[Message]:
    """One recorded message as messages: more than one where it holds tool results, none where it says nothing.

    A text that stands for one that was redacted says nothing, unless `stand_ins` asks for it.
    """
    out: list[Message] = []
    for message in _read(value, role):
        if any(part.text == "" or part.text in REDACTED for part in message.parts):
            message.parts = [
                part for part in message.parts if part.text != "" and (stand_ins or part.text not in REDACTED)
            ]
            if not message.parts and message.role != "assistant" and message.finish_reason is None:
                continue
        out.append(message)
    return out


def _read(value: JsonValue, role: str | None) -> list[Message]:
    if isinstance(value, str):
        return [Message(role or "user", read_parts(value))]
    if _is_pair(value) and isinstance(value, list):
        return [Message(ROLES[value[0].lower()], read_parts(value[1]))]
    if isinstance(value, list):
        return [message for item in value for message in _read(item, role)]
    if not isinstance(value, dict):
        return []
    return _read_object(value, role)


def _read_object(value: JsonObject, role: str | None) -> list[Message]:
    kind = value.get("type")
    if value.get("lc") is not None and isinstance(value.get("kwargs"), dict):
        path = value.get("id")
        cls = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
        return _read_object(
            {**value["kwargs"], "type": None}, role_of_class(cls) or role_of(value["kwargs"].get("type"))
        )
    if isinstance(value.get("data"), dict) and isinstance(kind, str) and kind.lower() in ROLES and "role" not in value:
        return _read_object({**value["data"], "type": None}, role_of(kind))
    if "message.role" in value or "message.content" in value:
        return _read_object(message_object({key.removeprefix("message."): value[key] for key in value}), role)
    inner = value.get("message")
    if isinstance(inner, (dict, list)) and "parts" not in value and "content" not in value:
        found = _read(inner, role or role_of(value.get("role")))
        reason = string(value.get("finish_reason"))
        if found and reason is not None and found[-1].finish_reason is None:
            found[-1].finish_reason = reason
        return found
    if value.get("kind") in ("request", "response") and isinstance(value.get("parts"), list) and "role" not in value:
        return _pydantic(value)
    own = item_role(kind) if "role" not in value else None
    if own is not None:
        return _split(own, read_block(value), value, None)
    word = value.get("role")
    if word is None and isinstance(kind, str) and (kind.lower() in ROLES or kind in _CLASSES or "Message" in kind):
        word = role_of_class(kind) or kind
    who = role_of(word) or role or _told_by_content(value)
    parts = _parts(value, who or "user")
    if who is None:
        who = _told_by_parts(value, parts)
    return _split(who, parts, value, string(value.get("finish_reason")))


def _pydantic(value: JsonObject) -> list[Message]:
    """Pydantic AI's own messages: each part of a request has a role of its own."""
    out: list[Message] = []
    answer: Parts = []
    for item in value["parts"]:
        kind = item.get("part_kind") if isinstance(item, dict) else None
        who = _PYDANTIC.get(kind) if isinstance(kind, str) else None
        if who is None:
            answer.extend(read_parts(item))
        else:
            out.extend(_split(who, read_parts(item), None, None))
    if answer or value["kind"] == "response":
        out.extend(_split("assistant" if value["kind"] == "response" else "user", answer, None, None))
    if out:
        out[-1].raw = value
        out[-1].finish_reason = string(value.get("finish_reason"))
    return out


def role_of_class(word: str) -> str | None:
    """The role of a LangChain message class (`AIMessageChunk` is an `AIMessage`)."""
    return _CLASSES.get(word.removesuffix("Chunk"))


def _told_by_content(value: Mapping[str, Any]) -> str | None:
    if value.get("tool_call_id") is not None:
        return "tool"
    return "assistant" if value.get("tool_calls") else None


def _told_by_parts(value: Mapping[str, Any], parts: Parts) -> str:
    """A message without a role is the user's where it says something; a lone call is the assistant's."""
    if not parts:
        return "user" if "content" in value or "text" in value else UNKNOWN
    if all(part.kind in (PartKind.TOOL_CALL, PartKind.REASONING) for part in parts):
        return "assistant"
    return UNKNOWN if all(part.kind is PartKind.OTHER for part in parts) else "user"


_CONTENT: Final = ("parts", "content", "contents", "blocks", "_content", "text", "items")


def _parts(value: JsonObject, role: str) -> Parts:
    """All that a message object says, in reading order: reasoning, content, refusal, calls."""
    key = next((key for key in _CONTENT if value.get(key) is not None), None)
    content = None if key is None else value[key]
    if key is None and isinstance(value.get("message"), str):  # Cohere's first API
        content = value["message"]
    if role == "tool" and "parts" not in value:
        parts = tool_content(value, content)
    elif _is_part(value, key is None and content is None):
        parts = read_block(value)
    elif isinstance(content, dict) and is_cut(content):
        parts = [said(PartKind.TEXT, content)]
    else:
        parts = read_parts(content)
    more = value.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    if not any(part.kind is PartKind.REASONING for part in parts):
        parts[:0] = reasoning_beside(value, more)
    for holder in (value, more):
        refusal = holder.get("refusal")
        if isinstance(refusal, str) and refusal and not any(part.kind is PartKind.REFUSAL for part in parts):
            parts.append(Part(PartKind.REFUSAL, text=refusal))
    parts += media_beside(value)
    return with_calls(parts, [call_part(call) for call in calls_beside(value, more)])


def _is_part(value: JsonObject, empty: bool) -> bool:
    """Whether what stands for a message is a part that stands alone: a blob, or a typed object without content."""
    if value.get("type") == "blob":
        return "role" not in value
    return empty and isinstance(value.get("type"), str) and not _has_calls(value)


def _has_calls(value: JsonObject) -> bool:
    return any(value.get(key) for key in ("tool_calls", "toolCalls", "invalid_tool_calls", "function_call", "role"))


def _split(role: str, parts: Parts, value: JsonObject | None, reason: str | None) -> list[Message]:
    """Tool results leave the message that carried them, each as a message of its own."""
    item = value is not None and "role" not in value and item_role(value.get("type")) is not None
    name = None if value is None or item or role in ("assistant", "tool") else string(value.get("name"))
    if role == "tool" and value is not None and parts and not any(part.kind in _OF_TOOLS for part in parts):
        content: JsonValue = [part.to_json() for part in parts]
        if len(parts) == 1:
            content = parts[0].said if parts[0].text is not None else parts[0].raw
        parts = [result_of(value, unwrapped(content))]
    out: list[Message] = []
    rest: Parts = []
    for part in parts:
        if part.kind is PartKind.TOOL_RESULT and not part.hosted:
            out.append(Message("tool", [part]))
        else:
            rest.append(part)
    if rest or (not out and (reason is not None or role == "assistant")):
        out.append(Message(role if role != "tool" or not out else "user", rest, name, reason))
    if out and value is not None and not item:
        out[-1].raw = value
    return out


_OF_TOOLS: Final = (PartKind.TOOL_RESULT, PartKind.TOOL_CALL)


def read_system(value: JsonValue) -> Parts:
    """Instructions that stand apart, as parts."""
    value = decode(value, repair=False).value
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) and ("role" in item or "parts" in item or "lc" in item) for item in items):
        return [part for message in read_messages(value, "system") for part in message.parts]
    return [part for part in read_parts(value) if part.text != "" and part.text not in REDACTED]


def system_value(value: JsonValue) -> JsonValue:
    """Instructions that stand apart: their text where they are text alone, else the parts."""
    parts = read_system(value)
    if parts and all(part.kind is PartKind.TEXT for part in parts):
        return "\n".join(str(part.text) for part in parts)
    return [part.to_json() for part in parts] or None
