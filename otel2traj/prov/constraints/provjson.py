"""PROV-JSON into statements.

https://www.w3.org/Submission/2013/SUBM-prov-json-20130424/
"""

from __future__ import annotations

from typing import Any

from ...canonical import JsonObject
from .statements import KINDS, PROV, XSD, Document, Statement

NAME_TYPES = ("prov:QUALIFIED_NAME", "xsd:QName")


def resolve(name: str, prefixes: dict[str, str]) -> str | None:
    """The IRI of a qualified name, or None where its prefix is not declared. `_:x` is a blank name of its own."""
    prefix, colon, local = name.partition(":")
    if not colon:
        prefix, local = "default", name
    if prefix == "_":
        return name
    base = prefixes.get(prefix)
    return None if base is None else base + local


def prefixes_of(data: JsonObject, outer: dict[str, str] | None = None) -> dict[str, str]:
    own = data.get("prefix")
    given = {k: v for k, v in own.items() if isinstance(v, str)} if isinstance(own, dict) else {}
    return {"prov": PROV, "xsd": XSD, **(outer or {}), **given}


def _types(attributes: JsonObject, prefixes: dict[str, str]) -> tuple[str, ...]:
    values = attributes.get("prov:type", [])
    out = []
    for value in values if isinstance(values, list) else [values]:
        if isinstance(value, dict) and value.get("type") in NAME_TYPES:
            name = resolve(str(value.get("$")), prefixes)
            if name is not None:
                out.append(name)
    return tuple(out)


def _statements(data: JsonObject, prefixes: dict[str, str], at: str) -> list[Statement]:
    out: list[Statement] = []
    for name, kind in KINDS.items():
        table = data.get(name)
        if not isinstance(table, dict):
            continue
        element = name in ("entity", "activity", "agent")
        for key, value in table.items():
            identifier = resolve(key, prefixes) or key
            for item in value if isinstance(value, list) else [value]:
                if not isinstance(item, dict):
                    continue
                place = f"{at}/{name}/{key.replace('~', '~0').replace('/', '~1')}"
                for args in _arguments(item, kind.args, prefixes):
                    anonymous = key.startswith("_:") and not element
                    out.append(
                        Statement(
                            name,
                            None if anonymous or not (element or kind.identified) else identifier,
                            args,
                            _types(item, prefixes),
                            place,
                        )
                    )
    return out


def _arguments(item: JsonObject, labels: tuple[str, ...], prefixes: dict[str, str]) -> list[tuple[str | None, ...]]:
    """One tuple, or one a member where PROV-JSON gives `hadMember` a list of entities."""
    columns: list[list[str | None]] = []
    for label in labels:
        value: Any = item.get(label)
        many = value if isinstance(value, list) else [value]
        column: list[str | None] = []
        for one in many or [None]:
            text = one.get("$") if isinstance(one, dict) else one
            if not isinstance(text, str):
                column.append(None)
            else:
                column.append(text if label.endswith("ime") else resolve(text, prefixes) or text)
        columns.append(column)
    width = max((len(column) for column in columns), default=1)
    return [tuple(column[min(i, len(column) - 1)] for column in columns) for i in range(width)]


def document_from_json(data: JsonObject) -> Document:
    """The statements of a PROV-JSON document; what is not well formed is left to the structure tier."""
    prefixes = prefixes_of(data)
    out = Document(_statements(data, prefixes, ""))
    bundles = data.get("bundle")
    for key, value in bundles.items() if isinstance(bundles, dict) else ():
        if isinstance(value, dict):
            inner = prefixes_of(value, prefixes)
            name = resolve(key, inner) or key
            if name in out.bundles:
                out.repeated.append(name)
            escaped = key.replace("~", "~0").replace("/", "~1")
            out.bundles.setdefault(name, []).extend(_statements(value, inner, f"/bundle/{escaped}"))
    return out
