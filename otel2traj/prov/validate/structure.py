"""Tier 3a: the JSON of a PROV document into findings on its structure.

The W3C schema of the submission is weak and wrong in places; this checks what PROV-JSON asks for, and, in documents of
this project's namespace, the stricter form that is written here.
https://www.w3.org/Submission/2013/SUBM-prov-json-20130424/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonObject, canonical_bytes, loads, repeated_key
from ...model.finding import Finding
from .. import versions
from ..constraints.provjson import prefixes_of, resolve
from ..constraints.statements import ELEMENTS, KINDS, time_value

RULES: Final = {
    "structure.json": "The document is one JSON object.",
    "structure.repeated-key": "No object has a key twice.",
    "structure.section": "The sections are those of PROV-JSON, each an object; a bundle holds no bundle.",
    "structure.prefix": "A prefix stands for an absolute IRI.",
    "structure.key": "A key of the prov namespace is one that the kind of statement has.",
    "structure.mandatory": "The arguments that PROV-DM asks for are there.",
    "structure.name": "A qualified name has a declared prefix.",
    "structure.time": "A time is an xsd:dateTime.",
    "structure.value": "A value is a string, a boolean, a number or a typed literal whose value is a string.",
    "structure.canonical": "Written here: sorted keys, compact, one final line feed, sorted arrays without repetition.",
    "structure.form": "Written here: one statement an id, none anonymous, no empty section, numbers as typed literals.",
}

_COMMON: Final = frozenset({"prov:type", "prov:label", "prov:location", "prov:role", "prov:value"})
_LOCAL: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._~/-]*[A-Za-z0-9_~/-])?", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)


def is_ours(data: JsonObject) -> bool:
    """Whether the document declares the apv namespace, and so promises the stricter form."""
    prefix = data.get("prefix")
    return isinstance(prefix, dict) and versions.APV in prefix.values()


class _Structure:
    def __init__(self, ours: bool) -> None:
        self.found: list[Finding] = []
        self._ours = ours

    def say(self, rule: str, message: str, place: str) -> None:
        self.found.append(Finding(f"structure.{rule}", message, pointer=place))

    def instance(self, data: JsonObject, outer: dict[str, str], place: str) -> None:
        prefixes = prefixes_of(data, outer)
        self._prefixes(data.get("prefix", {}), f"{place}/prefix")
        for section, table in data.items():
            where = f"{place}/{section}"
            if section == "prefix" or (section == "bundle" and not place):
                continue
            if section not in KINDS or not isinstance(table, dict):
                self.say("section", f"{section!r} is no section of statements here", where)
                continue
            if not table and self._ours:
                self.say("form", "an empty section says nothing", where)
            for key, value in table.items():
                self._name(key, prefixes, f"{where}/{_escape(key)}", anonymous=section not in ELEMENTS)
                if isinstance(value, list) and self._ours:
                    self.say("form", "one id stands for one statement", f"{where}/{_escape(key)}")
                for item in value if isinstance(value, list) else [value]:
                    self._statement(section, item, prefixes, f"{where}/{_escape(key)}")

    def _prefixes(self, table: Any, place: str) -> None:
        if not isinstance(table, dict):
            self.say("prefix", "the prefixes are no object", place)
            return
        for prefix, iri in table.items():
            if not isinstance(iri, str) or _SCHEME.match(iri) is None:
                self.say("prefix", f"{prefix!r} stands for {iri!r}, which is no absolute IRI", place)

    def _name(self, name: str, prefixes: dict[str, str], place: str, *, anonymous: bool = False) -> None:
        if name.startswith("_:") and anonymous:
            if self._ours:
                self.say("form", "a statement without an id of its own", place)
            return
        if resolve(name, prefixes) is None:
            self.say("name", f"the prefix of {name!r} is not declared", place)
        elif self._ours and _LOCAL.fullmatch(name.partition(":")[2]) is None:
            self.say("name", f"{name!r} does not survive every notation of PROV", place)

    def _statement(self, section: str, item: Any, prefixes: dict[str, str], place: str) -> None:
        kind = KINDS[section]
        if not isinstance(item, dict):
            self.say("value", "a statement is an object", place)
            return
        for label in kind.args[: kind.mandatory]:
            if item.get(label) is None:
                self.say("mandatory", f"{section} needs {label}", place)
        for key, value in item.items():
            where = f"{place}/{_escape(key)}"
            if key in kind.args:
                self._argument(key, value, prefixes, where)
                continue
            self._name(key, prefixes, where)
            if key.startswith("prov:") and key not in _COMMON:
                self.say("key", f"{section} has no {key}", where)
            self._values(value, prefixes, where)

    def _argument(self, key: str, value: Any, prefixes: dict[str, str], place: str) -> None:
        many = value if isinstance(value, list) and key == "prov:entity" else [value]
        for one in many:
            text = one.get("$") if isinstance(one, dict) else one
            if not isinstance(text, str):
                self.say("value", f"{key} is no name", place)
            elif key.endswith("ime"):
                if time_value(text) is None:
                    self.say("time", f"{text!r} is no xsd:dateTime", place)
            else:
                self._name(text, prefixes, place, anonymous=True)

    def _values(self, value: Any, prefixes: dict[str, str], place: str) -> None:
        if isinstance(value, list):
            written = [canonical_bytes(one) for one in value]
            if self._ours and (len(value) < 2 or written != sorted(set(written))):
                self.say("canonical", "an array is sorted, has no value twice, and more than one", place)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                self._literal(one, prefixes, place)
            elif isinstance(one, (int, float)) and not isinstance(one, bool):
                if self._ours:
                    self.say("form", "a number is a typed literal", place)
            elif not isinstance(one, (str, bool)):
                self.say("value", f"{one!r} is no value", place)

    def _literal(self, one: JsonObject, prefixes: dict[str, str], place: str) -> None:
        text, datatype = one.get("$"), one.get("type")
        if not isinstance(text, (str if self._ours else (str, int, float))) or not one.keys() <= {"$", "type", "lang"}:
            self.say("value", "a typed literal has a string under $, and type or lang", place)
            return
        if datatype is None:
            if not isinstance(one.get("lang"), str):
                self.say("value", "a typed literal has a type or a language", place)
        elif not isinstance(datatype, str) or resolve(datatype, prefixes) is None:
            self.say("name", f"the type {datatype!r} has no declared prefix", place)
        elif datatype in ("prov:QUALIFIED_NAME", "xsd:QName"):
            self._name(str(text), prefixes, place)
        elif datatype == "xsd:dateTime" and time_value(str(text)) is None:
            self.say("time", f"{text!r} is no xsd:dateTime", place)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def parse(data: bytes) -> tuple[JsonObject | None, list[Finding]]:
    """The document, or None with the finding that says why it cannot be read."""
    try:
        document = loads(data)
    except ValueError as err:
        return None, [Finding("structure.json", f"not JSON: {err}")]
    if not isinstance(document, dict):
        return None, [Finding("structure.json", "not a JSON object")]
    repeated = repeated_key(data)
    if repeated is not None:
        return document, [Finding("structure.repeated-key", f"{repeated!r} is there twice in one object")]
    return document, []


def _is_canonical(document: JsonObject, data: bytes) -> bool:
    """Whether the bytes are the canonical form, compared piece by piece: a large document is not written as a whole."""
    view, at = memoryview(data), 0
    for piece in _canonical(document, 4):
        if view[at : at + len(piece)] != piece:
            return False
        at += len(piece)
    return data[at:] == b"\n"


def _canonical(value: Any, depth: int) -> Iterator[bytes]:
    if depth == 0 or not isinstance(value, dict):
        yield canonical_bytes(value)
        return
    comma = b"{"
    for key in sorted(value):
        yield comma + canonical_bytes(key) + b":"
        yield from _canonical(value[key], depth - 1)
        comma = b","
    yield b"{}" if comma == b"{" else b"}"


def validate_structure(data: bytes, parsed: JsonObject | None = None) -> list[Finding]:
    """Tier 3a over the bytes of one PROV-JSON document, which may have been `parse`d without a finding before."""
    document, found = (parsed, []) if parsed is not None else parse(data)
    if document is None:
        return found
    ours = is_ours(document)
    if ours and not _is_canonical(document, data):
        found.append(Finding("structure.canonical", "not sorted, compact JSON with one final line feed"))
    checker = _Structure(ours)
    checker.instance(document, {}, "")
    for key, bundle, place in _bundles(document, checker):
        prefixes = prefixes_of(document)
        checker._name(key, prefixes_of(bundle, prefixes), place)
        checker.instance(bundle, prefixes, place)
    return found + checker.found


def _bundles(document: JsonObject, checker: _Structure) -> Iterator[tuple[str, JsonObject, str]]:
    bundles = document.get("bundle", {})
    if not isinstance(bundles, dict):
        checker.say("section", "the bundles are no object", "/bundle")
        return
    for key, bundle in bundles.items():
        place = f"/bundle/{_escape(key)}"
        if isinstance(bundle, dict):
            yield key, bundle, place
        else:
            checker.say("section", "a bundle is no object", place)
