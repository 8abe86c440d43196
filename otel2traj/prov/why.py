"""A claim of a document into the chain behind it: statement, rule, field of the record, recorded bytes; and what in the
chain does not hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ..canonical import JsonError, JsonObject, dumps, loads_text
from ..errors import EvidenceError
from ..model.unknown import EvidenceClass
from .document import CLASSES
from .places import Place, Range
from .records import RESERVED
from .rules import CATALOGUES, Rule, catalogue
from .sem import read_lines, strings
from .validate.profile import bundles, names, statements

Read = Callable[[str, int, int], bytes | None]
_ORDER: Final = list(EvidenceClass)
_EXCERPT: Final = 100
_NEEDLES: Final = 200
"""So many strings of a value are looked for."""


@dataclass(slots=True)
class Bytes:
    """One cited range of bytes. `holds` is None where no evidence was given."""

    source: JsonObject
    holds: bool | None = None
    place: str | None = None
    """Where in it the record says that the claim stands."""
    at: list[str] = field(default_factory=list)
    """JSON pointers into the range to what was looked for; ` > ` leads into JSON inside a string."""
    offset: int | None = None
    """Where in the (inflated) file the first of them begins."""
    excerpt: bytes | None = None


@dataclass(slots=True)
class Claim:
    """One statement with all that stands behind it."""

    place: str
    statement: JsonObject
    rules: list[Rule]
    pointer: str
    value: Any
    said: JsonObject
    """Class, by and rule of the field, or of the record."""
    ranges: list[Bytes]
    faults: list[str]


def find(document: JsonObject, records: dict[str, JsonObject], query: str) -> tuple[list[tuple[str, JsonObject]], bool]:
    """(place, statement) of what is meant: the id of a statement, a pointer into the AER, else a text that stands in a
    record, for every node that the record justifies; and whether it was a text."""
    every = [
        (f"{where}/{section}/{key}".lstrip("/"), key, item)
        for where, instance in [("", document), *bundles(document).items()]
        for section, key, item in statements(instance)
    ]
    exact = [(place, item) for place, key, item in every if key in (query, f"x:{query}")]
    exact = exact or [(place, item) for place, _, item in every if item.get("apv:sourcePointer") == query]
    if exact:
        return exact, False
    holders = {name for name, record in records.items() if query in _words(record)}
    parts = {str(part["id"]) for name in holders for part in records[name].get("parts") or () if query in _text(part)}
    meant = {f"x:{name}" for name in holders | parts}
    return [(place, item) for place, key, item in every if key in meant], True


def explain(document: JsonObject, aer: Iterable[bytes], query: str, read: Read | None = None) -> Iterator[Claim]:
    """The claims that a query means, each with its chain. Raises `EvidenceError` where nothing is meant."""
    records = {str(record.get("id")): record for record in read_lines(aer)}
    found, by_text = find(document, records, query)
    if not found:
        raise EvidenceError(
            f"neither a statement nor a record says {query!r}", code="prov.why", hint="try a shorter text"
        )
    rules = {rule.id: rule for name in CATALOGUES for rule in catalogue(name).rules.values()}
    for place, item in found:
        yield _claim(place, item, records, rules, query if by_text else None, read)


def _claim(
    place: str,
    item: JsonObject,
    records: dict[str, JsonObject],
    rules: dict[str, Rule],
    text: str | None,
    read: Read | None,
) -> Claim:
    faults: list[str] = []
    used = []
    for key in ("apv:rule", "apv:basisRule"):
        if key in item:
            rule = rules.get(str(item[key]))
            if rule is None:
                faults.append(f"{item[key]!r} is no rule of a catalogue")
            else:
                used.append(rule)
    pointer = str(item.get("apv:sourcePointer"))
    record, value, said = _resolve(pointer, records)
    if record is None:
        return Claim(place, item, used, pointer, None, {}, [], [*faults, f"{pointer!r} leads to nothing in the record"])
    if said.get("class") in ("O", "D", "I"):
        best = EvidenceClass(said["class"])
        stated = next((one for one, term in CLASSES.items() if term in names(item.get("apv:evidenceClass"))), None)
        if stated is None or _ORDER.index(stated) < _ORDER.index(best):
            faults.append(f"the statement claims class {stated}, its evidence is of class {best}")
    target = _followed(value, records)
    sources = record.get("source") or (target or {}).get("source") or []
    wanted = [text] if text is not None else _needles(target if target is not None else value)
    at = said.get("at") if record.get("source") else None
    ranges = [
        _range(one, wanted, read, at[1:] if at is not None and at[0] == number else None)
        for number, one in enumerate(sources)
    ]
    if not sources and record.get("id") not in ("seal", "ex"):
        faults.append("the record cites no recorded bytes")
    faults += (
        f"the bytes of {_where(one.source)} are not those that were recorded" for one in ranges if one.holds is False
    )
    if read is not None and sources and wanted and not any(one.at for one in ranges):
        faults.append("no cited range holds the value as it stands: it was put together from them")
    return Claim(place, item, used, pointer, value if target is None else target, said, ranges, faults)


def _resolve(pointer: str, records: dict[str, JsonObject]) -> tuple[JsonObject | None, Any, JsonObject]:
    """(record, value, how it is known) of a pointer into the AER."""
    identifier, slash, name = pointer.partition("/")
    record = records.get(identifier)
    if record is None:
        record = records.get(identifier.partition("-")[0])
        part = next((one for one in (record or {}).get("parts") or () if one.get("id") == identifier), None)
        return (None, None, {}) if record is None or part is None else (record, part, record["fields"]["parts"])
    if not slash:
        return record, {key: value for key, value in record.items() if key not in RESERVED}, record
    if name not in record:
        return None, None, {}
    return record, record[name], (record.get("fields") or {}).get(name, record)


def _followed(value: Any, records: dict[str, JsonObject]) -> JsonObject | None:
    """The record that a field names, without what every record has."""
    if not isinstance(value, str):
        return None
    record = records.get(value)
    if record is None:
        whole = records.get(value.partition("-")[0], {})
        return next((one for one in whole.get("parts") or () if one.get("id") == value), None)
    return {key: item for key, item in record.items() if key not in RESERVED or key == "source"}


def _words(record: JsonObject) -> str:
    return _text(_shown({key: value for key, value in record.items() if key not in RESERVED}))


def _text(value: Any) -> str:
    return "\n".join(strings(value))


_HOW: Final = frozenset({"source", "at", "class", "by", "rule"})
_MADE_HERE: Final = frozenset({"id", "type", "direction", "role", "kind", "status", "schema"}) | _HOW


def _needles(value: Any) -> list[str]:
    """The recorded words of a value: what this project names itself is no recorded word."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key not in _MADE_HERE}
        if isinstance(value.get("parts"), list):
            value["parts"] = [{k: v for k, v in one.items() if k not in _MADE_HERE} for one in value["parts"]]
    found = [one for one in strings(value) if one != ""]
    return sorted(set(found), key=lambda one: (-len(one), one))[:_NEEDLES]


