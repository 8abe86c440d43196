"""OTLP `AnyValue` and `KeyValue` messages of protobuf, decoded when somebody looks: the same values as those of JSON.

https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/common/v1/common.proto
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..anyvalue import LazyAttributes, OddAttributes, base64_value, by_key, real
from ..canonical import JsonValue


def text_of(value: str | bytes) -> str:
    """A text of either schema."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def decode_any(value: Any, odd: list[str] | None = None) -> JsonValue:
    """The value of an `AnyValue` message; None where it is empty. One of no known kind is its bytes, and is noted in
    `odd`."""
    kind = value.WhichOneof("value")
    if kind is None:
        if not value.ByteSize():
            return None
        if odd is not None:
            odd.append("value")
        return base64_value(value.SerializeToString())
    if kind == "string_value":
        return text_of(value.string_value)
    if kind == "double_value":
        return real(value.double_value)
    if kind == "array_value":
        return [decode_any(item, odd) for item in value.array_value.values]
    if kind == "kvlist_value":
        return by_key(((text_of(pair.key), decode_any(pair.value, odd)) for pair in value.kvlist_value.values), odd)
    if kind == "bytes_value":
        return base64_value(value.bytes_value)
    return getattr(value, kind)  # type: ignore[no-any-return]


class _Lazy:
    """A value not decoded yet."""

    __slots__ = ("pair",)

    def __init__(self, pair: Any) -> None:
        self.pair = pair


class ProtoAttributes(LazyAttributes):
    """Attributes whose values decode at `[]`."""

    __slots__ = ("_odd", "_pairs", "_repeated")

    def __init__(self, pairs: Sequence[Any]) -> None:
        self._odd: list[str] = []
        self._pairs: Sequence[Any] | None = pairs
        self._repeated: dict[str, list[JsonValue]] = {}

    def _decoded(self) -> dict[str, Any]:
        if self._pairs is not None:
            pairs, self._pairs = self._pairs, None
            self._values = {text_of(pair.key): _Lazy(pair) for pair in pairs}
            if len(self._values) != len(pairs):
                last = {text_of(pair.key): number for number, pair in enumerate(pairs)}
                for number, pair in enumerate(pairs):
                    if last[text_of(pair.key)] != number:
                        self._repeated.setdefault(text_of(pair.key), []).append(decode_any(pair.value))
        return self._values

    def __getitem__(self, key: str) -> Any:
        values = self._decoded()
        value = values[key]
        if type(value) is _Lazy:
            odd: list[str] = []
            value = values[key] = decode_any(value.pair.value, odd)
            if odd:
                self._odd.append(key)
        return value

    def plain(self) -> dict[str, Any]:
        values = super().plain()
        return OddAttributes(values, self._odd, self._repeated) if self._odd or self._repeated else values
