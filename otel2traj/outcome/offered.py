"""The tools that a model was offered: their names, what their schemas say, and how a call departs from that."""

from __future__ import annotations

from typing import Any

from ..canonical import JsonError, JsonObject, JsonValue, loads


class Offered:
    """The tools of one request. `known` is False where none were recorded: then nothing can be said of a call."""

    def __init__(self, tools: JsonValue) -> None:
        self.known = False
        self._schemas: dict[str, JsonObject] = {}
        self._free: set[str] = set()
        """Names of tools that take text, not JSON."""
        for item in _items(tools):
            name = _name(item)
            if name is None:
                continue
            self.known = True
            self._schemas[name] = _schema(item)
            if item.get("type") == "custom" or _name(item.get("custom")) is not None:
                self._free.add(name)

    def has(self, name: str) -> bool:
        return name in self._schemas

    def takes_text(self, name: str | None) -> bool:
        return name in self._free

    def departure(self, name: str | None, arguments: JsonValue) -> str | None:
        """How an object of arguments goes against the offered schema, in words, or None. Only what a schema of
        plain properties says: missing required ones, and undeclared ones."""
        schema: Any = self._schemas.get(name or "")
        if not schema or not isinstance(arguments, dict):
            return None
        properties = schema.get("properties")
        if (
            not isinstance(properties, dict)
            or not properties
            or any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf"))
        ):
            return None
        required = schema.get("required")
        missing = [key for key in required if isinstance(key, str) and key not in arguments] if required else []
        if missing:
            return f"required and not given: {', '.join(missing)}"
        open_ended = schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema
        more = [] if open_ended else [key for key in arguments if key not in properties]
        return f"not declared: {', '.join(map(str, more))}" if more else None


def unparsable(arguments: JsonValue) -> bool:
    """Whether arguments stayed text because they are no JSON. No text at all is how some write "no arguments"."""
    if not isinstance(arguments, str) or not arguments.strip():
        return False
    try:
        loads(arguments)
    except JsonError:
        return True
    return False


def _items(tools: JsonValue) -> list[JsonObject]:
    if isinstance(tools, dict):
        tools = tools["tools"] if isinstance(tools.get("tools"), list) else [tools]
    out: list[JsonObject] = []
    for item in tools if isinstance(tools, list) else []:
        if not isinstance(item, dict):
            continue
        many = next(
            (item[key] for key in ("functionDeclarations", "function_declarations") if isinstance(item.get(key), list)),
            None,
        )
        out.extend(one for one in many if isinstance(one, dict)) if many is not None else out.append(item)
    return out


def _name(item: JsonValue) -> str | None:
    if not isinstance(item, dict):
        return None
    for holder in (item, item.get("function"), item.get("toolSpec"), item.get("custom")):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str) and holder["name"]:
            return str(holder["name"])
    kind = item.get("type")
    return kind if isinstance(kind, str) and kind not in ("function", "custom") else None


def _schema(item: JsonObject) -> JsonObject:
    holders = [item, item.get("function"), item.get("toolSpec")]
    for holder in holders:
        if not isinstance(holder, dict):
            continue
        for key in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"):
            found = holder.get(key)
            if isinstance(found, dict):
                inner = found.get("json")
                return inner if isinstance(inner, dict) else found
    return {}
