"""The first pass asks every dialect of every span: what that costs, against parsing the same bytes once."""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson
import pytest

from otel2traj.dialects import DIALECTS, classify
from tests.unit.dialects.cases import find, records

MOST = 3.0
"""Measured 1.2 to 1.9 times the parse: 15 microseconds a span where parsing takes 8."""


def cheapest(work: Callable[[], None], rounds: int = 7) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.bench
def test_classifying_costs_no_more_than_a_few_parses(record_property: Callable[[str, object], None]) -> None:
    cases = [case for case in find(*DIALECTS.names()) if (case / "otel.jsonl").is_file()]
    lines = [line for case in cases for line in (case / "otel.jsonl").read_bytes().splitlines()] * 5
    spans = [span for case in cases for span in records(case)[0]] * 5

    def parse() -> None:
        for line in lines:
            orjson.loads(line)

    def ask() -> None:
        for span in spans:
            classify(span)

    ask()
    ratio = cheapest(ask) / cheapest(parse)
    record_property("classify_to_parse", round(ratio, 2))
    assert ratio < MOST, f"classifying costs {ratio:.1f} times parsing the same bytes"


@pytest.mark.bench
def test_histories_that_grow_do_not_grow_the_cost_of_recognition() -> None:
    """A form is kept per set of names with positions folded, and long histories have ever new names."""
    from otel2traj.model.evidence import EvidenceRef, SpanRecord

    def span(messages: int) -> SpanRecord:
        names = ("role", "content")
        attributes = {f"llm.input_messages.{i}.message.{name}": "x" for i in range(messages) for name in names}
        attributes |= {"openinference.span.kind": "LLM", "llm.token_count.prompt": "1"}
        return SpanRecord("0" * 32, "0" * 16, None, "ChatOpenAI", attributes, EvidenceRef("otel.jsonl", 0, 0, 1))

    growing, level = [span(n) for n in range(1, 400)], [span(200) for _ in range(399)]
    for record in (*growing, *level):
        classify(record)

    def ask(spans: list[SpanRecord]) -> Callable[[], None]:
        return lambda: [classify(record) for record in spans] and None

    assert cheapest(ask(growing)) < 2.5 * cheapest(ask(level))
