"""Messages and tools of any recorded shape to OpenAI chat messages and function tools, for formats that are built on
them. The shapes are those of chat completions, Responses, Anthropic, Gemini, Bedrock and the GenAI conventions."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonError, JsonObject, JsonValue, loads
from ..messages import (
    UNKNOWN,
    Media,
    Message,
    Part,
    PartKind,
    arguments_text,
    continues,
    emitted,
    fold,
    read_instructions,
    read_parts,
    read_request,
)
from .jsonstream import text_of


@dataclass(slots=True)
class Spoken:
    """One message taken apart."""

    role: str
    content: list[JsonValue] = field(default_factory=list)
    """Texts, and parts that a chat message can hold as they are."""
    calls: list[JsonObject] = field(default_factory=list)
    results: list[Part] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    name: str | None = None


@dataclass(slots=True)
class Chat:
    """`problems` names what could not be carried over, e.g. `content.document`."""

    messages: list[JsonObject] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def chat_of(request: JsonObject) -> Chat:
    """The messages of a step's input, with a system that stood apart first."""
    chat = Chat()
    given = request.get("messages")
    recorded = given if isinstance(given, list) else [] if given is None else [given]
    instructions = read_instructions(request.get("system"))
    if instructions:
        _emit(_spoken(Message("system", instructions), chat.problems), chat, merge=False)
    if has_cut(recorded) or has_cut(request.get("system")):
        chat.problems.append("content.truncated")
    for message in read_request(recorded):
        if message.role == UNKNOWN:
            chat.problems.append(f"message.{_kind(message.parts[0]) if message.parts else UNKNOWN}")
            continue
        merge = message.at is not None and continues(recorded[message.at])
        _emit(_spoken(message, chat.problems), chat, merge=merge)
    return chat


def calls_of(output: JsonObject) -> list[JsonObject]:
    """The tool calls a step emitted."""
    calls = output.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def has_cut(value: JsonValue) -> bool:
    """Whether a value that was over the limit stands somewhere inside as size, digest and head."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if one.get("truncated") is True and "sha256" in one and "head" in one:
                return True
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
    return False


def answer_of(output: JsonObject) -> JsonObject:
    """The assistant message a step's output makes; `content` is None where no text was recorded."""
    text = output.get("text")
    out: JsonObject = {"role": "assistant", "content": None if text is None else text_of(text)}
    if isinstance(output.get("refusal"), str):
        out["refusal"] = output["refusal"]
    calls = [_call(call) for call in emitted(output)]
    if calls:
        out["tool_calls"] = calls
    return out


def tools_of(tools: JsonValue) -> tuple[list[JsonObject], list[str]]:
    """Function tools in the chat form, and the names or types of tools that are no functions."""
    out: list[JsonObject] = []
    other: list[str] = []
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, dict):
            continue
        declared = tool.get("functionDeclarations", tool.get("function_declarations"))
        spec = tool.get("toolSpec")
        if isinstance(tool.get("function"), dict):
            out.append(_function(tool["function"]))
        elif isinstance(declared, list):
            out += [_function(one) for one in declared if isinstance(one, dict)]
        elif isinstance(spec, dict):
            schema = spec.get("inputSchema")
            out.append(_function({**spec, "parameters": schema.get("json") if isinstance(schema, dict) else None}))
        elif isinstance(tool.get("name"), str) and ("input_schema" in tool or tool.get("type") in (None, "function")):
            out.append(_function(tool))
        else:
            other.append(str(tool.get("type", tool.get("name", "unknown"))))
    return out, other


def arguments_object(arguments: JsonValue) -> JsonObject | None:
    """Arguments as an object, decoded where they are JSON text; None where they are no object."""
    value = arguments
    if isinstance(value, str):
        try:
            value = loads(value)
        except JsonError:
            return None
    return value if isinstance(value, dict) else None


def _function(source: JsonObject) -> JsonObject:
    function: JsonObject = {"name": source.get("name")}
    if source.get("description") is not None:
        function["description"] = source["description"]
    for key in ("parameters", "input_schema", "parametersJsonSchema"):
        if isinstance(source.get(key), dict):
            function["parameters"] = source[key]
            break
    if source.get("strict") is not None:
        function["strict"] = source["strict"]
    return {"type": "function", "function": function}


