"""Statements into facts over terms: placeholders expanded, inferences drawn, keys and uniqueness merged.

A term is a number. A constant carries its text; an existential variable carries none; the marker `-` in a position
that may not be expanded is a constant of its own. Merging two different constants is the one way to fail.

Left out because nothing follows from them that a constraint could see: inferences 5 and 6 (communication is ordered
and typed by constraints 35 and 50 themselves), 12, 16 to 18 and 20 (alternates are only typed), and the inner events
of 7, 8 and 13 whose activity or trigger is a fresh variable (that an event exists is kept).
https://www.w3.org/TR/2013/REC-prov-constraints-20130430/#normalization-validity-equivalence
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ...model.finding import Finding
from .statements import ELEMENTS, EMPTY_COLLECTION, KINDS, Statement, time_value

NONE: Final = "-"
"""The text of the constant that a `-` stands for where it may not be expanded."""


@dataclass(slots=True)
class Fact:
    """A statement over terms. `id` is a term too; `place` names the statement it came from."""

    kind: str
    id: int
    args: list[int]
    place: str


@dataclass(slots=True)
class Solved:
    """The normal form of one instance, or as much of it as could be made, with what went wrong."""

    facts: dict[str, list[Fact]] = field(default_factory=lambda: {name: [] for name in KINDS})
    findings: list[Finding] = field(default_factory=list)
    generated: set[int] = field(default_factory=set)
    invalidated: set[int] = field(default_factory=set)
    started: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    empty: set[int] = field(default_factory=set)
    """Entities of type prov:EmptyCollection."""
    declared: set[int] = field(default_factory=set)
    """Entities that an entity statement declares, those of inference 21 included."""


class Terms:
    """Union-find over constants and variables."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._text: list[str | None] = []
        self._constants: dict[str, int] = {}

    def variable(self) -> int:
        self._parent.append(len(self._parent))
        self._text.append(None)
        return len(self._parent) - 1

    def constant(self, text: str) -> int:
        term = self._constants.get(text)
        if term is None:
            term = self._constants[text] = self.variable()
            self._text[term] = text
        return term

    def find(self, term: int) -> int:
        while self._parent[term] != term:
            self._parent[term] = self._parent[self._parent[term]]
            term = self._parent[term]
        return term

    def text(self, term: int) -> str | None:
        return self._text[self.find(term)]

    def show(self, term: int) -> str:
        text = self.text(term)
        return "a value that is not named" if text is None else text

    def merge(self, a: int, b: int) -> bool | None:
        """True when something changed, False when nothing had to, None when the two are different constants."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self._text[a] is not None and self._text[b] is not None:
            return None
        if self._text[a] is None:
            a, b = b, a
        self._parent[b] = a
        return True


def finding(number: int | str, message: str, place: str) -> Finding:
    return Finding(f"prov.c{number}" if isinstance(number, int) else f"prov.{number}", message, pointer=place)


class Solver:
    """Expands, infers and merges the statements of one instance."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.terms = Terms()
        self.out = Solved()
        self._entity_types: dict[int, set[str]] = {}
        self._failed: set[tuple[int, int, int]] = set()
        for statement in statements:
            self._expand(statement)

    # -- definitions: optional identifiers and placeholders ---------------------------------------------------------

    def _expand(self, statement: Statement) -> None:
        kind = KINDS[statement.kind]
        for label, value in zip(kind.args[: kind.mandatory], statement.args, strict=False):
            if value is None:
                message = f"{kind.name} leaves out {label}, which PROV-DM does not allow"
                self.out.findings.append(finding("mandatory", message, statement.place))
                return
        terms = self.terms
        args = [
            terms.variable()
            if value is None
            else terms.constant((time_value(value) or value) if label.endswith("ime") else value)
            for label, value in zip(kind.args, statement.args, strict=True)
        ]
        if kind.name == "wasAssociatedWith" and statement.args[2] is None:
            args[2] = terms.constant(NONE)
        if kind.name == "wasDerivedFrom" and statement.args[2] is None:
            if statement.args[3] is not None or statement.args[4] is not None:
                message = "a derivation names a generation or a usage, and no activity"
                self.out.findings.append(finding(51, message, statement.place))
            args[2:] = [terms.constant(NONE)] * 3
        identifier = terms.variable() if statement.id is None else terms.constant(statement.id)
        self.out.facts[kind.name].append(Fact(kind.name, identifier, args, statement.place))
        if kind.name == "entity":
            self._entity_types.setdefault(identifier, set()).update(statement.types)

    # -- inferences --------------------------------------------------------------------------------------------------

    def _add(self, kind: str, identifier: int | None, args: list[int], place: str) -> None:
        term = self.terms.variable() if identifier is None else identifier
        self.out.facts[kind].append(Fact(kind, term, args, place))

    def infer(self) -> None:
        facts, new = self.out.facts, self.terms.variable
        none = self.terms.constant(NONE)
        for mention in facts["mentionOf"]:
            self._add("specializationOf", None, mention.args[:2], mention.place)
        for kind in ("wasStartedBy", "wasEndedBy"):  # 9 and 10
            for fact in list(facts[kind]):
                self._add("wasGeneratedBy", None, [fact.args[1], fact.args[2], new()], fact.place)
        for fact in facts["wasDerivedFrom"]:  # 11
            generated, source, activity, generation, usage = fact.args
            if activity != none:
                self._add("used", usage, [activity, source, new()], fact.place)
                self._add("wasGeneratedBy", generation, [generated, activity, new()], fact.place)
        for fact in facts["wasAttributedTo"]:  # 13
            activity = new()
            self._add("wasGeneratedBy", None, [fact.args[0], activity, new()], fact.place)
            self._add("wasAssociatedWith", None, [activity, fact.args[1], new()], fact.place)
        for fact in facts["actedOnBehalfOf"]:  # 14
            for agent in fact.args[:2]:
                self._add("wasAssociatedWith", None, [fact.args[2], agent, new()], fact.place)
        self._specialize()

    def _specialize(self) -> None:
        """19 and 21: what is said of a general entity holds for the specific one."""
        below: dict[int, list[int]] = {}
        for fact in self.out.facts["specializationOf"]:
            below.setdefault(fact.args[1], []).append(fact.args[0])
        todo = [fact.id for fact in self.out.facts["entity"]]
        declared = set(todo)
        empty = {term for term, types in self._entity_types.items() if EMPTY_COLLECTION in types}
        while todo:
            general = todo.pop()
            for specific in below.get(general, ()):
                if specific not in declared or (general in empty and specific not in empty):
                    declared.add(specific)
                    if general in empty:
                        empty.add(specific)
                    todo.append(specific)
        self.out.declared, self.out.empty = declared, empty

    # -- keys and uniqueness ------------------------------------------------------------------------------------------

    def _unify(self, number: int, a: int, b: int, what: str, one: str, other: str) -> bool:
        changed = self.terms.merge(a, b)
        if changed is not None:
            return changed
        pair = (number, self.terms.find(a), self.terms.find(b))
        if pair not in self._failed:
            self._failed.add(pair)
            message = f"{what}: {self.terms.show(a)} and {self.terms.show(b)} would have to be one"
            self.out.findings.append(finding(number, message + ("" if one == other else f" (see also {other})"), one))
        return False

    def merge(self) -> None:
        while self._pass():
            pass
        find, facts = self.terms.find, self.out.facts
        out = self.out
        out.declared = {find(term) for term in out.declared}
        out.empty = {find(term) for term in out.empty}
        out.generated = {find(fact.args[0]) for fact in facts["wasGeneratedBy"]} | out.declared
        out.invalidated = {find(fact.args[0]) for fact in facts["wasInvalidatedBy"]} | out.declared
        activities = {find(fact.id) for fact in facts["activity"]}
        out.started = {find(fact.args[0]) for fact in facts["wasStartedBy"]} | activities
        out.ended = {find(fact.args[0]) for fact in facts["wasEndedBy"]} | activities

    def _pass(self) -> bool:
        changed = False
        for name, rows in self.out.facts.items():
            if KINDS[name].identified:
                changed |= self._keys(22 if name in ELEMENTS else 23, name, rows)
        changed |= self._influence()
        for number, name, left, right in (
            (24, "wasGeneratedBy", 0, 1),
            (25, "wasInvalidatedBy", 0, 1),
            (26, "wasStartedBy", 0, 2),
            (27, "wasEndedBy", 0, 2),
        ):
            changed |= self._unique(number, name, left, right)
        changed |= self._times(28, "wasStartedBy", 0)
        changed |= self._times(29, "wasEndedBy", 1)
        changed |= self._mentions()
        return changed

    def _keys(self, number: int, name: str, rows: list[Fact]) -> bool:
        changed = False
        first: dict[int, Fact] = {}
        for row in rows:
            known = first.setdefault(self.terms.find(row.id), row)
            if known is not row:
                for a, b in zip(known.args, row.args, strict=True):
                    what = f"two {name} statements have the identifier {self.terms.show(row.id)}"
                    changed |= self._unify(number, a, b, what, row.place, known.place)
        return changed

    def _influence(self) -> bool:
        """15 with 23: relations of one identifier are one influence, so both ends have to agree."""
        changed = False
        first: dict[int, Fact] = {}
        for name, rows in self.out.facts.items():
            if name in ELEMENTS or not KINDS[name].identified:
                continue
            for row in rows:
                if self.terms.text(row.id) is None:
                    continue
                known = first.setdefault(self.terms.find(row.id), row)
                if known.kind != row.kind:
                    for a, b in zip(known.args[:2], row.args[:2], strict=True):
                        what = f"{known.kind} and {name} are one influence by their identifier"
                        changed |= self._unify(23, a, b, what, row.place, known.place)
        return changed

    def _unique(self, number: int, name: str, left: int, right: int) -> bool:
        changed = False
        first: dict[tuple[int, int], Fact] = {}
        find = self.terms.find
        for row in self.out.facts[name]:
            known = first.setdefault((find(row.args[left]), find(row.args[right])), row)
            if known is not row:
                what = f"{name} is there twice for {self.terms.show(row.args[left])}"
                changed |= self._unify(number, known.id, row.id, what, row.place, known.place)
        return changed

    def _times(self, number: int, name: str, position: int) -> bool:
        changed = False
        find = self.terms.find
        activities = {find(fact.id): fact for fact in self.out.facts["activity"]}
        for row in self.out.facts[name]:
            activity = activities.get(find(row.args[0]))
            if activity is not None:
                what = f"{name} and its activity give different times"
                changed |= self._unify(number, activity.args[position], row.args[3], what, row.place, activity.place)
        return changed

    def _mentions(self) -> bool:
        """PROV-LINKS, constraint 2: an entity is a mention of one entity in one bundle."""
        changed = False
        first: dict[int, Fact] = {}
        for row in self.out.facts["mentionOf"]:
            known = first.setdefault(self.terms.find(row.args[0]), row)
            if known is not row:
                what = f"{self.terms.show(row.args[0])} is a mention of two things"
                for position in (1, 2):
                    a, b = known.args[position], row.args[position]
                    changed_here = self.terms.merge(a, b)
                    if changed_here is None:
                        self._mention_failed(a, b, what, row.place)
                    else:
                        changed |= changed_here
        return changed

    def _mention_failed(self, a: int, b: int, what: str, place: str) -> None:
        pair = (0, self.terms.find(a), self.terms.find(b))
        if pair not in self._failed:
            self._failed.add(pair)
            message = f"{what}: {self.terms.show(a)} and {self.terms.show(b)}"
            self.out.findings.append(finding("unique-mention", message, place))
