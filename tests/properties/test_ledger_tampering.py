"""Every kind of tampering on every field of a small ledger: what finds it, and what passes without the evidence.

A change is tried as it stands, with the chain taken off, with the chain made again, and with everything made again that
can be computed from the ledger alone: steps, money, states, totals, chain.
"""

from __future__ import annotations

import copy
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from otel2traj.canonical import canonical_bytes, loads
from otel2traj.model.ledger import DIGEST
from otel2traj.model.ledger_cost import json_number, usd
from otel2traj.writers.ledger import LedgerSink
from tests.factory import play
from tests.ledgers import consistent, good, good_ledger, good_trajectory, judge, sealed, written

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "ledger.md"
BLOCK = re.compile(r"(<!-- tampering: [^\n]*-->\n).*?(<!-- /tampering -->)", re.DOTALL)
END = good()[-1]["event_hash"]
CHAIN = ("event_hash", "prev_event_hash")
EVIDENCE_ALONE = {
    (level, f"/rate_source{below}")
    for level in ("chain made again", "all made again")
    for below in ("", "/(new)", "/package", "/version")
}
OUTSIDE = ("ledger.evidence", "ledger.evidence-event", "ledger.end")
Items = list[Any]
Change = tuple[str, str, Items]
"""(operation, field or event, the events after it)"""


def another(value: Any) -> Any:
    """Another value that the same reader would take."""
    if isinstance(value, bool) or value is None:
        return "x" if value is None else not value
    if isinstance(value, (int, float)):
        return value + 1
    if not isinstance(value, str):
        return {"other": 1} if isinstance(value, dict) else ["other"]
    if DIGEST.fullmatch(value):
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    return value.replace("2026", "2025", 1) if value.startswith("2026") else f"{value}x"


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a value, containers too."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*at, key))


