"""What the projection remembers between steps: a name for each actor, message and call, never what they say."""

from __future__ import annotations

import hashlib
from typing import BinaryIO, Final

from ..canonical import JsonObject
from ..model.trajectory import Step
from ..model.unknown import UnknownReason
from .cited import Cited, Opened
from .places import Opens
from .plain import Redact
from .pointers import pointers
from .records import AerWriter, Record
from .tree import Side


class State:
    """Counters and names of one execution, the writer that its records go to, and the evidence that they cite."""

    def __init__(self, out: BinaryIO, redact: Redact | None, read: Opens | None, saved: JsonObject | None) -> None:
        self.writer = AerWriter(out, redact)
        self.scopes: dict[str, list[JsonObject]] = {}
        """Ordinal -> the records behind the first step of the Input."""
        self._counts: dict[str, int] = {}
        self._actors: dict[tuple[str, str], str] = {}
        self._read = None if saved is not None else read
        self._saved = None
        if saved is not None:
            whole = {"path": saved["path"], "offset": 0, "length": saved["length"], "sha256": saved["sha256"]}
            self._saved = {**whole, "what": "trajectory"}
        self.opened = Opened(self._read)
        self.cited_papers: dict[str, str] = {}
        """Path -> SHA-256 of the harness's files that were opened here."""
        self.naming: dict[str, list[JsonObject]] = {}
        """Agent -> the records of the spans that name it."""
        self.nothing = Cited([], self.opened, "put_together")

    def new(self, prefix: str) -> str:
        """The next free id: `m0`, `m1`, …"""
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def cited(self, sources: list[JsonObject], side: Side | None = None) -> Cited:
        """The records that something cites, for what stands on one side of them. What a saved trajectory says cites
        the file, and nobody opens it."""
        if self._saved is not None:
            return Cited([self._saved], self.opened, "saved_trajectory")
        return Cited([*sources, *self._payloads(sources)], self.opened, "put_together", side)

    def _payloads(self, sources: list[JsonObject]) -> list[JsonObject]:
        """The files that hold what a cited span itself only names (see the reader of the harness's spans)."""
        out: list[JsonObject] = []
        for source in sources:
            tree = self.opened(source) if source.get("what") == "span" else None
            named = _references(tree.root) if tree is not None and b'_ref"' in tree.data else {}
            folder = str(source.get("path")).rpartition("/")[0]
            for what, reference in named.items():
                out += self._whole(f"{folder}/{reference}" if folder else reference, f"payload_{what}")
        return out

    def papers(self, paths: list[str]) -> list[JsonObject]:
        """Whole files of the harness, as far as they can be opened."""
        return [one for path in paths for one in self._whole(path, "file")]

    def _whole(self, path: str, what: str) -> list[JsonObject]:
        """A whole file as a source, or none where it cannot be opened."""
        size = None if self._read is None else self._read.size(path)
        data = None if self._read is None or size is None else self._read(path, 0, size)
        if data is None:
            return []
        digest = self.cited_papers.setdefault(path, hashlib.sha256(data).hexdigest())
        return [{"path": path, "offset": 0, "length": len(data), "sha256": digest, "what": what}]

    def actor(self, role: str, name: str, cited: Cited, rule: str | None = None) -> str:
        """The id of an actor; its record is written when it is first met, with the records that name it."""
        known = self._actors.get((role, name))
        if known is not None:
            return known
        record = Record("actor", self.new("a"), cited, rule=rule, key=("name",), narrow=True)
        record.derive("role", role, "place_in_record" if rule is None else rule)
        if rule is None:
            record.say("name", name, at=cited.find(name, "model"))
        else:
            record.derive("name", name, rule)
        self.writer.write(record)
        self._actors[role, name] = record.id
        return record.id

    def _naming(self, step: Step, cited: Cited) -> Cited:
        """The records that name the agent of a step: those of the spans that do, the run's papers, else its own."""
        name = str(step.agent_name)
        if self._saved is None and name in self.naming:
            return self.cited(pointers({"records": self.naming[name]}))
        if self._saved is None and (step.evidence.get("said_by") or {}).get("agent_name") == "attempt":
            return self.cited(self.papers(["run.json"]) or cited.sources)
        return cited.of_word(name)

    def agent_and_scope(self, record: Record, step: Step, cited: Cited) -> None:
        agent = None
        if step.agent_name is not None:
            agent = self._actors.get(("agent", step.agent_name))
            agent = agent or self.actor("agent", step.agent_name, self._naming(step, cited), "agent_name")
        record.derive_or_miss("agent", agent, "agent_name")
        self.scope(record, step, cited)

    def scope(self, record: Record, step: Step, cited: Cited) -> None:
        if step.input_ordinal is None:
            record.miss("scope", UnknownReason.NOT_RECORDED)
        else:
            self.scopes.setdefault(step.input_ordinal, cited.sources)
            record.derive("scope", f"s{step.input_ordinal}", "scope_of_record")


_REFERENCES: Final = ("output", "error", "metadata", "input")
"""An input may hold earlier answers with all that was recorded of them: it is looked into last."""


def _references(root: object) -> dict[str, str]:
    """What a span of the harness says lies in a file beside it: what it is -> its name there."""
    data = root.get("data") if isinstance(root, dict) else None
    attributes = data.get("attributes") if isinstance(data, dict) else None
    told = attributes if isinstance(attributes, dict) else {}
    named = ((what, told.get(f"abb.{what}_ref")) for what in _REFERENCES)
    return {what: name for what, name in named if isinstance(name, str) and not name.startswith("/")}
