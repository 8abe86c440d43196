"""OTLP `AnyValue` and `KeyValue` lists in JSON, decoded when somebody looks.

`bytesValue` becomes `{"base64": text}`, numbers that are not finite become `"NaN"`, `"Infinity"` and `"-Infinity"`, an
empty value becomes None, `doubleValue` is a float and `intValue` an exact int of any size.
https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/common/v1/common.proto
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from .canonical import JsonError, JsonObject, JsonValue, loads_evidence, loads_tolerant

NOTHING: Final = Raw(b"{}")


class _Text(Struct, gc=False, forbid_unknown_fields=True):
    stringValue: str


class _Value(Struct, gc=False, forbid_unknown_fields=True):
    stringValue: str | None = None
    intValue: Any = None
    doubleValue: Any = None
    boolValue: Any = None
    arrayValue: Any = None
    kvlistValue: Any = None
    bytesValue: Any = None


class _Pair(Struct, gc=False):
    key: str = ""
    value: _Value | None = None


class _RawPair(Struct, gc=False):
    key: str = ""
    value: Raw = NOTHING


_text = msgspec.json.Decoder(_Text).decode
_decode_pairs = msgspec.json.Decoder(list[_Pair] | None).decode
_decode_raw_pairs = msgspec.json.Decoder(list[_RawPair] | None).decode
_fields = attrgetter(*_Value.__struct_fields__)
_NO_OTHER: Final = (None,) * 6

_NON_FINITE: Final = {"nan": "NaN", "infinity": "Infinity", "-infinity": "-Infinity", "inf": "Infinity"}

_SNAKE: Final = {
    "string_value": "stringValue",
    "bool_value": "boolValue",
    "int_value": "intValue",
    "double_value": "doubleValue",
    "array_value": "arrayValue",
    "kvlist_value": "kvlistValue",
    "bytes_value": "bytesValue",
    "StringValue": "stringValue",
    "BoolValue": "boolValue",
    "IntValue": "intValue",
    "DoubleValue": "doubleValue",
    "ArrayValue": "arrayValue",
    "KvlistValue": "kvlistValue",
    "BytesValue": "bytesValue",
}
"""Field names in other spellings: protobuf's own, and those of Go's structs as plain JSON."""

FIELDS: Final = frozenset((*_SNAKE, *_SNAKE.values()))
"""Every name under which the one field of an `AnyValue` may stand."""

_GO_ONEOF: Final = "Value"
"""The member that holds the one field that is set where Go's structs were written as plain JSON."""


class OddAttributes(dict[str, Any]):
    """Attributes some of which hold a value of no known kind: it stands as it was recorded, and `odd` names it; or
    whose list names a key more than once: the last stands, and `repeated` has the values before it."""

    def __init__(
        self, values: Mapping[str, Any], odd: Iterable[str] = (), repeated: Mapping[str, list[Any]] | None = None
    ) -> None:
        super().__init__(values)
        self.odd = tuple(dict.fromkeys(odd))
        self.repeated = dict(repeated or {})


def decode_raw(raw: Raw | bytes | memoryview) -> JsonValue:
    """The value of one `AnyValue` given as JSON bytes; None where it is empty or cannot be decoded at all."""
    try:
        return _text(raw).stringValue
    except (msgspec.DecodeError, UnicodeDecodeError):
        return decode_any(_loaded(raw))


def decode_any(value: JsonValue, odd: list[str] | None = None) -> JsonValue:
    """The value of one `AnyValue` given as a JSON object, under either spelling of its field names.

    Of several fields the first that is not null counts. Anything that is not an object is taken as the value itself,
    and so is an object of no known kind, whose field is added to `odd`.
    """
    if not isinstance(value, dict):
        return value
    for name, item in value.items():
        if item is None:
            continue
        if name == _GO_ONEOF and isinstance(item, dict):
            return decode_any(item, odd)
        kind = _SNAKE.get(name, name)
        if kind == "stringValue" or kind == "boolValue":
            return item  # type: ignore[no-any-return]
        if kind == "intValue":
            return whole(item)
        if kind == "doubleValue":
            return real(item)
        if kind == "bytesValue":
            return {"base64": item}
        values = _values(item)
        if kind == "arrayValue" and values is not None:
            return [decode_any(one, odd) for one in values]
        if kind == "kvlistValue" and values is not None and all(isinstance(one, dict) for one in values):
            return by_key(((key, decode_any(one, odd)) for key, one in pairs_in(values)), odd)
        if odd is not None:
            odd.append(name)
        return value
    return None


def base64_value(data: bytes) -> JsonObject:
    """How the value of a bytes attribute is told, in every form."""
    return {"base64": base64.b64encode(data).decode("ascii")}


def _values(item: Any) -> list[Any] | None:
    """The items of a list that is bare, or in an object as protobuf has it; None for anything else."""
    values = item.get("values", []) if isinstance(item, dict) else item
    return values if isinstance(values, list) else None


