"""What the projection remembers between steps: a name for each actor, message and call, never what they say."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from ..canonical import JsonObject
from ..model.trajectory import Step
from ..model.unknown import UnknownReason
from .cited import Cited, Opened
from .places import Opens
from .plain import Redact
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
        return Cited(sources, self.opened, "put_together", side)

    def papers(self, paths: list[str]) -> list[JsonObject]:
        """Whole files of the harness, as far as they can be opened."""
        out: list[JsonObject] = []
        for path in paths if self._read is not None else ():
            size = self._read.size(path) if self._read is not None else None
            data = self._read(path, 0, size) if self._read is not None and size is not None else None
            if data is not None:
                digest = self.cited_papers.setdefault(path, hashlib.sha256(data).hexdigest())
                out.append({"path": path, "offset": 0, "length": len(data), "sha256": digest, "what": "file"})
        return out

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

    def agent_and_scope(self, record: Record, step: Step, cited: Cited) -> None:
        agent = None if step.agent_name is None else self.actor("agent", step.agent_name, cited, "agent_name")
        record.derive_or_miss("agent", agent, "agent_name")
        self.scope(record, step, cited)

    def scope(self, record: Record, step: Step, cited: Cited) -> None:
        if step.input_ordinal is None:
            record.miss("scope", UnknownReason.NOT_RECORDED)
        else:
            self.scopes.setdefault(step.input_ordinal, cited.sources)
            record.derive("scope", f"s{step.input_ordinal}", "scope_of_record")
