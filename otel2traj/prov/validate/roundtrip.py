"""Tier 4: a PROV document through the W3C notations and back, by the PyPI package `prov`, into findings.

Compared as models, never as bytes. The library drops what it does not understand and then finds both sides equal, so
arguments and attributes are counted against the raw JSON first, and its rejection warnings are errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonObject, dumps
from ...errors import Otel2TrajError
from ...model.finding import Finding
from .profile import bundles, statements

RULES: Final = {
    "roundtrip.read": "The library reads the document without a warning of what it will reject.",
    "roundtrip.count": "The library's model holds every statement, argument and attribute of the JSON.",
    "roundtrip.model": "Written in each notation and read again, the model is the same.",
}
MAX_STATEMENTS: Final = 5_000
"""Beyond this the notations other than JSON would take minutes."""
MAX_RDF: Final = 400
NOTATIONS: Final = (("json", None), ("provn", MAX_STATEMENTS), ("xml", MAX_STATEMENTS), ("rdf", MAX_RDF))
PIECE: Final = 1_000
"""A longer document is read by the library in pieces of so many statements: it relates none of them, and its model
takes ten times the memory of the JSON."""


class NotRun(Otel2TrajError):
    """A tier could not run, and why. Never counted as passed."""

    code = "prov.not-run"


def _instances(document: JsonObject) -> list[JsonObject]:
    return [document, *bundles(document).values()]


def count_json(document: JsonObject) -> tuple[int, int]:
    """(statements, attribute values and arguments) of the raw JSON, bundles included."""
    number = values = 0
    for instance in _instances(document):
        for _, _, item in statements(instance):
            number += 1
            values += sum(len(value) if isinstance(value, list) else 1 for value in item.values())
    return number, values


def _count_model(model: Any) -> tuple[int, int]:
    records = [record for one in (model, *model.bundles) for record in one.records]
    return len(records), sum(len(record.attributes) for record in records)


def _pieces(data: bytes, document: JsonObject, number: int) -> Iterator[tuple[str, JsonObject]]:
    """The document as text and as objects, whole or in pieces that hold every statement once."""
    if number <= PIECE:
        yield data.decode("utf-8", "replace"), document
        return
    for name, instance in [("", document), *bundles(document).items()]:
        prefixes = instance.get("prefix", {})
        found = list(statements(instance))
        for start in range(0, len(found), PIECE):
            piece: JsonObject = {"prefix": prefixes}
            for section, key, item in found[start : start + PIECE]:
                piece.setdefault(section, {})[key] = item
            whole = piece if name == "" else {"prefix": document.get("prefix", {}), "bundle": {name: piece}}
            yield dumps(whole).decode("utf-8"), whole


def validate_roundtrip(data: bytes, document: JsonObject, remarks: list[str] | None = None) -> list[Finding]:
    """Tier 4. Raises `NotRun` without the package; notations left out for size are named in `remarks`."""
    number, _ = count_json(document)
    notations = []
    for notation, limit in NOTATIONS:
        if limit is not None and number > limit:
            if remarks is not None:
                remarks.append(f"{notation} not run: {number} statements, more than {limit}")
        elif notation == "rdf" and any("actedOnBehalfOf" in one for one in _instances(document)):
            # prov 3.2.3 takes every predicate of a delegation whose IRI holds "agent" for prov:agent
            if remarks is not None:
                remarks.append("rdf not run: the library's reader confuses delegations with terms of this namespace")
        else:
            notations.append(notation)
    found: list[Finding] = []
    for text, piece in _pieces(data, document, number):
        found += _piece(text, piece, notations, remarks)
    return found


def _piece(text: str, document: JsonObject, notations: list[str], remarks: list[str] | None) -> list[Finding]:
    try:
        from prov.model import ProvDocument
    except ImportError as err:
        raise NotRun("the package prov is not installed", hint="pip install 'otel2traj[prov]'") from err
    number, values = count_json(document)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            model = ProvDocument.deserialize(content=text, format="json")
        except Exception as err:  # the library's own errors have no common base
            return [Finding("roundtrip.read", f"{type(err).__name__}: {err}")]
    found = []
    counted = _count_model(model)
    if counted != (number, values):
        message = f"{number} statements with {values} values in the JSON, {counted[0]} with {counted[1]} in the model"
        found.append(Finding("roundtrip.count", message))
    for notation in notations:
        found += _through(ProvDocument, model, notation, remarks)
    return found


def _through(reader: Any, model: Any, notation: str, remarks: list[str] | None) -> list[Finding]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            back = reader.deserialize(content=model.serialize(format=notation), format=notation)
        except Exception as err:
            if type(err).__name__ == "DoNotExist":
                if remarks is not None:
                    remarks.append(f"{notation} not run: the library's extra for it is not installed")
                return []
            return [Finding("roundtrip.model", f"{notation}: {type(err).__name__}: {err}")]
    if back != model:
        return [Finding("roundtrip.model", f"{notation}: the model read again is another one")]
    return []