def edited(index: int, at: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> Items:
    items = copy.deepcopy(good())
    holder = items[index]
    for key in at[:-1]:
        holder = holder[key]
    edit(holder, at[-1])
    return items


def put_in(holder: Any, key: Any) -> None:
    if isinstance(holder[key], dict):
        holder[key]["added"] = "x"
    else:
        holder[key].append("x")


def take_out(holder: Any, key: Any) -> None:
    del holder[key]


def change(holder: Any, key: Any) -> None:
    holder[key] = another(holder[key])


def changes() -> Iterator[Change]:
    base = good()
    for index, event in enumerate(base):
        for at in places(event):
            name = "/" + "/".join("*" if isinstance(key, int) else key for key in at)
            value: Any = event
            for key in at:
                value = value[key]
            yield "change", name, edited(index, at, change)
            yield "drop", name, edited(index, at, take_out)
            if isinstance(value, (dict, list)):
                yield "insert", f"{name}/(new)", edited(index, at, put_in)
        for other in range(index + 1, len(base)):
            for key in event.keys() & base[other].keys():
                items = copy.deepcopy(base)
                items[index][key], items[other][key] = items[other][key], items[index][key]
                yield "swap", f"/{key}", items
        added = copy.deepcopy(base)
        added[index]["added"] = "x"
        yield "insert", "/(new)", added
    for index, event in enumerate(base):
        yield "drop", "(event)", base[:index] + base[index + 1 :]
        yield "insert", "(event)", [*base[:index], copy.deepcopy(event), *base[index:]]
        if index:
            yield "truncate", "(event)", base[:index]
            yield "swap", "(event)", [*base[: index - 1], event, base[index - 1], *base[index + 1 :]]


def unchained(items: Items) -> bytes:
    return written([{key: value for key, value in item.items() if key not in (*CHAIN, "chain")} for item in items])


def made_again(items: Items) -> bytes:
    """Everything that follows from the ledger alone."""
    rates = items[0].get("rates") if items else None
    out = []
    for step, given in enumerate(items):
        item = copy.deepcopy(given)
        usage, rate = item.get("usage"), rates.get(item.get("model")) if isinstance(rates, dict) else None
        if isinstance(item.get("step"), int):
            item["step"] = step
        if isinstance(usage, dict) and isinstance(rate, dict) and isinstance(item.get("cost"), dict):
            try:
                money, _ = usd(usage, rate)
            except (ArithmeticError, KeyError, TypeError, ValueError):
                money = None
            if money is not None:
                item["cost"]["usd"] = json_number(money)
        out.append(item)
    try:
        return consistent(out)
    except (AttributeError, KeyError, TypeError, ValueError):
        return sealed(out)


LEVELS: dict[str, Callable[[Items], bytes]] = {
    "as it stands": written,
    "chain taken off": unchained,
    "chain made again": sealed,
    "all made again": made_again,
}


@cache
def derived(source: bytes, rates: bytes) -> tuple[bytes, ...]:
    """The ledger that the evidence gives: rates looked up where the table is the one here, else taken over."""
    here = good()[0]
    header = {"rate_source": loads(source), "rates": loads(rates)}
    pinned = None if header["rate_source"] == here["rate_source"] else header
    out = io.BytesIO()
    with (
        patch("otel2traj.prices.rate", lambda model, first, last: (here["rates"][model], None)),
        patch("otel2traj.prices.source", lambda: here["rate_source"]),
    ):
        play(good_trajectory(), LedgerSink(out, pinned))
    return tuple(out.getvalue().splitlines())


@cache
def outcomes() -> dict[tuple[str, str, str], list[frozenset[str]]]:
    """(level, operation, field) to the rules that spoke, for every tampering of that kind."""
    found: dict[tuple[str, str, str], list[frozenset[str]]] = defaultdict(list)
    base = good_ledger()
    for operation, name, items in changes():
        for level, finish in LEVELS.items():
            ledger = finish(copy.deepcopy(items))
            if ledger == base:
                continue  # what was made again took the change back
            head = items[0] if items else {}
            lines = derived(canonical_bytes(head.get("rate_source")), canonical_bytes(head.get("rates")))
            _, failures = judge(ledger, expect_end=END, derived=lines)
            found[level, operation, name].append(frozenset(finding.rule for finding in failures))
    return found


def passing(without: tuple[str, ...]) -> dict[str, dict[str, set[str]]]:
    """Level to field to the operations of which one passes, where the rules of `without` cannot speak."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (level, operation, name), all_rules in outcomes().items():
        if any(rules <= set(without) for rules in all_rules):
            found[level][name].add(operation)
    return found


def test_there_is_something_to_find() -> None:
    """Every field of every event is touched, and by every kind of tampering."""
    operations = {operation for _, operation, _ in outcomes()}
    assert operations == {"change", "drop", "insert", "swap", "truncate"}
    assert sum(map(len, outcomes().values())) > 2500
    names = {name for _, _, name in outcomes()}
    assert {f"/{key}" for event in good() for key in event} <= names
    assert judge(good_ledger(), expect_end=END, derived=good_ledger().splitlines())[0].clean


def test_with_evidence_and_end_hash_everything_is_found() -> None:
    assert passing(()) == {}


def test_with_the_end_hash_alone_everything_is_found() -> None:
    assert passing(("ledger.evidence", "ledger.evidence-event")) == {}


def test_while_the_chain_stands_everything_is_found() -> None:
    assert "as it stands" not in passing(OUTSIDE)


def test_with_evidence_alone_exactly_the_documented_classes_pass() -> None:
    """Rates of a price table that is not here are taken over, so they and the table's name can be changed together."""
    found = passing(("ledger.end",))
    assert {(level, name) for level, names in found.items() for name in names} == EVIDENCE_ALONE


def test_rates_and_costs_changed_together_pass_the_evidence_and_not_the_end() -> None:
    items = good()
    items[0]["rate_source"]["version"] = "another"
    for at in ("input", "output", "cache_read"):
        items[0]["rates"]["gpt-4o"][at] = "0.1"
    head = items[0]
    lines = derived(canonical_bytes(head["rate_source"]), canonical_bytes(head["rates"]))
    ledger = made_again(items)
    assert judge(ledger, derived=lines)[0].clean
    assert [finding.rule for finding in judge(ledger, derived=lines, expect_end=END)[1]] == ["ledger.end"]
    items[0]["rate_source"] = good()[0]["rate_source"]
    lines = derived(canonical_bytes(items[0]["rate_source"]), canonical_bytes(items[0]["rates"]))
    assert "ledger.evidence" in {finding.rule for finding in judge(made_again(items), derived=lines)[1]}


def test_the_page_says_exactly_what_passes_without_evidence(golden: Callable[[Path, bytes], None]) -> None:
    found = passing(OUTSIDE)
    levels = [level for level in LEVELS if level != "as it stands"]
    lines = [f"| field | {' | '.join(levels)} |", f"| --- |{' --- |' * len(levels)}"]
    for name in sorted({name for names in found.values() for name in names}):
        cells = (", ".join(sorted(found[level].get(name, ()))) for level in levels)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    table = "\n".join(lines)
    page, count = BLOCK.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", PAGE.read_text(encoding="utf-8"))
    assert count == 1
    golden(PAGE, page.encode())
