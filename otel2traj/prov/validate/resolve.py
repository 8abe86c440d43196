"""An AER into an index that resolves pointers: records, parts, fields, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...canonical import JsonObject, sha256_canonical
from ...errors import EvidenceError
from ...model.unknown import EvidenceClass
from ..core import known
from ..sem import read_lines
from ..shape import well_formed

_HEAVY = ("content", "arguments", "usage", "parameters", "details", "said_by")


class AerIndex:
    """Records by id, with their heavy values left out. Raises `EvidenceError` for lines that are no AER records."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.records: dict[str, JsonObject] = {}
        self.parts: dict[str, str] = {}
        """Part id -> the message that holds it."""
        self.raw: dict[str, JsonObject] = {}
        """Path -> the record of the source file."""
        self.execution: str | None = None
        self.digest: str | None = None
        for record in read_lines(lines):
            if not well_formed(record):
                raise EvidenceError(f"record {record.get('id')!r} is malformed", code="prov.aer", hint="see tier 1")
            kind = record.get("kind")
            if kind == "seal":
                self.digest = record.get("digest")
            elif kind == "execution":
                self.execution = record.get("execution")
            elif kind == "generic_artefact" and record.get("role") == "raw":
                self.raw[str(record.get("path"))] = record
            for part in record.get("parts") or [] if kind == "message" else ():
                if isinstance(part, dict):
                    self.parts[str(part.get("id"))] = str(record.get("id"))
                    part.pop("content", None)
                    part.pop("arguments", None)
            for name in _HEAVY:
                if isinstance(record.get(name), (dict, list, str)):
                    record[name] = sha256_canonical(record[name])
            self.records[str(record.get("id"))] = record

    def split(self, pointer: str) -> tuple[str, str | None]:
        """(record id, field or None). A part's id points to its message's parts."""
        identifier, slash, field = pointer.partition("/")
        if identifier in self.parts:
            return self.parts[identifier], "parts"
        return identifier, field if slash else None

    def has(self, pointer: str) -> bool:
        return self.evidence(pointer) is not None

    def evidence(self, pointer: str) -> EvidenceClass | None:
        """The class of what the pointer names, or None where there is nothing, or only a declared unknown."""
        if pointer in self.parts:
            how: Any = self._part(pointer)
            return EvidenceClass(how["class"]) if how.get("class") in ("O", "D", "I") else None
        identifier, field = self.split(pointer)
        record = self.records.get(identifier)
        if record is None:
            return None
        how = record
        if field is not None and record.get("kind") != "seal":
            if known(record, field) is None:
                return None
            how = record["fields"][field]
        elif field is not None and field not in record:
            return None
        try:
            return EvidenceClass(how["class"])
        except (KeyError, ValueError, TypeError):
            return None

    def rule(self, pointer: str) -> str | None:
        """The rule that gave what the pointer names."""
        if pointer in self.parts:
            given = self._part(pointer).get("rule")
            return given if isinstance(given, str) else None
        identifier, field = self.split(pointer)
        record = self.records.get(identifier, {})
        how = record if field is None else (record.get("fields") or {}).get(field, {})
        rule = how.get("rule")
        return rule if isinstance(rule, str) else None

    def _part(self, identifier: str) -> JsonObject:
        parts = self.records[self.parts[identifier]].get("parts") or []
        return next((one for one in parts if one.get("id") == identifier), {})
