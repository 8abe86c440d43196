"""One accepted record to lines of OTLP/JSON, one for each group of items that must stay together.

Items of one trace are one group, because children end first and seldom say what they belong to. An item that names its
attempt outright is a group of its own kind, and so is an item without a trace that names a conversation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from .. import canonical
from ..canonical import JsonObject
from . import repair
from .check import BadBody, parse_protobuf, proto_items
from .claims import EXPLICIT, Claim, better, places, places_by_bytes, stronger
from .convert import Converter
from .ids import SPAN_BYTES, TRACE_BYTES, id_from_bytes, id_from_text
from .segments import Content, Signal

_LONG_INTEGER: Final = re.compile(rb'"intValue"\s*:\s*"?-?[0-9]{19}')


class Group(NamedTuple):
    """What stays together. `trace` is a trace id, or None for items grouped by the id they name."""

    trace: str | None
    name: str | None

    @property
    def key(self) -> str:
        return self.trace if self.trace is not None else f"={self.name}" if self.name is not None else ""


@dataclass(slots=True)
class Piece:
    """One line for one group: the best claim its items make, and how many items there are."""

    signal: Signal
    group: Group
    claim: Claim | None
    line: bytes
    items: int


@dataclass(slots=True)
class Split:
    pieces: list[Piece] = field(default_factory=list)
    dropped: int = 0
    notes: Counter[str] = field(default_factory=Counter)


class _Item(NamedTuple):
    """One item, already JSON, with the JSON members of what holds it (equal by identity of index)."""

    resource: int
    scope: int
    text: bytes
    trace: str | None
    claim: Claim | None


@dataclass(slots=True)
class _Heads:
    """JSON members of resource and scope entries by index, without their list field; each begins with a comma."""

    resources: list[bytes] = field(default_factory=list)
    scopes: list[bytes] = field(default_factory=list)


def split(signal: Signal, content: Content, body: bytes) -> Split:
    """Lines for each group of an accepted plain body, in order of first appearance. Raises `BadBody`."""
    done = Split()
    heads = _Heads()
    if content is Content.PROTOBUF:
        items: Iterable[_Item] = _from_protobuf(signal, body, heads, done)
    else:
        try:
            items = list(_from_json(signal, body, heads, done))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, _Odd):
            done, heads = Split(), _Heads()
            items = _from_odd_json(signal, body, heads, done)
    _assemble(signal, items, heads, done)
    return done


def _assemble(signal: Signal, items: Iterable[_Item], heads: _Heads, done: Split) -> None:
    groups: dict[Group, list[_Item]] = {}
    claims: dict[Group, Claim | None] = {}
    for item in items:
        claim = item.claim
        if claim is not None and (claim.rank < EXPLICIT or item.trace is None):
            group = Group(None, claim.value)
        else:
            group = Group(item.trace, None)
        groups.setdefault(group, []).append(item)
        best = claims.get(group)
        if claim is not None and (best is None or claim.rank < best.rank):
            claims[group] = claim
        if claim is not None and claim.rank < EXPLICIT and item.trace is not None:
            of_trace = Group(item.trace, None)
            best = claims.get(of_trace)
            if best is None or claim.rank < best.rank:
                claims[of_trace] = claim
    for group, claim in claims.items():
        if group not in groups:  # a trace that only explicit items speak of: remembered for the items that follow
            done.pieces.append(Piece(signal, group, claim, b"", 0))
    for group, members in groups.items():
        done.pieces.append(Piece(signal, group, claims.get(group), _line(signal, members, heads), len(members)))


def _line(signal: Signal, members: list[_Item], heads: _Heads) -> bytes:
    outer, middle, inner = repair.ROOT[signal]
    tree: dict[int, dict[int, list[bytes]]] = {}
    for item in members:
        tree.setdefault(item.resource, {}).setdefault(item.scope, []).append(item.text)
    out: list[bytes] = []
    for resource, scopes in tree.items():
        inside = [
            b'{"%s":[%s]%s}' % (inner.encode(), b",".join(texts), heads.scopes[scope])
            for scope, texts in scopes.items()
        ]
        out.append(b'{"%s":[%s]%s}' % (middle.encode(), b",".join(inside), heads.resources[resource]))
    return b'{"%s":[%s]}\n' % (outer.encode(), b",".join(out))


# --- protobuf -----------------------------------------------------------------


def _from_protobuf(signal: Signal, body: bytes, heads: _Heads, done: Split) -> Iterator[_Item]:
    convert = Converter(done.notes)
    request = parse_protobuf(signal, body, done.notes)
    _, middle, inner = repair.ROOT[signal]
    last_resource = last_scope = of_resource = None
    for resource, scope, item in proto_items(signal, request, done.notes):
        if resource is not last_resource:
            last_resource = resource
            entry = convert.message(resource, without=(middle, "instrumentationLibrary" + middle.removeprefix("scope")))
            heads.resources.append(_members(entry))
            of_resource = _claim_of_pairs(resource.resource.attributes, convert)
        if scope is not last_scope:
            last_scope = scope
            heads.scopes.append(_members(convert.message(scope, without=(inner,))))
        trace: str | None = None
        if signal is not Signal.METRICS:
            trace = id_from_bytes(item.trace_id, TRACE_BYTES, Counter())
        if signal is Signal.TRACES and (trace is None or id_from_bytes(item.span_id, SPAN_BYTES, Counter()) is None):
            done.dropped += 1
            continue
        claims = _proto_claims(signal, item, convert)
        text = canonical.dumps(convert.message(item))
        at = len(heads.resources) - 1, len(heads.scopes) - 1
        yield _Item(*at, text, trace, stronger(claims, of_resource))


def _proto_claims(signal: Signal, item: Any, convert: Converter) -> Claim | None:
    if signal is not Signal.METRICS:
        return _claim_of_pairs(item.attributes, convert)
    which = item.WhichOneof("data")
    if which is None:
        return None
    for point in getattr(item, which).data_points:
        return _claim_of_pairs(point.attributes, convert)
    return None


def _claim_of_pairs(pairs: Any, convert: Converter) -> Claim | None:
    known = places_by_bytes()
    best: Claim | None = None
    for pair in pairs:
        place = known.get(pair.key)
        if place is not None:
            best = better(best, place, convert.any_value(pair.value))
    return best


# --- JSON ---------------------------------------------------------------------


class _Odd(Exception):
    """The body needs the tolerant path."""


class _Pair(msgspec.Struct):
    key: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Head(msgspec.Struct):
    traceId: str = ""
    spanId: str = ""
    attributes: list[_Pair] | None = None


class _Resource(msgspec.Struct):
    attributes: list[_Pair] | None = None


_HEAD: Final = msgspec.json.Decoder(_Head)
_RESOURCE: Final = msgspec.json.Decoder(_Resource)
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENTRIES: Final = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def _from_json(signal: Signal, body: bytes, heads: _Heads, done: Split) -> Iterator[_Item]:
    """Slices of a body that is as the specification says: its text is kept letter for letter."""
    if signal is Signal.METRICS or repair.has_nulls(body) or _LONG_INTEGER.search(body) is not None:
        raise _Odd
    if not body.isascii():
        body.decode("utf-8")
    if b"\n" in body or b"\r" in body:
        body = body.replace(b"\n", b" ").replace(b"\r", b" ")
    outer, middle, inner = repair.ROOT[signal]
    root = _FIELDS.decode(body)
    if outer not in root:
        raise _Odd
    spare: Counter[str] = Counter()
    for resource in _ENTRIES.decode(root[outer]):
        scopes = resource.pop(middle, None)
        _refuse_odd_names(resource)
        heads.resources.append(_raw_members(resource))
        holder = resource.get("resource")
        of_resource = None if holder is None else _claim_of_raw(_RESOURCE.decode(holder).attributes)
        for scope in () if scopes is None else _ENTRIES.decode(scopes):
            items = scope.pop(inner, None)
            _refuse_odd_names(scope)
            heads.scopes.append(_raw_members(scope))
            at = len(heads.resources) - 1, len(heads.scopes) - 1
            for text in () if items is None else _ITEMS.decode(items):
                head = _HEAD.decode(text)
                trace = id_from_text(head.traceId, TRACE_BYTES, spare)
                if signal is Signal.TRACES and (trace is None or id_from_text(head.spanId, SPAN_BYTES, spare) is None):
                    raise _Odd
                if spare:
                    raise _Odd
                yield _Item(*at, bytes(text), trace, stronger(_claim_of_raw(head.attributes), of_resource))


def _refuse_odd_names(entry: dict[str, msgspec.Raw]) -> None:
    if any("_" in name or name.startswith("instrumentationLibrary") for name in entry):
        raise _Odd


def _from_odd_json(signal: Signal, body: bytes, heads: _Heads, done: Split) -> Iterator[_Item]:
    try:
        request = repair.parse(body, signal, done.notes)
    except canonical.JsonError as err:
        raise BadBody(str(err)) from err
    outer, middle, inner = repair.ROOT[signal]
    spare: Counter[str] = Counter()
    for resource in request.get(outer, ()):
        heads.resources.append(_members({name: value for name, value in resource.items() if name != middle}))
        holder = resource.get("resource")
        of_resource = _claim_of_objects(holder.get("attributes")) if isinstance(holder, dict) else None
        for scope in resource.get(middle, ()):
            heads.scopes.append(_members({name: value for name, value in scope.items() if name != inner}))
            at = len(heads.resources) - 1, len(heads.scopes) - 1
            for item in scope.get(inner, ()):
                trace = _text_id(item.get("traceId"), TRACE_BYTES, spare)
                own = _text_id(item.get("spanId"), SPAN_BYTES, spare)
                if signal is Signal.TRACES and (trace is None or own is None):
                    done.dropped += 1
                    continue
                claim = _claim_of_objects(_attributes_of(signal, item))
                yield _Item(*at, canonical.dumps(item), trace, stronger(claim, of_resource))


def _text_id(value: Any, size: int, spare: Counter[str]) -> str | None:
    return id_from_text(value, size, spare) if isinstance(value, str) else None


def _attributes_of(signal: Signal, item: JsonObject) -> Any:
    if signal is not Signal.METRICS:
        return item.get("attributes", ())
    for kind in ("sum", "gauge", "histogram", "exponentialHistogram", "summary"):
        data = item.get(kind)
        points = data.get("dataPoints") if isinstance(data, dict) else None
        if isinstance(points, list) and points and isinstance(points[0], dict):
            return points[0].get("attributes", ())
    return ()


def _claim_of_raw(pairs: list[_Pair] | None) -> Claim | None:
    known = places()
    best: Claim | None = None
    for pair in pairs or ():
        place = known.get(pair.key)
        if place is not None:
            best = better(best, place, canonical.loads(bytes(pair.value)))
    return best


def _claim_of_objects(pairs: Any) -> Claim | None:
    known = places()
    best: Claim | None = None
    for pair in pairs if isinstance(pairs, list) else ():
        name = pair.get("key") if isinstance(pair, dict) else None
        place = known.get(name) if isinstance(name, str) else None
        if place is not None:
            best = better(best, place, pair.get("value"))
    return best


def _members(entry: JsonObject) -> bytes:
    return b"," + canonical.dumps(entry)[1:-1] if entry else b""


def _raw_members(entry: dict[str, msgspec.Raw]) -> bytes:
    return b"".join(b"," + canonical.dumps(name) + b":" + bytes(raw) for name, raw in entry.items())
