"""The rule catalogues: data that says what may be derived, at which class, and on what."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final

from ...model.unknown import EvidenceClass

CATALOGUES: Final = ("otel2traj", "aprov", "sem")
"""The adapter's rules, the engine's rules, the rules of the semantics profiles."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry. `kind` is the statement it may make (an AER field, a PROV statement, an annotation)."""

    catalogue: str
    name: str
    version: int
    evidence: EvidenceClass
    kind: str
    meaning: str
    bundle: str | None = None
    """Engine rules: `core`, `inference`, `assessment` or `document`."""
    method: str | None = None
    """Inference rules: the set of assumptions, and so the bundle, that the statement belongs to."""
    subject: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    role: str | None = None
    type: str | None = None
    cites: tuple[str, ...] = ()
    """Recorders whose code the entry vouches for; anyone else gets the class-I twin."""

    @property
    def id(self) -> str:
        return f"{self.catalogue}.{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A set of rules with the version and the digest of the file they stand in."""

    name: str
    version: int
    digest: str
    rules: dict[str, Rule] = field(repr=False)

    def __getitem__(self, name: str) -> Rule:
        """The rule of that name. Raises `KeyError`: nothing may be derived that is not listed."""
        return self.rules[name]

    def ids(self) -> frozenset[str]:
        return frozenset(rule.id for rule in self.rules.values())


def parse(data: bytes) -> Catalogue:
    """A catalogue from the bytes of its TOML file. Raises `ValueError` for an entry that contradicts itself."""
    table = tomllib.loads(data.decode("utf-8"))
    name = str(table["catalogue"])
    rules: dict[str, Rule] = {}
    for entry in table["rule"]:
        for rule in _entries(name, entry):
            if rule.name in rules:
                raise ValueError(f"rule {rule.id} is listed twice")
            rules[rule.name] = rule
    return Catalogue(name, int(table["version"]), hashlib.sha256(data).hexdigest(), rules)


def _entries(catalogue: str, entry: dict[str, Any]) -> list[Rule]:
    rule = Rule(
        catalogue,
        entry["name"],
        entry["version"],
        EvidenceClass(entry["class"]),
        entry["kind"],
        entry["meaning"],
        entry.get("bundle"),
        entry.get("method"),
        tuple(entry.get("subject", ())),
        tuple(entry.get("object", ())),
        entry.get("role"),
        entry.get("type"),
        tuple(entry.get("cites", ())),
    )
    if rule.bundle == "core" and rule.evidence is EvidenceClass.INFERRED:
        raise ValueError(f"{rule.id}: an inferred statement has no place in core")
    if (rule.bundle == "inference") != (rule.method is not None):
        raise ValueError(f"{rule.id}: an inference has a method, and nothing else has")
    if rule.bundle == "assessment" and rule.kind not in ("entity", "agent"):
        raise ValueError(f"{rule.id}: an assessment states no relation between things")
    if not rule.cites:
        return [rule]
    twin = Rule(
        catalogue,
        f"{rule.name}_unverified",
        rule.version,
        EvidenceClass.INFERRED,
        rule.kind,
        f"{rule.meaning} Recorded by code that the entry does not cite, so no more than inferred.",
    )
    return [rule, twin]


@cache
def catalogue(name: str) -> Catalogue:
    """One of the shipped catalogues, read once."""
    return parse(catalogue_bytes(name))


def catalogue_bytes(name: str) -> bytes:
    """The file of a shipped catalogue, for digests and record copies."""
    return resources.files(__package__).joinpath(f"{name}.toml").read_bytes()
