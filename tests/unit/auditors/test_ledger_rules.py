"""For each rule: changes of a good ledger that make exactly that rule fail, and near misses that must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel2traj.auditors.ledger import RULES
from otel2traj.model.ledger import event_hash, seal
from tests.ledgers import consistent, good, good_ledger, judge, sealed, written

NONE = "sha256:" + "0" * 64
DERIVED = {"derived": good_ledger().splitlines()}
FREE = {"tokens_in": 0, "tokens_out": 0, "seconds": 0, "usd": 0}


def edit(index: int, **fields: Any) -> Callable[[], bytes]:
    """The good ledger with fields of one event replaced (`...` removes), and all that follows from them made again."""
    return lambda: consistent(edited(index, **fields))


def edited(index: int, **fields: Any) -> list[Any]:
    items = good()
    for name, value in fields.items():
        if value is ...:
            del items[index][name]
        else:
            items[index][name] = value
    return items


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[], bytes]:
    """The good ledger with its lines changed as bytes."""
    return lambda: b"".join(change(good_ledger().splitlines(keepends=True)))


def with_line(index: int, line: bytes) -> Callable[[], bytes]:
    return lines(lambda all_lines: [*all_lines[:index], line + b"\n", *all_lines[index + 1 :]])


def replaced(index: int, old: bytes, new: bytes) -> Callable[[], bytes]:
    """One line with bytes replaced and its own hash made invalid with care: the changed line is resealed by nobody."""

    def change(all_lines: list[bytes]) -> list[bytes]:
        assert all_lines[index].count(old) == 1
        all_lines[index] = all_lines[index].replace(old, new)
        return all_lines

    return lines(change)


def without_states(*fields: str) -> list[Any]:
    return [{key: value for key, value in item.items() if key not in fields} for item in good()]


def tampered_output() -> bytes:
    items = good()
    items[3]["result"]["output"] = "b.txt\n"
    return sealed(items)


def other_state_hash() -> bytes:
    items = good()
    items[4]["state_hash"] = "sha256:" + "0" * 64
    return sealed(items)


def dropped_event() -> bytes:
    """A line taken out that changes no state and no sum: the step numbers still increase."""
    items = [item for item in good() if "input_result" not in item]
    items[-1]["state"] = items[-2]["state"]
    items[-1]["state_hash"] = items[-2]["state_hash"]
    out = good_ledger().splitlines(keepends=True)[:6]
    line, _ = seal({k: v for k, v in items[-1].items() if k != "event_hash"}, items[-1]["prev_event_hash"])
    return b"".join([*out, line])


def first_points_back() -> bytes:
    out, previous = b"", "sha256:" + "2" * 64
    for item in good():
        line, previous = seal({k: v for k, v in item.items() if k != "event_hash"}, previous)
        out += line
    return out


def own_hash(index: int) -> bytes:
    items = good()
    items[index]["event_hash"] = "sha256:" + "3" * 64
    return written(items)


def totals(**wrong: Any) -> bytes:
    items = good()
    items[-1]["totals"].update(wrong)
    return sealed(items)


def cost(index: int, **fields: Any) -> Callable[[], bytes]:
    return edit(index, cost={key: value for key, value in {**FREE, **fields}.items() if value is not ...})


def priced(index: int, usd: Any) -> Callable[[], bytes]:
    return edit(index, cost={**good()[index]["cost"], "usd": usd})


Case = tuple[str, str, Callable[[], bytes], dict[str, Any], list[str]]

STRICT = {"strict": True}
OUTCOMES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("succeeded", "evidence", "missing", {"evidence": ...}),
    ("succeeded", "evidence", "empty", {"evidence": {}}),
    ("succeeded", "evidence", "true", {"evidence": True}),
    ("failed", "reason", "missing", {}),
    ("failed", "reason", "blank", {"reason": " "}),
    ("blocked", "blocker", "missing", {}),
    ("timeout", "elapsed_seconds", "missing", {"elapsed_seconds": ...}),
    ("timeout", "elapsed_seconds", "text", {"elapsed_seconds": "1.5"}),
    ("timeout", "elapsed_seconds", "true", {"elapsed_seconds": True}),
]
FAILS: list[Case] = [
    ("ledger.empty", "no-byte", lambda: b"", {}, ["the ledger is empty"]),
    ("ledger.empty", "blank-lines", lambda: b"\n \r\n\n", {}, ["the ledger is empty"]),
    ("ledger.json", "cut-line", with_line(4, b'{"step": 4, "type'), {}, ["line 5 is not valid JSON"]),
    ("ledger.json", "prose", with_line(4, b"2026-10-12 agent ran git diff and it worked"), {}, ["line 5 is not valid"]),
    ("ledger.json", "nan", with_line(4, b'{"cost": NaN}'), {}, ["line 5 is not valid JSON"]),
    ("ledger.json", "too-large", with_line(4, b'{"cost": 1e999}'), {}, ["line 5 is not valid JSON"]),
    ("ledger.json", "invalid-utf-8", with_line(4, b'{"a": "\xff"}'), {}, ["line 5 is not valid JSON"]),
    ("ledger.json", "lone-surrogate", with_line(4, b'{"a": "\\ud800"}'), {}, ["line 5 is not valid JSON"]),
    ("ledger.json", "deep", with_line(4, b"[" * 5000 + b"]" * 5000), {}, ["line 5 is not valid JSON"]),
    (
        "ledger.json",
        "byte-order-mark",
        lines(lambda all_lines: [b"\xef\xbb\xbf" + all_lines[0], *all_lines[1:]]),
        {},
        ["line 1 is not valid JSON: it begins with a byte order mark"],
    ),
    (
        "ledger.json",
        "torn-tail",
        lines(lambda all_lines: [*all_lines[:-1], all_lines[-1][:100]]),
        {},
        ["line 8 is not valid JSON"],
    ),
    ("ledger.object", "array", with_line(4, b"[1, 2]"), {}, ["line 5 is not a JSON object"]),
    ("ledger.object", "string", with_line(4, b'"done"'), {}, ["line 5 is not a JSON object"]),
    (
        "ledger.repeated-key",
        "outcome-twice",
        replaced(7, b'"outcome":"succeeded"', b'"outcome":"failed","outcome":"succeeded"'),
        {},
        ["line 8 names the key 'outcome' twice"],
    ),
    (
        "ledger.repeated-key",
        "nested",
        replaced(3, b'"exit_code":0', b'"exit_code":1,"exit_code":0'),
        {},
        ["line 4 names the key 'exit_code' twice"],
    ),
    *(
        ("ledger.mandatory", f"no-{name}", edit(4, **{name: ...}), {}, [f"event 4 missing mandatory field '{name}'"])
        for name in ("step", "timestamp", "type", "state_hash", "cost")
    ),
    ("ledger.mandatory", "null", edit(4, timestamp=None), {}, ["event 4 missing mandatory field 'timestamp'"]),
    ("ledger.type", "unknown", edit(4, type="note"), {}, ["event 4 has invalid type 'note'"]),
    ("ledger.type", "no-text", edit(4, type=["observe"]), {}, ["event 4 has invalid type ['observe']"]),
    ("ledger.timestamp", "prose", edit(4, timestamp="yesterday"), {}, ["event 4 has invalid timestamp 'yesterday'"]),
    ("ledger.timestamp", "date", edit(4, timestamp="2026-01-02"), {}, ["event 4 has invalid timestamp '2026-01-02'"]),
    ("ledger.timestamp", "number", edit(4, timestamp=1767323041), {}, ["event 4 has invalid timestamp 1767323041"]),
    ("ledger.timestamp", "no-such-day", edit(4, timestamp="2026-02-30T00:00:00Z"), {}, ["event 4 has invalid"]),
    ("ledger.timestamp", "not-utc", edit(4, timestamp="2026-01-02T04:04:01+01:00"), STRICT, ["event 4 has invalid"]),
    ("ledger.non-determinism", "on-a-tool", edit(3, non_determinism=True), {}, ["event 3 has non_determinism"]),
    ("ledger.non-determinism", "false", edit(4, non_determinism=False), {}, ["event 4 has non_determinism"]),
    ("ledger.schema", "missing", edit(0, schema=...), {}, ["event 0 missing 'schema'"]),
    (
        "ledger.schema",
        "draft",
        edit(0, schema="trajectory-ledger-v0"),
        {},
        ["event 0 has schema 'trajectory-ledger-v0', not 'trajectory-ledger-v1'"],
    ),
    (
        "ledger.mixed-schema",
        "later",
        edit(4, schema="trajectory-ledger-v2"),
        {},
        ["event 4 mixes schema 'trajectory-ledger-v2' with 'trajectory-ledger-v1'"],
    ),
    ("ledger.step", "boolean", edit(4, step=True), {}, ["event 4 has invalid step True"]),
    ("ledger.step", "fraction", edit(4, step=4.5), {}, ["event 4 has invalid step 4.5"]),
    ("ledger.step", "float", edit(4, step=4.0), {}, ["event 4 has invalid step 4.0"]),
    ("ledger.step", "text", edit(4, step="4"), {}, ["event 4 has invalid step '4'"]),
    ("ledger.step", "negative", edit(0, step=-1), {}, ["event 0 has invalid step -1"]),
    ("ledger.step-order", "equal", edit(4, step=3), {}, ["event 4 has step 3 after step 3"]),
    ("ledger.step-order", "back", edit(4, step=0), {}, ["event 4 has step 0 after step 3"]),
    ("ledger.tool", "missing", edit(3, tool=...), {}, ["event 3 tool call missing 'tool'"]),
    ("ledger.tool", "empty", edit(3, tool=""), {}, ["event 3 tool call missing 'tool'"]),
    ("ledger.args", "missing", edit(3, args=...), {}, ["event 3 tool call missing 'args'"]),
    ("ledger.args", "null", edit(3, args=None), {}, ["event 3 tool call missing 'args'"]),
    ("ledger.result", "missing", edit(3, result=...), {}, ["event 3 tool call missing 'result.exit_code'"]),
    ("ledger.result", "no-code", edit(3, result={"stdout": ""}), {}, ["event 3 tool call missing 'result.exit_code'"]),
    ("ledger.result", "no-object", edit(3, result="ok"), {}, ["event 3 tool call missing 'result.exit_code'"]),
    ("ledger.result", "boolean", edit(3, result={"exit_code": False}), {}, ["has invalid 'result.exit_code' False"]),
    ("ledger.result", "text", edit(3, result={"exit_code": "0"}), {}, ["has invalid 'result.exit_code' '0'"]),
    (
        "ledger.state-hash-form",
        "no-prefix",
        lambda: sealed(edited(4, state_hash=good()[4]["state_hash"].removeprefix("sha256:"))),
        {},
        ["event 4 has invalid state_hash"],
    ),
    (
        "ledger.state-hash-form",
        "upper-case",
        lambda: sealed(edited(4, state_hash="sha256:" + good()[4]["state_hash"][7:].upper())),
        {},
        ["event 4 has invalid state_hash"],
    ),
    ("ledger.state-hash", "other", other_state_hash, {}, ["event 4 state_hash does not recompute"]),
    ("ledger.state-rule", "output", tampered_output, {}, ["event 3 state does not follow from the event"]),
    ("ledger.outcome", "unknown", edit(1, outcome="done"), {}, ["event 1 has invalid outcome 'done'"]),
    ("ledger.outcome", "no-text", edit(1, outcome=True), {}, ["event 1 has invalid outcome True"]),
    *(
        (
            "ledger.outcome-field",
            f"{outcome}-{name}",
            edit(7, outcome=outcome, **fields),
            {},
            [f"event 7 outcome '{outcome}' missing '{field}'"],
        )
        for outcome, field, name, fields in OUTCOMES
    ),
    ("ledger.outcome-order", "back", edit(4, outcome="pending"), {}, ["event 4 has outcome 'pending' after 'running'"]),
    (
        "ledger.outcome-order",
        "two-ends",
        edit(6, outcome="failed", reason="it broke"),
        {},
        ["event 7 has outcome 'succeeded' after 'failed'"],
    ),
    (
        "ledger.outcome-order",
        "after-the-end",
        lambda: consistent([*good(), {**good()[4], "step": 8, "outcome": "running"}]),
        {},
        ["event 8 has outcome 'running' after 'succeeded'"],
    ),
    ("ledger.cost-unit", "number", edit(4, cost=0), {}, ["event 4 has cost 0 without units"]),
    ("ledger.cost-unit", "list", edit(4, cost=[0, 0]), {}, ["event 4 has cost [0, 0] without units"]),
    ("ledger.cost-unit", "euro", cost(4, eur=1), {}, ["event 4 has cost of unknown unit 'eur'"]),
    ("ledger.cost-unit", "tokens", cost(4, tokens=12), {}, ["event 4 has cost of unknown unit 'tokens'"]),
    ("ledger.cost-amount", "negative", cost(4, seconds=-1), {}, ["event 4 has invalid cost 'seconds' -1"]),
    ("ledger.cost-amount", "boolean", cost(4, tokens_in=True), {}, ["event 4 has invalid cost 'tokens_in' True"]),
    ("ledger.cost-amount", "text", cost(4, usd="0.5"), {}, ["event 4 has invalid cost 'usd' '0.5'"]),
    ("ledger.cost-amount", "half-a-token", cost(4, tokens_in=0.5), {}, ["event 4 has invalid cost 'tokens_in' 0.5"]),
    *(
        ("ledger.cost-partial", f"no-{unit}", cost(4, **{unit: ...}), STRICT, [f"event 4 cost missing '{unit}'"])
        for unit in FREE
    ),
    ("ledger.cost-partial", "unknown", cost(4, seconds=None), STRICT, ["event 4 cost 'seconds' is unknown"]),
    ("ledger.cost-totals", "usd", lambda: totals(usd=0.00556), {}, ["event 7 has totals 'usd' 0.00556, and the"]),
    (
        "ledger.cost-totals",
        "tokens",
        lambda: totals(tokens_in=0),
        {},
        ["event 7 has totals 'tokens_in' 0, and the"],
    ),
    ("ledger.cost-rate", "cheaper", priced(2, 0.0024), {}, ["has usd 0.0024, and the pinned rate gives 0.0025"]),
    ("ledger.cost-rate", "free", priced(2, 0), {}, ["event 2 has usd 0, and the pinned rate gives 0.0025"]),
    (
        "ledger.cost-rate",
        "no-rate",
        edit(0, rates={"gpt-4o": {"unit": None, "unknown": "not in the table"}}),
        {},
        ["event 2 has usd 0.0025, and the pinned rate gives none: not in the table", "event 5 has usd"],
    ),
    ("ledger.rates", "none-pinned", edit(0, rates=...), STRICT, ["usd is recorded and the run header pins no rates"]),
    (
        "ledger.max-usd",
        "over",
        good_ledger,
        {"max_usd": "0.00556"},
        ["total usd 0.00557 exceeds --max-usd 0.00556"],
    ),
    (
        "ledger.max-usd",
        "unknown",
        cost(4, usd=None),
        {"max_usd": "10"},
        ["usd is unknown for 1 event(s): --max-usd 10 is not shown to hold"],
    ),
    (
        "ledger.max-seconds",
        "over",
        good_ledger,
        {"max_seconds": "1"},
        ["total seconds 1.1 exceeds --max-seconds 1"],
    ),
    (
        "ledger.chain",
        "another-algorithm",
        edit(0, chain={"algorithm": "md5"}),
        {},
        ["event 0 declares a chain that is not known here: {'algorithm': 'md5'}"],
    ),
    (
        "ledger.tail",
        "cut",
        lines(lambda all_lines: all_lines[:-1]),
        {},
        ["the end is missing: the ledger is declared to end in a terminal outcome"],
    ),
    (
        "ledger.end",
        "another",
        good_ledger,
        {"expect_end": NONE},
        [f"event chain ends in {good()[-1]['event_hash']}, not in the expected {NONE}"],
    ),
    (
        "ledger.end",
        "no-chain",
        lambda: written(without_states("event_hash", "prev_event_hash", "chain")),
        {"expect_end": NONE},
        [f"there is no event chain, so its end cannot be the expected {NONE}"],
    ),
    (
        "ledger.evidence",
        "text",
        edit(5, thought="Not done."),
        DERIVED,
        ["event 5 /thought is 'Not done.', the evidence gives 'Done.'"],
    ),
    (
        "ledger.evidence-event",
        "dropped",
        lambda: consistent(good()[:4] + good()[5:]),
        DERIVED,
        ["before event 4, observe event 4 of the evidence (step 1) is missing"],
    ),
    (
        "ledger.event-hash",
        "missing",
        lambda: sealed(good()[:-1]) + written([{k: v for k, v in good()[-1].items() if k != "event_hash"}]),
        {},
        ["event 7 missing 'event_hash'"],
    ),
    ("ledger.event-hash", "middle", lambda: own_hash(4), {}, ["event 4 event_hash does not recompute"]),
    ("ledger.event-hash", "last", lambda: own_hash(7), {}, ["event 7 event_hash does not recompute"]),
    (
        "ledger.prev-event-hash",
        "dropped-event",
        dropped_event,
        {},
        ["event 6 prev_event_hash is not the hash of"],
    ),
    (
        "ledger.prev-event-hash",
        "head-cut",
        first_points_back,
        {},
        ["event 0 prev_event_hash points to an"],
    ),
]

STORED = {rule: case for rule, case, *_ in reversed(FAILS)}
"""The first change of each rule is also a file, for readers and for other implementations; the rest is built."""


@pytest.mark.parametrize(("rule", "case", "build", "options", "messages"), FAILS, ids=[f"{c[0]}-{c[1]}" for c in FAILS])
def test_a_change_makes_exactly_one_rule_fail(
    rule: str,
    case: str,
    build: Callable[[], bytes],
    options: dict[str, Any],
    messages: list[str],
    fixtures: Path,
    golden: Callable[[Path, bytes], None],
) -> None:
    ledger = build()
    verdict, found = judge(ledger, **options)
    assert {finding.rule for finding in found} == {rule}
    assert len(found) == verdict.problems == len(messages)
    for finding, message in zip(found, messages, strict=True):
        assert message in finding.message
    assert verdict.line() == f"FAIL: audit found {len(messages)} problem(s)"
    if STORED[rule] == case:
        golden(fixtures / "audits" / rule / f"fail-{case}.jsonl", ledger)


@pytest.mark.parametrize(("rule", "case", "build", "options", "messages"), FAILS, ids=[f"{c[0]}-{c[1]}" for c in FAILS])
def test_the_same_change_passes_where_the_rule_does_not_speak(
    rule: str, case: str, build: Callable[[], bytes], options: dict[str, Any], messages: list[str]
) -> None:
    verdict, _ = judge(build())
    assert verdict.clean == bool(options)


def test_every_rule_has_a_change_that_makes_it_fail() -> None:
    assert {case[0] for case in FAILS} == set(RULES.names())


def foreign(**fields: Any) -> list[Any]:
    """The three events of a clean run, as another program writes them: no chain, no rates, other spelling."""
    empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    common = {"timestamp": "2026-10-12T08:00:00Z", "state": {}, "state_hash": empty, "cost": dict(FREE)}
    return [
        {"schema": "trajectory-ledger-v1", "run_id": "r", "step": 0, "type": "think", "thought": "look", **common},
        {"step": 1, "type": "tool", "tool": "shell", "args": {"cmd": "git diff"}, **common}
        | {"result": {"exit_code": 0, "stdout": "", "stderr": ""}},
        {"step": 2, "type": "observe", "outcome": "succeeded", "evidence": "tests passed", **common} | fields,
    ]


def any_hashes() -> bytes:
    items = without_states("state", "state_rule", "event_hash", "prev_event_hash", "chain")
    return written({**item, "state_hash": "sha256:" + "5" * 64} for item in items)


def another_rule() -> bytes:
    items = edited(3, result={"exit_code": 7})
    items[0]["state_rule"] = "mine"
    return sealed(items)


def divergence_after_the_end() -> bytes:
    items = good()
    extra = {key: value for key, value in items[4].items() if key not in ("blocker", "call")}
    return consistent([*items, {**extra, "step": 8, "non_determinism": True}])


def chain_begins_late() -> bytes:
    first, second, _ = foreign()
    return written([first]) + seal(second, event_hash(first))[0]


PASSES: list[tuple[str, str, Callable[[], bytes], dict[str, Any]]] = [
    ("ledger.empty", "one-event", lambda: written(foreign()[:1]), {}),
    ("ledger.json", "crlf", lambda: written(foreign()).replace(b"\n", b"\r\n"), {}),
    ("ledger.json", "no-final-newline", lambda: written(foreign())[:-1], {}),
    ("ledger.object", "blank-lines", lambda: written(foreign()).replace(b"\n", b"\n\n"), {}),
    ("ledger.repeated-key", "same-key-in-two-objects", lambda: written(foreign(detail={"step": {"step": 1}})), {}),
    ("ledger.mandatory", "zero-is-an-answer", lambda: written(foreign()), STRICT),
    ("ledger.type", "all-three", lambda: written(foreign()), STRICT),
    ("ledger.timestamp", "offset", edit(4, timestamp="2026-01-02T04:04:01.5+01:00"), {}),
    ("ledger.non-determinism", "observed", edit(4, non_determinism=True), STRICT),
    ("ledger.schema", "on-every-event", lambda: written(foreign(schema="trajectory-ledger-v1")), STRICT),
    ("ledger.mixed-schema", "same", edit(4, schema="trajectory-ledger-v1"), STRICT),
    ("ledger.step", "large", edit(7, step=10**20), STRICT),
    ("ledger.step-order", "gaps", edit(7, step=1000), STRICT),
    ("ledger.tool", "on-an-observe-event", edit(4, tool=None), STRICT),
    ("ledger.args", "empty", edit(3, args={}), STRICT),
    ("ledger.result", "failed-command", edit(3, result={"exit_code": -9}), STRICT),
    (
        "ledger.state-hash-form",
        "no-state",
        lambda: written(
            [
                {**e, "state_hash": "sha256:" + "5" * 64}
                for e in without_states("state", "state_rule", "event_hash", "prev_event_hash", "chain")
            ]
        ),
        STRICT,
    ),
    ("ledger.state-hash", "no-state", lambda: sealed(without_states("state", "state_rule")), STRICT),
    (
        "ledger.state-rule",
        "another-rule",
        lambda: sealed(
            [{**e, "state_rule": "mine"} if i == 0 else e for i, e in enumerate(edited(3, result={"exit_code": 7}))]
        ),
        STRICT,
    ),
    ("ledger.outcome", "none", lambda: written(foreign()[:2]), STRICT),
    ("ledger.outcome-field", "no-time-passed", edit(7, outcome="timeout", elapsed_seconds=0), STRICT),
    ("ledger.outcome-order", "no-pending", lambda: written(foreign()), STRICT),
    (
        "ledger.outcome-order",
        "divergence-after-the-end",
        divergence_after_the_end,
        STRICT,
    ),
    ("ledger.cost-unit", "counts", cost(4, retries=0, tool_calls=0), STRICT),
    ("ledger.cost-amount", "whole-float", cost(4, tokens_in=3.0), STRICT),
    ("ledger.cost-partial", "partial", cost(4, usd=..., seconds=...), {}),
    ("ledger.cost-partial", "unknown", cost(4, usd=None), {}),
    ("ledger.cost-totals", "none", edit(7, totals=...), STRICT),
    ("ledger.cost-rate", "foreign-rates", edit(0, rates={"gpt-4o": {"unit": "usd_per_thousand", "in": 1}}), STRICT),
    ("ledger.rates", "free", lambda: written(foreign()), STRICT),
    ("ledger.max-usd", "exactly", good_ledger, {"max_usd": "0.00557"}),
    ("ledger.max-seconds", "exactly", good_ledger, {"max_seconds": "1.1"}),
    ("ledger.chain", "declared", good_ledger, STRICT),
    ("ledger.tail", "not-declared", lambda: written(foreign()[:2]), STRICT),
    ("ledger.end", "as-expected", good_ledger, {"expect_end": good()[-1]["event_hash"]}),
    ("ledger.evidence", "as-derived", good_ledger, DERIVED),
    ("ledger.evidence-event", "divergence-after-the-end", divergence_after_the_end, DERIVED),
    (
        "ledger.event-hash",
        "no-chain",
        lambda: written(without_states("event_hash", "prev_event_hash", "chain")),
        STRICT,
    ),
    (
        "ledger.prev-event-hash",
        "chain-begins-late",
        lambda: (
            written(foreign()[:1])
            + seal(foreign()[1], "sha256:" + __import__("hashlib").sha256(written(foreign()[:1])[:-1]).hexdigest())[0]
        ),
        {},
    ),
]


@pytest.mark.parametrize(("rule", "case", "build", "options"), PASSES, ids=[f"{c[0]}-{c[1]}" for c in PASSES])
def test_a_near_miss_is_clean(
    rule: str,
    case: str,
    build: Callable[[], bytes],
    options: dict[str, Any],
    fixtures: Path,
    golden: Callable[[Path, bytes], None],
) -> None:
    ledger = build()
    verdict, found = judge(ledger, **options)
    assert found == []
    assert verdict.line() == f"PASS: audit clean ({verdict.events} events)"
    golden(fixtures / "audits" / rule / f"pass-{case}.jsonl", ledger)


def test_every_rule_has_a_near_miss() -> None:
    assert {case[0] for case in PASSES} == set(RULES.names())
