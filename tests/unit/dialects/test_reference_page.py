"""The reference page of dialects, written from the registry and from what the recorded spans were seen to say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from otel2traj.dialects import DIALECTS, LOG_DIALECTS
from otel2traj.dialects.base import Declared, Dialect

from .cases import ROOT

PAGE = ROOT.parent.parent / "docs" / "reference" / "dialects.md"
HEAD = """# Dialects

Generated from the registry and the recorded spans under `fixtures/dialects`; a test says when it is stale
(`pytest tests/unit/dialects/test_reference_page.py --update-golden` writes it).

Every dialect that recognises a span is asked, in the order of this page; fields still missing are filled from the next.
`evidence.said_by` of a step names the dialect that gave each field, and the carrier where it was not a span attribute.
"Gives" lists what the recorded spans were seen to give; what a specific dialect does not list is read by the general
one below it. Nothing depends on a version: an attribute that nobody reads is counted by `otel2traj info`.
"""


def sayings() -> dict[str, dict[str, set[str]]]:
    """dialect -> field -> carriers, from the golden readings of all cases."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for file in sorted(ROOT.glob("*/*/expected/readings.json")):
        for told in json.loads(file.read_text(encoding="utf-8")):
            for field, who in told["reading"].get("said_by", {}).items():
                name, _, carrier = who.partition(":")
                found[name][field].add(carrier)
    return found


def page() -> str:
    told = sayings()
    return "\n".join([HEAD, *_table(told), *_sections(told)])


def _table(told: dict[str, dict[str, set[str]]]) -> Iterator[str]:
    yield "| dialect | instrumentation | content |"
    yield "| --- | --- | --- |"
    for dialect in _all():
        yield f"| [`{dialect.name}`](#{dialect.name}) | {dialect.title} | {_cell(dialect.switch_on)} |"
    yield ""


def _sections(told: dict[str, dict[str, set[str]]]) -> Iterator[str]:
    for dialect in _all():
        yield f"## {dialect.name}\n"
        yield f"{dialect.title}. <{dialect.source}>\n"
        yield from _marks(dialect)
        yield f"* Gives: {_fields(told.get(dialect.name, {}))}"
        yield f"* Leaves out: {_sentence(dialect.leaves_out)}"
        yield f"* Content: {_sentence(dialect.switch_on)}"
        cases = sorted(case.name for case in (ROOT / dialect.name).iterdir() if case.is_dir())
        yield f"* Seen in: {', '.join(cases)}.\n"


def _all() -> list[Declared]:
    seen: dict[str, Declared] = {}
    for dialect in (*DIALECTS, *LOG_DIALECTS):
        seen.setdefault(dialect.name, dialect)
    return list(seen.values())


def _marks(dialect: Any) -> Iterator[str]:
    if dialect.name not in DIALECTS.names():
        yield "* Recognised by: log records with identifiers of their own."
        return
    found: Dialect = DIALECTS.get(dialect.name)
    marks = found.marks
    parts = [
        ("attribute", [*marks.keys, *(f"{prefix}*" for prefix in marks.prefixes)]),
        ("event", list(marks.events)),
        ("scope", [scope if len(marks.scopes) < 4 else scope.rsplit(".", 1)[-1] for scope in marks.scopes]),
        ("span name", [f"{name}*" for name in marks.span_names]),
    ]
    text = "; ".join(f"{kind} {', '.join(f'`{name}`' for name in names)}" for kind, names in parts if names)
    yield f"* Recognised by: {text}."


def _fields(fields: dict[str, set[str]]) -> str:
    if not fields:
        return "what the span stands for; the rest is read by the general dialect."
    return ", ".join(f"{name}{_carriers(fields[name])}" for name in sorted(fields)) + "."


def _carriers(carriers: set[str]) -> str:
    named = sorted(carrier for carrier in carriers if carrier)
    return f" ({', '.join(named)})" if named else ""


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_the_page_tells_what_the_registry_and_the_spans_tell(golden: Callable[[Path, bytes], None]) -> None:
    golden(PAGE, page().rstrip("\n").encode() + b"\n")