def by_key(pairs: Iterable[tuple[str, JsonValue]], odd: list[str] | None) -> JsonValue:
    """A list of keys and values as an object. One that names a key twice stays a list, of `{"key", "value"}` objects,
    and is noted in `odd`."""
    told = list(pairs)
    found = dict(told)
    if odd is None or len(found) == len(told):
        return found
    odd.append("key")
    return [{"key": key, "value": value} for key, value in told]


def attributes_of(pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Attributes from names and `AnyValue` objects; of equal names the last counts."""
    out: dict[str, JsonValue] = {}
    names: list[str] = []
    odd: list[str] = []
    repeated: dict[str, list[JsonValue]] = {}
    for key, value in pairs:
        if key in out:
            repeated.setdefault(key, []).append(out[key])
        out[key] = decode_any(value, odd)
        if odd:
            names.append(key)
            odd.clear()
    return OddAttributes(out, names, repeated) if names or repeated else out


def whole(item: Any) -> JsonValue:
    """An exact int from a string or a number; what is neither stays as it was recorded."""
    if isinstance(item, str):
        try:
            return int(item)
        except ValueError:
            return item
    if isinstance(item, float) and math.isfinite(item) and item.is_integer():
        return int(item)
    return item  # type: ignore[no-any-return]


def real(item: Any) -> JsonValue:
    """A finite float, or the ProtoJSON word for one that is not."""
    if isinstance(item, bool):
        return item
    if isinstance(item, str):
        word = _NON_FINITE.get(item.lower())
        if word is not None:
            return word
    try:
        number = float(item)
    except (ValueError, OverflowError, TypeError):
        return item  # type: ignore[no-any-return]
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


class LazyAttributes(Mapping[str, Any]):
    """Attributes whose values decode when they are asked for, and are kept once decoded."""

    __slots__ = ("_values",)

    _values: dict[str, Any]

    def _decoded(self) -> dict[str, Any]:
        """Names and values, each value decoded or not."""
        return self._values

    def plain(self) -> dict[str, Any]:
        """All of them decoded, for whoever will look at most of them."""
        return {key: self[key] for key in self._decoded()}

    def __getitem__(self, key: str) -> Any:
        raise NotImplementedError

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._decoded() else default

    def __contains__(self, key: object) -> bool:
        return key in self._decoded()

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def __len__(self) -> int:
        return len(self._decoded())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"


class Attributes(LazyAttributes):
    """Attributes given as the JSON bytes of a list of pairs, all decoded at the first question. It holds on to the
    block it was read from until then."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Raw) -> None:
        self._raw: Raw | None = raw

    def recorded(self) -> bytes:
        """The JSON bytes, where they were not decoded yet."""
        return b"" if self._raw is None else bytes(self._raw)

    def _decoded(self) -> dict[str, Any]:
        if self._raw is not None:
            raw, self._raw = self._raw, None
            self._values = decode_attributes(raw)
        return self._values

    def plain(self) -> dict[str, Any]:
        return self._decoded()

    def __getitem__(self, key: str) -> Any:
        return self._decoded()[key]


def decode_attributes(raw: Raw | bytes | memoryview) -> dict[str, Any]:
    """Names and values of a list of pairs given as JSON bytes; of equal names the last counts."""
    try:
        pairs = _decode_pairs(raw) or ()
    except (msgspec.DecodeError, RecursionError):
        return _unusual(raw)
    out: dict[str, Any] = {}
    odd: list[str] = []
    for pair in pairs:
        value = pair.value
        if value is None:
            out[pair.key] = None
            continue
        fields = _fields(value)
        if fields[1:] == _NO_OTHER:
            out[pair.key] = fields[0]
        elif fields.count(None) < 6:
            return _unusual(raw)  # which of several comes first is not told any more
        elif fields[1] is not None:
            out[pair.key] = whole(fields[1])
        elif fields[2] is not None:
            out[pair.key] = real(fields[2])
        elif fields[3] is not None:
            out[pair.key] = fields[3]
        else:
            out[pair.key] = decode_any(
                {"arrayValue": fields[4], "kvlistValue": fields[5], "bytesValue": fields[6]}, odd
            )
            if odd:
                return _unusual(raw)
    return out if len(out) == len(pairs) else _unusual(raw)


def _unusual(raw: Raw | bytes | memoryview) -> dict[str, Any]:
    """The same value by value, so that a bad one costs no other."""
    try:
        return attributes_of((pair.key, _loaded(pair.value)) for pair in _decode_raw_pairs(raw) or ())
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        value, _ = loads_tolerant(memoryview(raw))
    except (JsonError, RecursionError):
        return {}
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    return attributes_of(pairs_in(value)) if isinstance(value, list) else {}


def pairs_in(value: Iterable[Any]) -> Iterator[tuple[str, JsonValue]]:
    """Name and value of each `{"key", "value"}` object of a list."""
    for pair in value:
        if isinstance(pair, dict) and pair.get("key") is not None:
            yield str(pair["key"]), pair.get("value")


def _loaded(raw: Raw | bytes | memoryview) -> JsonValue:
    """One `AnyValue` as a JSON object; None where it cannot be decoded at all."""
    try:
        return loads_evidence(memoryview(raw))
    except JsonError:
        pass
    try:
        return loads_tolerant(memoryview(raw))[0]
    except (JsonError, RecursionError):
        return None
