"""Money is exact, follows the provider's own rules, and is not made up."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel2traj.canonical import loads
from otel2traj.model.ledger_cost import RATE_UNIT, Totals, decimal_of, decimal_text, is_amount, json_number, usd

RATE = {"unit": RATE_UNIT, "input": "3", "output": "15", "cache_read": "0.3", "cache_write": "3.75"}
TIERED = {"unit": RATE_UNIT, "input": {"base": "3", "above": [[200_000, "6"]]}, "output": "15"}


def test_a_million_tenths_are_exactly_a_hundred_thousand() -> None:
    totals = Totals()
    for _ in range(1_000_000):
        totals.sums["usd"] += decimal_of(0.1)
    assert totals.sums["usd"] == 100_000


def test_totals_do_not_drift_where_floats_do() -> None:
    totals = Totals()
    for _ in range(10):
        totals.add({"tokens_in": 1, "tokens_out": 2, "seconds": 0.1, "usd": 0.0000003})
    assert sum([0.1] * 10) != 1
    assert totals.text() == '{"tokens_in": 10, "tokens_out": 20, "seconds": 1, "usd": 0.000003}'
    assert loads(totals.text()) == {"tokens_in": 10, "tokens_out": 20, "seconds": 1, "usd": 0.000003}


def test_a_missing_unit_counts_nothing_and_a_null_price_makes_the_sum_unknown() -> None:
    totals = Totals()
    totals.add({"tokens_in": 5})
    assert totals.text() == '{"tokens_in": 5, "tokens_out": 0, "seconds": 0, "usd": 0}'
    totals.add({"tokens_in": None, "tokens_out": 1, "seconds": None, "usd": None})
    assert totals.text() == '{"tokens_in": 5, "tokens_out": 1, "seconds": 0, "usd": null}'
    assert totals.nulls == {"tokens_in": 1, "tokens_out": 0, "seconds": 1, "usd": 1}


@example([1.0, 1.401298464324817e-45, 1.401298464324817e-45], random.Random(0))
@example([1.7e308, 5e-324, 5e-324], random.Random(1))
@given(st.lists(st.floats(min_value=0, allow_nan=False, allow_infinity=False)), st.randoms())
def test_the_order_of_costs_does_not_matter(amounts: list[float], rng: random.Random) -> None:
    one, other = Totals(), Totals()
    for amount in amounts:
        one.add({"usd": amount})
    rng.shuffle(amounts)
    for amount in amounts:
        other.add({"usd": amount})
    assert one.text() == other.text()


@pytest.mark.parametrize("value", [True, False, -1, float("nan"), float("inf"), "1", None, [], {}])
def test_what_is_no_amount(value: Any) -> None:
    assert not is_amount(value)
    totals = Totals()
    totals.add({"usd": value})
    assert totals.sums["usd"] == 0


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 1000, "output_tokens": 100}, "0.0045"),
        ({"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 900}, "0.00207"),
        ({"input_tokens": 1000, "output_tokens": 0, "cache_creation_input_tokens": 1000}, "0.00375"),
        ({"input_tokens": 0, "output_tokens": 0}, "0"),
        ({"input_tokens": 10, "output_tokens": 5, "reasoning_output_tokens": 5}, "0.000105"),
    ],
)
def test_cached_tokens_are_part_of_the_input_and_reasoning_of_the_output(usage: dict[str, int], expected: str) -> None:
    assert usd(usage, RATE) == (Decimal(expected), None)


def test_cached_tokens_without_a_rate_of_their_own_cost_what_input_costs() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 0, "cache_read_input_tokens": 500}
    assert usd(usage, {"unit": RATE_UNIT, "input": "3", "output": "15"})[0] == Decimal("0.003")


def test_a_threshold_prices_the_whole_call_once_it_is_exceeded() -> None:
    assert usd({"input_tokens": 200_000, "output_tokens": 0}, TIERED)[0] == Decimal("0.6")
    assert usd({"input_tokens": 200_001, "output_tokens": 0}, TIERED)[0] == Decimal("1.200006")


def test_one_hour_cache_writes_have_their_own_rate() -> None:
    usage = {"input_tokens": 100, "output_tokens": 0, "cache_creation_input_tokens": 100}
    usage["cache_creation_1h_input_tokens"] = 40
    assert usd(usage, {**RATE, "cache_write_1h": "6"})[0] == (60 * Decimal("3.75") + 40 * 6) / 1_000_000


@pytest.mark.parametrize(
    ("usage", "rate", "why"),
    [
        ({}, RATE, "usage not recorded"),
        ({"input_tokens": 5}, RATE, "usage not recorded"),
        (
            {"input_tokens": 5, "output_tokens": 5},
            {"unit": None, "unknown": "model not in the price table"},
            "model not",
        ),
        ({"input_tokens": 5, "output_tokens": 5}, {}, "no rate"),
        ({"input_tokens": 5, "output_tokens": 5}, {"unit": RATE_UNIT, "input": "1"}, "no rate for output tokens"),
        ({"input_tokens": 5, "output_tokens": 5, "cache_read_input_tokens": 6}, RATE, "more cached tokens than input"),
    ],
)
def test_an_unknown_price_is_none_with_the_reason(usage: dict[str, int], rate: dict[str, Any], why: str) -> None:
    money, reason = usd(usage, rate)
    assert money is None
    assert reason is not None
    assert reason.startswith(why)


@given(st.decimals(min_value=0, max_value=10**6, places=9))
def test_a_number_with_nine_places_survives_json(value: Decimal) -> None:
    assert decimal_of(json_number(value)) == value
    assert Decimal(decimal_text(value)) == value
    assert "E" not in decimal_text(value)