def _call(call: Part) -> JsonObject:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}


def _spoken(message: Message, problems: list[str]) -> Spoken:
    spoken = Spoken(message.role, name=message.speaker)
    for part in message.parts:
        if part.kind is PartKind.TOOL_CALL and not part.hosted:
            spoken.calls.append(_call(part))
        elif part.kind is PartKind.TOOL_RESULT and not part.hosted:
            spoken.results.append(part)
        elif part.kind is PartKind.REASONING:
            spoken.reasoning += [] if part.text is None else [text_of(part.said)]
        elif part.text is not None:
            spoken.content.append(text_of(part.said))
        elif (held := _media(part)) is not None:
            spoken.content.append(held)
        elif part.stands:
            problems.append(f"content.{_kind(part)}")
    return spoken


def _kind(part: Part) -> str:
    """The producer's own word for a part that a chat message has no place for."""
    word = part.raw.get("type") if isinstance(part.raw, dict) else None
    return word if isinstance(word, str) else UNKNOWN


def _media(part: Part) -> JsonObject | None:
    """A picture, sound or document of any recorded shape as a part of a chat message; None where that has no place."""
    if _kind(part) in _KEPT:
        return part.raw if isinstance(part.raw, dict) else None
    media = part.media
    return None if media is None else _media_part(media)


_KEPT = ("image_url", "input_audio", "file")
"""Parts that are those of a chat message already."""


def _media_part(media: Media) -> JsonObject | None:
    mime = media.mime_type or ""
    if media.modality == "image" and (media.data or media.uri):
        url = media.uri if media.data is None else f"data:{mime or 'image/png'};base64,{media.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if media.modality == "audio" and media.data is not None and mime.rpartition("/")[2] in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[mime.rpartition("/")[2]]}}
    if media.modality == "document" and media.data is not None and mime:
        name = {"filename": media.name} if media.name is not None else {}
        return {"type": "file", "file": {**name, "file_data": f"data:{mime};base64,{media.data}"}}
    if media.file_id is not None and media.modality != "image":
        return {"type": "file", "file": {"file_id": media.file_id}}
    return None


_SOUNDS = {"wav": "wav", "x-wav": "wav", "wave": "wav", "mp3": "mp3", "mpeg": "mp3"}


def _lone(content: list[JsonValue]) -> JsonValue:
    """Texts alone are one text; with other parts between them the list stays."""
    if all(isinstance(part, str) for part in content):
        return "".join(str(part) for part in content)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]


def _result_text(result: Part) -> str:
    inside = read_parts(result.value) if isinstance(result.value, list) else []
    if inside and all(part.kind is PartKind.TEXT for part in inside):
        return "".join(text_of(part.said) for part in inside)
    return text_of(fold(result.answer))


def _emit(spoken: Spoken, chat: Chat, *, merge: bool) -> None:
    for result in spoken.results:
        chat.messages.append({"role": "tool", "tool_call_id": result.id, "content": _result_text(result)})
    if spoken.role == "tool" or not (spoken.content or spoken.calls or spoken.reasoning or not spoken.results):
        return
    last = chat.messages[-1] if chat.messages else {}
    if merge and spoken.role == "assistant" and last.get("role") == "assistant":
        if spoken.content:
            held = last.get("content")
            last["content"] = (
                text_of(held) + text_of(_lone(spoken.content)) if held is not None else _lone(spoken.content)
            )
        if spoken.calls:
            last["tool_calls"] = [*last.get("tool_calls", []), *spoken.calls]
        if spoken.reasoning:
            last["reasoning_content"] = "\n".join(
                [*([last["reasoning_content"]] if "reasoning_content" in last else []), *spoken.reasoning]
            )
        return
    message: JsonObject = {"role": spoken.role}
    assistant = spoken.role == "assistant"
    message["content"] = _lone(spoken.content) if spoken.content or not assistant else None
    if spoken.name is not None:
        message["name"] = spoken.name
    if spoken.reasoning:
        message["reasoning_content"] = "\n".join(spoken.reasoning)
    if spoken.calls:
        message["tool_calls"] = spoken.calls
    chat.messages.append(message)
