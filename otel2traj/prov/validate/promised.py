"""What this adapter promises of each AER record: form, fields with class and rule, places, references, links."""

from __future__ import annotations

import re
from typing import Any, Final

from ...canonical import JsonObject
from ..places import by_whom
from ..records import BY, KINDS, RESERVED
from ..rules import catalogue
from ..shape import well_formed
from .agreement import Agreement
from .asked import CLASSES, REASONS, Findings, cyclic
from .fields import KNOWN, MADE, PREFIX, REFERENCES, REQUIRED, WORDS, of_kind, sort_of

_ID: Final = re.compile(r"[A-Za-z0-9._~-]+", re.ASCII)
_HEX: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Promised(Findings):
    """Tier 1 over the records of one AER of this adapter: all that it promises, over what aer/0.2 asks of anybody."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, str] = {}
        self._references: list[tuple[str, str, str, tuple[str, ...]]] = []
        self._after: dict[str, list[str]] = {}
        self._paths: set[str] = set()
        self._pointed: dict[str, str] = {}
        self._unknown_parts: set[str] = set()
        self._links: dict[str, list[str]] = {}
        self._call_ids: dict[str, str | None] = {}
        """Part or execution -> the tool call id that it carries."""
        self._agreement = Agreement()

    def record(self, record: JsonObject, place: str) -> None:
        identifier, kind = record.get("id"), record.get("kind")
        if kind not in KINDS or kind == "seal":
            self.say("aer.kind", f"{kind!r} is no kind of record", place)
            return
        kind = str(kind)
        if not isinstance(identifier, str) or not re.fullmatch(_pattern(kind), identifier):
            self.say("aer.id", f"{identifier!r} is no id of a {kind}", place)
            return
        if identifier in self._kinds:
            self.say("aer.id", f"{identifier} is there twice", place)
        self._kinds[identifier] = kind
        self._qualified(record, "", place, record.get("source"))
        if not well_formed(record):
            self.say("aer.form", "a value has another type than the record promises", place)
            return
        self._fields(kind, identifier, record, place)
        self._sources(record, place)
        self._agreement.look(record)
        if kind == "message":
            self._message(identifier, record, place)
        elif kind == "tool_execution" and isinstance(record.get("call"), str):
            self._links.setdefault(record["call"], []).append(identifier)
            self._call_ids[identifier] = record.get("tool_call_id")
        elif kind == "generic_artefact" and record.get("role") == "raw":
            self._paths.add(str(record.get("path")))

    def _qualified(self, item: Any, name: str, place: str, sources: Any) -> None:
        where = f"{place}/{name}" if name else place
        if not isinstance(item, dict) or str(item.get("class")) not in CLASSES:
            self.say("aer.class", f"no evidence class {'for ' + name if name else ''}".rstrip(), where)
            return
        if item.get("by") not in BY:
            self.say("aer.by", f"{item.get('by')!r} is nobody who records", where)
        rules = catalogue("otel2traj")
        given = item.get("rule")
        if item["class"] == "O":
            if given is not None:
                self.say("aer.rule", "what is observed needs no rule", where)
            self._place(item, sources, where)
            return
        known = next((rule for rule in rules.rules.values() if rule.id == given), None)
        if known is None or known.evidence.value != item["class"]:
            self.say("aer.rule", f"{given!r} is no rule of class {item['class']} in the catalogue", where)

    def _place(self, item: JsonObject, sources: Any, where: str) -> None:
        at = item.get("at")
        number = at[0] if isinstance(at, list) and len(at) > 1 else None
        known = isinstance(sources, list) and isinstance(number, int) and 0 <= number < len(sources)
        if not known or not isinstance(at, list) or len({type(one) for one in at[1:]} - {bool}) != 1:
            self.say("aer.place", "it is observed, and no place in a source is given", where)
        elif isinstance(sources[number], dict) and item.get("by") != by_whom(sources[number]):
            whose = by_whom(sources[number])
            self.say("aer.by", f"by {item.get('by')!r}, and the cited range was written by {whose}", where)

    def _fields(self, kind: str, identifier: str, record: JsonObject, place: str) -> None:
        fields, unknown = record.get("fields"), record.get("unknown")
        if not isinstance(fields, dict) or not isinstance(unknown, dict):
            self.say("aer.fields", "fields or unknown is missing", place)
            return
        there, sort = record.keys() - RESERVED, sort_of(record)
        needed = (*REQUIRED.get(kind, ()), *REQUIRED.get(sort, ()))
        for name in sorted(there ^ (fields.keys() - {"after"})):
            self.say("aer.fields", f"{name} is a field without a class, or a class without a field", place)
        for name, how in fields.items():
            self._qualified(how, name, place, record.get("source"))
            made = of_kind(MADE, record, name)
            if made is not None and (how.get("class") == "O" or _stem(how.get("rule")) not in made):
                self.say("aer.made", f"{name} is made by {' or '.join(made)}, and by nothing else", place)
            words = of_kind(WORDS, record, name)
            if words is not None and name in there and record[name] not in words:
                self.say("aer.word", f"{name} is {record[name]!r}, which is none of its words", place)
        for name, reason in unknown.items():
            if reason not in REASONS:
                self.say("aer.unknown", f"{reason!r} is no reason for an unknown {name}", place)
            if name in there:
                self.say("aer.unknown", f"{name} is there and is declared unknown", place)
            if name in (*KNOWN.get(kind, ()), *KNOWN.get(sort, ())):
                self.say("aer.word", f"{name} of a {kind} is never unknown", place)
            if name not in (*needed, "rest", "system", "tools", "messages") and not name.endswith("/execution"):
                self.say("aer.unknown", f"{name} is no field that a {kind} has to have", place)
        for name in needed:
            if name not in there and name not in unknown:
                self.say("aer.required", f"a {kind} says {name}, or why it cannot", place)
        self._spelled(kind, identifier, record, place)
        if sort == "generic_artefact request":
            kept = record["kept"] if isinstance(record.get("kept"), dict) else {}
            for name in ("system", "tools"):
                if name not in there and name not in unknown and kept.get(name) is not True:
                    self.say("aer.required", f"a request says {name}, whose it kept, or why it cannot", place)
        for name in there:
            kinds = REFERENCES.get((kind, name))
            if kinds is not None:
                value = record[name]
                for one in value if isinstance(value, list) else [value]:
                    self._references.append((str(one), f"{place}/{name}", name, kinds))
        after = record.get("after")
        if not isinstance(after, list):
            self.say("aer.fields", "after is missing", place)
            return
        if bool(after) != ("after" in fields):
            self.say("aer.fields", "after has no class", place)
        self._after[identifier] = [str(one) for one in after]
        self._references += ((str(one), f"{place}/after", "after", tuple(KINDS)) for one in after)

    def _spelled(self, kind: str, identifier: str, record: JsonObject, place: str) -> None:
        """Values that have a form of their own."""
        if kind == "scope" and identifier != f"s{record.get('ordinal')}":
            self.say("aer.word", f"the ordinal {record.get('ordinal')!r} is not that of {identifier}", place)
        if kind == "execution" and set(record.get("adapter", {})) != {"name", "version", "software"}:
            self.say("aer.word", "an adapter is told by name, version and software", place)
        if record.get("role") == "raw" and "object" in record and _HEX.fullmatch(str(record["object"])) is None:
            self.say("aer.word", "an object is named by its SHA-256", place)
        join, how = record.get("join"), record["fields"].get("join", {})
        if join is not None and _stem(how.get("rule")) not in (f"join_{join}", "join_unlisted"):
            self.say("aer.made", f"the rule is not that of a join by {join}", place)

    def _sources(self, record: JsonObject, place: str) -> None:
        source = record.get("source")
        for one in source if isinstance(source, list) else [None]:
            good = (
                isinstance(one, dict)
                and isinstance(one.get("path"), str)
                and all(isinstance(one.get(key), int) and one[key] >= 0 for key in ("offset", "length"))
                and isinstance(one.get("sha256"), str)
                and _HEX.fullmatch(one["sha256"]) is not None
            )
            if not good or not isinstance(one, dict):
                self.say("aer.pointer", "a pointer has path, offset, length and sha256", f"{place}/source")
            else:
                self._pointed.setdefault(one["path"], f"{place}/source")

    def _message(self, identifier: str, record: JsonObject, place: str) -> None:
        for number, part in enumerate(record.get("parts") or []):
            name = part.get("id") if isinstance(part, dict) else None
            if name != f"{identifier}-{number}":
                self.say("aer.id", f"part {number} of {identifier} has the id {name!r}", place)
            else:
                self._kinds[name] = "part"
                self._qualified(part, name, place, record.get("source"))
                if part.get("type") == "tool_call":
                    self._call_ids[name] = part.get("call_id")
        for path in record.get("unknown") or {}:
            if path.endswith("/execution"):
                self._unknown_parts.add(path.removesuffix("/execution"))

    def finish(self) -> None:
        for target, place, name, kinds in self._references:
            if self._kinds.get(target) not in kinds:
                self.say("aer.reference", f"{name} names {target}, which is no {' or '.join(kinds[:3])} here", place)
        for path, place in self._pointed.items():
            if path not in self._paths:
                self.say("aer.pointer", f"{path} is no source of this record", place)
        for part, executions in self._links.items():
            if part in self._unknown_parts:
                self.say("aer.link", f"the execution of {part} is declared unknown and linked", executions[0])
            if len(executions) > 1:
                self.say("aer.link", f"{part} is linked to {len(executions)} executions", executions[-1])
            for one in executions:
                ids = (self._call_ids.get(part), self._call_ids.get(one))
                if None not in ids and ids[0] != ids[1]:
                    self.say("aer.link", f"{part} carries the id {ids[0]!r}, its execution {ids[1]!r}", one)
        for part in (name for name in self._call_ids if self._kinds.get(name) == "part"):
            if part not in self._links and part not in self._unknown_parts:
                self.say("aer.link", f"no execution is linked to {part}, and it is not said why", part)
        for rule, message, place in self._agreement.finish():
            self.say(f"aer.{rule}", message, place)
        for identifier in cyclic(self._after):
            self.say("aer.after", f"{identifier} comes after itself", identifier)


def _stem(rule: object) -> str:
    """The name of a rule without catalogue and version."""
    return str(rule).rpartition(".")[2].partition("@")[0]


def _pattern(kind: str) -> str:
    prefix = PREFIX[kind]
    if kind in ("execution", "seal"):
        return prefix
    return rf"s{_ID.pattern}" if kind == "scope" else rf"{prefix}\d+"
