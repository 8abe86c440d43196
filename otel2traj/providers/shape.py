"""Decoded bodies of any shape to the few values a provider asks for; nothing here raises."""

from __future__ import annotations

from collections.abc import Iterable

from ..canonical import JsonError, JsonObject, JsonValue, loads, sha256_canonical
from ..messages import Output, Usage
from ..model.reading import ModelRequest, ModelResponse, ResponseGlance


class Pieces(list[str]):
    """Text that still arrives; a type of its own, so that a list in the payload is never taken for one."""

    def text(self) -> str:
        return "".join(self)


def obj(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def objs(value: JsonValue) -> list[JsonObject]:
    """The objects in a list; whatever else stands in it is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def count(value: JsonValue) -> int | None:
    """A token count. Servers that write `12.0` mean 12; booleans and fractions are no counts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def place(value: JsonValue) -> int | str | None:
    """An index of a stream delta, where it can serve as a key."""
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None


def joined(parts: Iterable[str | None], between: str = "") -> str | None:
    """All recorded texts in order; None when there was none, so that "" stays an answer."""
    found = [part for part in parts if part is not None]
    return between.join(found) if found else None


def total(*parts: int | None) -> int | None:
    """The sum of what was recorded; None when nothing was."""
    found = [part for part in parts if part is not None]
    return sum(found) if found else None


def decoded(arguments: JsonValue) -> JsonValue:
    """Arguments as the decoded value where they are valid JSON text, else as they stand."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return loads(arguments)
    except JsonError:
        return arguments


def error_of(value: JsonValue) -> JsonObject | None:
    """A provider's error object; a bare text becomes `{"message": text}`."""
    if isinstance(value, dict):
        return value
    return {"message": value} if isinstance(value, str) and value else None


def content_digest(content: JsonValue) -> str:
    """SHA-256 of a reported tool result in canonical JSON. One lone text block counts as its text, since clients write
    the same result both ways."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        only = content[0]
        if only.get("type") in ("text", "input_text", "output_text") or set(only) == {"text"}:
            text = only.get("text")
            content = text if isinstance(text, str) else content
    return sha256_canonical(content)


def split_request(payload: JsonObject, messages: str, *, system: str | None, tools: str = "tools") -> ModelRequest:
    """Messages, system, tools and model under their own keys; the rest of the request is its parameters."""
    found = payload.get(messages)
    model = string(payload.get("model"))
    taken = {tools, system}
    if isinstance(found, list):
        taken.add(messages)
    if model is not None:
        taken.add("model")
    return ModelRequest(
        messages=found if isinstance(found, list) else None,
        system=payload.get(system) if system is not None else None,
        tools=payload.get(tools),
        model=model,
        parameters={key: value for key, value in payload.items() if key not in taken},
    )


def in_order(choices: list[JsonObject]) -> list[tuple[int, JsonObject]]:
    """Choices with their index, in its order; one without an index has its place."""
    told = [(n if (index := count(choice.get("index"))) is None else index, choice) for n, choice in enumerate(choices)]
    return sorted(told, key=lambda item: item[0])


def call_arguments(recorded: JsonValue, *, ended: bool = True) -> JsonValue:
    """Decoded arguments; a call that ended without any has `{}`, whether they were left out or "" stands for them."""
    if ended and (recorded is None or recorded == ""):
        return {}
    return decoded(recorded)


def unread(payload: JsonValue) -> ModelResponse:
    """A body that is not what the provider sends: kept as it stands, and not complete."""
    output = (
        Output()
        if payload is None
        else Output(other_parts=[payload if isinstance(payload, dict) else {"body": payload}])
    )
    return ModelResponse(output=output, complete=False, unread=payload is not None)


def usage_with_raw(raw: JsonValue, usage: Usage) -> Usage | None:
    if raw is None:
        return None
    usage.raw = raw
    return usage


def glance_of(response: ModelResponse) -> ResponseGlance:
    output = response.output
    return ResponseGlance(response.response_id, output.model, output.all_tool_calls(), output.text)
