"""Messages and tools of any recorded shape to OpenAI chat messages and function tools, for formats that are built on
them. The shapes are those of chat completions, Responses, Anthropic, Gemini, Bedrock and the GenAI conventions."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonError, JsonObject, JsonValue, dumps, loads
from ..messages import fold, media_of
from .jsonstream import text_of

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool"}
_TEXT = ("text", "input_text", "output_text")
_KEPT = ("image_url", "input_audio", "file")
_CALLS = ("tool_use", "tool_call", "function_call", "custom_tool_call", "tool-call")
_RESULTS = ("tool_result", "tool_call_response", "function_call_output", "custom_tool_call_output", "tool-result")


@dataclass(slots=True)
class Spoken:
    """One message taken apart."""

    role: str
    content: list[JsonValue] = field(default_factory=list)
    """Texts, and parts that a chat message can hold as they are."""
    calls: list[JsonObject] = field(default_factory=list)
    results: list[tuple[JsonValue, JsonValue]] = field(default_factory=list)
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
    system = request.get("system")
    if system is not None:
        spoken = Spoken("system")
        _content(spoken, system.get("parts", system) if isinstance(system, dict) else system, chat.problems)
        _emit(spoken, chat, merge=False)
    messages = request.get("messages")
    if has_cut(messages) or has_cut(system):
        chat.problems.append("content.truncated")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, str):
            chat.messages.append({"role": "user", "content": message})
        elif isinstance(message, dict):
            _message(message, chat)
        else:
            chat.problems.append("message.unknown")
    return chat


def calls_of(output: JsonObject) -> list[JsonObject]:
    """The tool calls a step emitted."""
    calls = output.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def has_cut(value: JsonValue) -> bool:
    """Whether a value that was over the limit stands somewhere inside as size, digest and head."""
    if isinstance(value, dict):
        cut = value.get("truncated") is True and "sha256" in value and "head" in value
        return cut or any(has_cut(item) for item in value.values())
    return any(has_cut(item) for item in value) if isinstance(value, list) else False


def answer_of(output: JsonObject) -> JsonObject:
    """The assistant message a step's output makes; `content` is None where no text was recorded."""
    text = output.get("text")
    out: JsonObject = {"role": "assistant", "content": None if text is None else text_of(text)}
    if isinstance(output.get("refusal"), str):
        out["refusal"] = output["refusal"]
    calls = [_call(call.get("id"), call.get("name"), call.get("arguments")) for call in calls_of(output)]
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


def _call(call_id: JsonValue, name: JsonValue, arguments: JsonValue) -> JsonObject:
    text = arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments).decode("utf-8")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _message(message: JsonObject, chat: Chat) -> None:
    kind = message.get("type")
    if kind == "item_reference":
        chat.problems.append("message.item_reference")
        return
    item = "role" not in message and isinstance(kind, str)
    role = message.get("role", "user" if isinstance(kind, str) and kind in _RESULTS else "assistant")
    spoken = Spoken(_ROLES.get(str(role), str(role)))
    spoken.name = message["name"] if isinstance(message.get("name"), str) and not item else None
    if item:
        _block(spoken, message, chat.problems)
    else:
        _content(spoken, message.get("parts", message.get("content")), chat.problems)
        emitted = message.get("tool_calls")
        for call in emitted if isinstance(emitted, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            source = function if isinstance(function, dict) else call if isinstance(call, dict) else {}
            call_id = call.get("id") if isinstance(call, dict) else None
            spoken.calls.append(_call(call_id, source.get("name"), source.get("arguments", source.get("args"))))
        if spoken.role == "tool" and not spoken.results:
            spoken.results.append((message.get("tool_call_id"), _lone(spoken.content)))
            spoken.content = []
        for key in ("reasoning_content", "reasoning"):
            if isinstance(message.get(key), str):
                spoken.reasoning.append(message[key])
                break
    _emit(spoken, chat, merge=item or kind == "message")


def _content(spoken: Spoken, content: JsonValue, problems: list[str]) -> None:
    if isinstance(content, list):
        for block in content:
            _block(spoken, block, problems)
    elif content is not None:
        _block(spoken, content, problems)


def _block(spoken: Spoken, block: JsonValue, problems: list[str]) -> None:
    if isinstance(block, str):
        spoken.content.append(block)
        return
    if not isinstance(block, dict):
        problems.append("content.unknown")
        return
    kind = block.get("type")
    call = next(
        (block[k] for k in ("functionCall", "function_call", "toolUse") if isinstance(block.get(k), dict)), None
    )
    reply = next(
        (block[k] for k in ("functionResponse", "function_response", "toolResult") if isinstance(block.get(k), dict)),
        None,
    )
    if kind in _CALLS:
        call_id = _first(block, "call_id", "tool_use_id", "toolCallId", "id")
        spoken.calls.append(
            _call(call_id, _first(block, "name", "toolName"), _first(block, "arguments", "input", "args"))
        )
    elif kind in _RESULTS:
        call_id = _first(block, "tool_use_id", "call_id", "toolCallId", "id")
        spoken.results.append((call_id, _first(block, "content", "response", "result", "output")))
    elif call is not None:
        arguments = _first(call, "args", "input")
        spoken.calls.append(_call(_first(call, "id", "toolUseId"), call.get("name"), arguments))
    elif reply is not None:
        spoken.results.append((_first(reply, "id", "toolUseId"), _first(reply, "response", "content")))
    elif kind in ("thinking", "reasoning", "redacted_thinking") or block.get("thought") is True:
        spoken.reasoning += _thoughts(block)
    elif kind in _TEXT or (kind is None and isinstance(block.get("text"), str)):
        spoken.content.append(text_of(_first(block, "text", "content")))
    elif kind == "message":
        _content(spoken, block.get("content"), problems)
    elif kind == "refusal":
        spoken.content.append(text_of(_first(block, "refusal", "content")))
    elif kind in _KEPT:
        spoken.content.append(block)
    elif (part := _media(block)) is not None:
        spoken.content.append(part)
    else:
        problems.append(f"content.{kind if isinstance(kind, str) else 'unknown'}")


def _media(block: JsonObject) -> JsonObject | None:
    """A picture, sound or document of any recorded shape as a part of a chat message; None where that has no place."""
    media = media_of(block)
    if media is None:
        return None
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


def _first(block: JsonObject, *keys: str) -> JsonValue:
    for key in keys:
        value: JsonValue = block.get(key)
        if value is not None:
            return value
    return None


def _thoughts(block: JsonObject) -> list[str]:
    found = [block[key] for key in ("thinking", "text", "content") if isinstance(block.get(key), str)]
    for part in block.get("summary") or [] if isinstance(block.get("summary"), list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            found.append(part["text"])
    return found


def _lone(content: list[JsonValue]) -> JsonValue:
    """Texts alone are one text; with other parts between them the list stays."""
    if all(isinstance(part, str) for part in content):
        return "".join(str(part) for part in content)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]


def _result_text(value: JsonValue) -> str:
    if isinstance(value, list) and value and all(_is_text(part) for part in value):
        return "".join(part if isinstance(part, str) else text_of(_first(part, "text", "content")) for part in value)
    return text_of(fold(value))


def _is_text(part: JsonValue) -> bool:
    if isinstance(part, str):
        return True
    return isinstance(part, dict) and (part.get("type") in _TEXT or set(part) == {"text"})


def _emit(spoken: Spoken, chat: Chat, *, merge: bool) -> None:
    for call_id, result in spoken.results:
        chat.messages.append({"role": "tool", "tool_call_id": call_id, "content": _result_text(result)})
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
