"""Ordered key lists: from span attributes to the plain fields of a reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..canonical import JsonObject, JsonValue
from ..messages import Usage
from ..messages.nested import at, decode, decode_arguments, ident, string
from .draft import Draft

Path = tuple[str, tuple[str, ...]]
"""Attribute name, and the path inside its JSON (empty: the attribute itself)."""

IDENTS: Final = frozenset({"response_id", "tool_call_id", "conversation_id"})
STRINGS: Final = frozenset(
    {"request_model", "response_model", "provider", "tool_name", "agent_name", "purpose", "error"}
)
VALUES: Final = frozenset({"arguments", "result", "system", "input_text", "output_text"})


def path(spec: str) -> Path:
    """`key`, or `key#a.b.0` for a place inside the JSON that the attribute holds."""
    key, _, rest = spec.partition("#")
    return key, tuple(rest.split(".")) if rest else ()


@dataclass(frozen=True, slots=True)
class UsageKeys:
    """Where token counts stand. `input_excludes_cache`: the producer gives Anthropic's or Bedrock's own counts, so the
    cached tokens are added to reach the convention's meaning (input includes cached tokens)."""

    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cache_read: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    input_excludes_cache: bool = False

    def all(self) -> tuple[str, ...]:
        return self.input + self.output + self.cache_read + self.cache_write + self.reasoning