def _range(source: JsonObject, wanted: list[str], read: Read | None, place: Place | None) -> Bytes:
    """One range: the place that the record gives is named first, then those where the words stand."""
    out = Bytes(source)
    if place is not None:
        out.place = " > ".join(map(str, place))
    if read is None:
        return out
    data = read(str(source.get("path")), int(source["offset"]), int(source["length"]))
    if data is None:
        out.holds = False
        return out
    out.holds = hashlib.sha256(data).hexdigest() == source.get("sha256")
    try:
        tree: Any = loads_text(data.decode("utf-8", "replace"))
    except (JsonError, ValueError):
        tree = None
    needle = None
    for one in wanted:
        places = [] if tree is None else list(locate(tree, one))
        if places:
            needle = needle if needle is not None else one
            out.at += places[:1]
    start = _position(data, needle if needle is not None else (wanted[0] if wanted else ""), place)
    if start is not None:
        out.offset = int(source["offset"]) + start
        out.excerpt = data[max(0, start - 20) : start + _EXCERPT]
        if tree is None:
            out.at.append("")
    else:
        out.excerpt = data[:_EXCERPT]
    return out


def _position(data: bytes, needle: str, place: Place | None) -> int | None:
    """Where the bytes begin that are shown: the needle within the place that the record gives, else the place itself;
    without one, the first that holds the needle."""
    begin, end = 0, len(data)
    if place is not None:
        try:
            begin, end = Range(data).span(place)
        except LookupError:
            place = None
    for form in (
        needle.encode("utf-8", "surrogatepass"),
        dumps(needle)[1:-1],
        dumps(dumps(needle)[1:-1].decode())[1:-1],
    ):
        found = data.find(form, begin, end) if form else -1
        if found >= 0:
            return found
    return None if place is None else begin


