"""Messages of the retyped schema to OTLP/JSON objects, as the protocol's JSON encoding writes them.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: lowerCamelCase names, ids hexadecimal, enums as
integers, 64-bit integers as decimal strings, defaults omitted, values that were set kept even when empty.
"""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from ..canonical import JsonObject, JsonValue
from .ids import SPAN_BYTES, TRACE_BYTES, id_from_bytes
from .schema import OLD_SCOPE_FIELD, schema

_INT64: Final = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
}
_FLOAT: Final = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT}
_IDS: Final = {"trace_id": TRACE_BYTES, "span_id": SPAN_BYTES, "parent_span_id": SPAN_BYTES}

Plan = dict[int, tuple[str, bool, Callable[[Any], JsonValue]]]


class Converter:
    """One record's messages to JSON objects; what had to be repaired is counted in `notes`."""

    def __init__(self, notes: Counter[str]) -> None:
        self._notes = notes
        self._plans: dict[str, Plan] = {}
        self._text_fields = schema().text_fields

    def message(self, message: Any, *, without: tuple[str, ...] = ()) -> JsonObject:
        """Every set field of a message, in field order. `without` names fields to leave out."""
        descriptor = message.DESCRIPTOR
        plan = self._plans.get(descriptor.full_name)
        if plan is None:
            plan = self._plans.setdefault(descriptor.full_name, self._plan(descriptor))
        out: JsonObject = {}
        for field, value in message.ListFields():
            name, repeated, convert = plan[field.number]
            if name in without:
                continue
            out[name] = [convert(item) for item in value] if repeated else convert(value)
        return out

    def attributes(self, pairs: Any) -> list[JsonValue]:
        return [self._pair(pair) for pair in pairs]

    def text(self, raw: bytes) -> str:
        """UTF-8, bytes that are none replaced and noted."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self._notes["invalid-utf-8"] += 1
            return raw.decode("utf-8", "replace")

    def _plan(self, descriptor: Any) -> Plan:
        plan: Plan = {}
        for field in descriptor.fields:
            if field.number == OLD_SCOPE_FIELD:
                continue
            plan[field.number] = (field.json_name, bool(field.is_repeated), self._converter(field))
        return plan

    def _converter(self, field: Any) -> Callable[[Any], JsonValue]:
        if field.message_type is not None:
            special = {"AnyValue": self.any_value, "KeyValue": self._pair}.get(field.message_type.name)
            return self.message if special is None else special
        if field.full_name in self._text_fields:
            return self.text
        if field.type == FieldDescriptor.TYPE_BYTES:
            size = _IDS.get(field.name)
            return _base64 if size is None else lambda raw: self._id(raw, size)
        if field.type in _INT64:
            return str
        if field.type in _FLOAT:
            return _number
        return _same

    def _id(self, raw: bytes, size: int) -> str:
        found = id_from_bytes(raw, size, self._notes)
        return raw.hex() if found is None else found

    def _pair(self, pair: Any) -> JsonObject:
        out: JsonObject = {"key": self.text(pair.key)}
        if pair.HasField("value"):
            out["value"] = self.any_value(pair.value)
        return out

    def any_value(self, value: Any) -> JsonObject:
        which = value.WhichOneof("value")
        if which is None:
            return {}
        content = getattr(value, which)
        if which == "string_value":
            return {"stringValue": self.text(content)}
        if which == "int_value":
            return {"intValue": str(content)}
        if which == "bool_value":
            return {"boolValue": content}
        if which == "double_value":
            return {"doubleValue": _number(content)}
        if which == "array_value":
            array = self._nested(content, schema(lazy=True).array)
            return {"arrayValue": {"values": [self.any_value(item) for item in array.values]} if array.values else {}}
        if which == "kvlist_value":
            kvlist = self._nested(content, schema(lazy=True).kvlist)
            return {"kvlistValue": {"values": self.attributes(kvlist.values)} if kvlist.values else {}}
        if which == "bytes_value":
            return {"bytesValue": _base64(content)}
        return {"stringValueStrindex": content}

    def _nested(self, content: Any, cls: Any) -> Any:
        """The nested message itself, or read from its bytes where the lazy schema left them."""
        if not isinstance(content, bytes):
            return content
        try:
            return cls.FromString(content)
        except DecodeError:
            self._notes["unreadable-values"] += 1
            return cls()


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _same(value: Any) -> JsonValue:
    return value  # type: ignore[no-any-return]