def count(value: JsonValue) -> int | None:
    """A token count: an integer, also as a decimal string or a whole float; anything else is not a count."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value):
        return int(value)
    return None


def finish(value: JsonValue) -> str | None:
    """The finish reason as recorded: the first of a list, out of JSON text too."""
    value = decode(value, quoted=True, repair=False).value
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, str) and item), None)
    return string(value)


Clean = Callable[[JsonValue], JsonValue]


class _Plan(NamedTuple):
    """What a table looks up on spans that hold one set of its keys: only what is there."""

    fields: tuple[tuple[str, Clean | None, tuple[Path, ...]], ...]
    finish: tuple[Path, ...]
    extra: tuple[tuple[str, Path], ...]
    parameters: tuple[tuple[str, Path], ...]
    usage: Mapping[str, tuple[Path, ...]]


_MAX_PLANS: Final = 1024


class AttributeTable:
    """Field -> ordered keys. Every key is `name` or `name#path` (see `path`).

    `parameters` maps parameter names to keys. `extra` keeps identifiers that have no field. `known` are prefixes of
    names the dialect reads by code or leaves on purpose, so that they are not counted as unmapped.
    """

    def __init__(
        self,
        *,
        parameters: Mapping[str, str] | None = None,
        usage: UsageKeys | None = None,
        extra: Mapping[str, str] | None = None,
        known: Sequence[str] = (),
        quoted: bool = False,
        finish_reason: Sequence[str] = (),
        agent_path: Sequence[str] = (),
        **fields: Sequence[str],
    ) -> None:
        unknown = set(fields) - IDENTS - STRINGS - VALUES
        if unknown:
            raise ValueError(f"no such fields: {sorted(unknown)}")
        self.fields: dict[str, tuple[Path, ...]] = {name: tuple(map(path, keys)) for name, keys in fields.items()}
        self.finish = tuple(map(path, finish_reason))
        self.agent_path = tuple(map(path, agent_path))
        self.parameters = tuple((name, path(key)) for name, key in (parameters or {}).items())
        self.extra = tuple((name, path(key)) for name, key in (extra or {}).items())
        self.usage = usage
        self._usage = None if usage is None else {name: tuple(map(path, getattr(usage, name))) for name in _COUNTS}
        self.quoted = quoted
        self._known_prefixes = tuple(known)
        keys = {key for paths in self.fields.values() for key, _ in paths}
        keys.update(key for key, _ in self.finish + self.agent_path)
        keys.update(key for _, (key, _) in self.parameters + self.extra)
        if self._usage is not None:
            keys.update(key for paths in self._usage.values() for key, _ in paths)
        self.keys = frozenset(keys)
        self._plans: dict[frozenset[str], _Plan] = {}

    def knows(self, key: str) -> bool:
        return key in self.keys or key.startswith(self._known_prefixes)

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The attributes that `first` looks at for a field."""
        paths = self.agent_path if name == "agent_path" else self.fields.get(name, ())
        return tuple(key for key, _ in paths)

    def first(self, name: str, attributes: Mapping[str, Any]) -> str | None:
        """The first identifier or string of a field, for the first pass."""
        clean = ident if name in IDENTS else string
        paths = self.agent_path if name == "agent_path" else self.fields.get(name)
        if not paths:
            return None
        for key, inner in paths:
            raw = attributes.get(key)
            if raw is None:
                continue
            found = clean(at(decode(raw).value, inner) if inner else raw)
            if found is not None:
                return found
        return None

    def fill(self, draft: Draft) -> None:
        """Puts every field that its keys hold; fields already there stay."""
        present = self.keys.intersection(draft.attributes)
        if not present:
            return
        plan = self._plans.get(present)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            plan = self._plans[present] = self._plan(present)
        reading, attributes, dialect = draft.reading, draft.attributes, draft.dialect
        for name, clean, paths in plan.fields:
            if getattr(reading, name) is not None:
                continue
            for key, inner in paths:
                value = draft.at(key, inner, name) if inner else attributes[key]
                if clean is not None:
                    value = clean(value)
                if value is not None:
                    setattr(reading, name, value)
                    reading.said_by[name] = dialect
                    break
        if reading.finish_reason is None:
            for key, inner in plan.finish:
                draft.put("finish_reason", finish(draft.at(key, inner, "finish_reason")))
        for name, (key, inner) in plan.extra:
            if name not in reading.extra:
                value = draft.at(key, inner)
                if value is not None:
                    reading.extra[name] = value
        if plan.parameters and reading.parameters is None:
            self._fill_parameters(draft, plan.parameters)
        if plan.usage:
            draft.put_usage(self._read_usage(draft, plan.usage))

    def _plan(self, present: frozenset[str]) -> _Plan:
        def there(paths: tuple[Path, ...]) -> tuple[Path, ...]:
            return tuple(item for item in paths if item[0] in present)

        return _Plan(
            tuple((name, self._clean(name), there(paths)) for name, paths in self.fields.items() if there(paths)),
            there(self.finish),
            tuple(item for item in self.extra if item[1][0] in present),
            tuple(item for item in self.parameters if item[1][0] in present),
            {name: there(paths) for name, paths in (self._usage or {}).items() if there(paths)},
        )

    def _clean(self, name: str) -> Clean | None:
        """What is done to a value of a field; None where it is taken as recorded."""
        if name in IDENTS:
            return ident
        if name in STRINGS:
            return string
        if name == "arguments":
            return decode_arguments
        return _unquoted if name == "result" and self.quoted else None

    def _fill_parameters(self, draft: Draft, parameters: tuple[tuple[str, Path], ...]) -> None:
        found: JsonObject = {}
        for name, (key, inner) in parameters:
            if name not in found:
                value = draft.at(key, inner, "parameters")
                if value is not None:
                    found[name] = value
        if found:
            draft.put("parameters", found)

    def _read_usage(self, draft: Draft, usage: Mapping[str, tuple[Path, ...]]) -> Usage | None:
        counts: dict[str, int] = {}
        for name, paths in usage.items():
            for key, inner in paths:
                number = count(draft.at(key, inner) if inner else draft.attributes[key])
                if number is not None:
                    counts[name] = number
                    break
        return make_usage(
            counts.get("input"),
            counts.get("output"),
            counts.get("cache_read"),
            counts.get("cache_write"),
            counts.get("reasoning"),
            input_excludes_cache=self.usage is not None and self.usage.input_excludes_cache,
        )


_COUNTS: Final = ("input", "output", "cache_read", "cache_write", "reasoning")


def make_usage(
    input: int | None = None,
    output: int | None = None,
    cache_read: int | None = None,
    cache_write: int | None = None,
    reasoning: int | None = None,
    *,
    input_excludes_cache: bool = False,
    output_excludes_reasoning: bool = False,
    raw: JsonValue = None,
) -> Usage | None:
    """Counts under the convention's meaning: input includes cached tokens, output includes reasoning."""
    if input is not None and input_excludes_cache:
        input += (cache_read or 0) + (cache_write or 0)
    if output is not None and output_excludes_reasoning:
        output += reasoning or 0
    usage = Usage(input, output, cache_read, cache_write, reasoning, raw)
    return None if usage.is_empty() else usage


def _unquoted(value: JsonValue) -> JsonValue:
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == '"' and value[-1] == '"'
    return decode(value, quoted=True, repair=False).value if quoted else value