def locate(tree: Any, text: str) -> Iterator[str]:
    """JSON pointers to the strings that are the text, or else hold it; into JSON inside strings, too."""
    whole: list[str] = []
    holding: list[str] = []
    todo: list[tuple[str, Any]] = [("", tree)]
    while todo:
        pointer, value = todo.pop()
        if isinstance(value, dict):
            todo += [(f"{pointer}/{_escape(key)}", item) for key, item in reversed(value.items())]
        elif isinstance(value, list):
            todo += [(f"{pointer}/{number}", item) for number, item in reversed(list(enumerate(value)))]
        elif isinstance(value, str):
            if value == text:
                whole.append(pointer)
            elif text in value:
                holding.append(pointer)
            if value[:1] in ("{", "["):
                try:
                    todo.append((f"{pointer} > ", loads_text(value)))
                except ValueError:
                    continue
    yield from whole
    yield from holding


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _where(source: JsonObject) -> str:
    line = "" if source.get("line") is None else f":{source['line']}"
    return f"{source.get('path')}{line} (offset {source.get('offset')}, {source.get('length')} bytes)"


def lines_of(claim: Claim) -> Iterator[str]:
    """The chain in words, one line each."""
    classes = ", ".join(names(claim.statement.get("apv:evidenceClass"))) or "no class"
    yield f"{claim.place}  {classes}"
    ends = [f"{key.removeprefix('prov:')} {value}" for key, value in claim.statement.items() if _end(key, value)]
    if ends:
        yield f"  says   {', '.join(sorted(ends))}"
    for rule in claim.rules:
        yield f"  rule   {rule.id}: {rule.meaning}"
    how = " ".join(f"{key} {claim.said[key]}" for key in ("class", "by", "rule") if claim.said.get(key) is not None)
    yield f"  field  {claim.pointer}  {how}".rstrip()
    if claim.value is not None:
        shown = dumps(_shown(claim.value))
        text = shown.decode("utf-8")
        yield f"  value  {text if len(text) <= 200 else text[:200] + f'… ({len(text)} characters)'}"
    for one in claim.ranges:
        state = {None: "not opened", True: "digest holds", False: "DIGEST DOES NOT HOLD"}[one.holds]
        yield f"  bytes  {_where(one.source)} sha256 {one.source.get('sha256')!s}  {state}"
        shown_at = [] if one.place is None else [one.place]
        for place in [*shown_at, *(other for other in one.at if other != one.place)][:3]:
            yield f"    at   {place or 'the range itself'}"
        if one.excerpt is not None and one.offset is not None:
            yield f"    from byte {one.offset}: {one.excerpt!r}"
    for fault in claim.faults:
        yield f"  FAULT  {fault}"


def _shown(value: Any) -> Any:
    """The value without how it is known: that stands beside it."""
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items() if key not in _HOW}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _end(key: str, value: Any) -> bool:
    return key.startswith("prov:") and isinstance(value, str) and not key.endswith("Time")
