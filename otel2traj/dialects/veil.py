"""A span without the attributes that a more specific dialect knows to be something else than their name says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..model.evidence import SpanRecord


class Veiled(Mapping[str, Any]):
    """The attributes but for some; nothing is decoded that is not asked for. A hidden name that ends in a dot hides
    everything that begins with it."""

    __slots__ = ("_inner", "_names", "_prefixes")

    def __init__(self, inner: Mapping[str, Any], hidden: tuple[str, ...]) -> None:
        self._inner = inner
        self._names = frozenset(hidden)
        self._prefixes = tuple(name for name in hidden if name.endswith("."))

    def _hides(self, key: str) -> bool:
        return key in self._names or (bool(self._prefixes) and key.startswith(self._prefixes))

    def __getitem__(self, key: str) -> Any:
        if self._hides(key):
            raise KeyError(key)
        return self._inner[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and not self._hides(key) and key in self._inner

    def __iter__(self) -> Iterator[str]:
        return (key for key in self._inner if not self._hides(key))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def veil(span: SpanRecord, hidden: tuple[str, ...]) -> SpanRecord:
    """The span as the later dialects see it; the very span where nothing is hidden."""
    return replace(span, attributes=Veiled(span.attributes, hidden)) if hidden else span
