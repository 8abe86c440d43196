"""Costs: known units and amounts, totals that sum, money that follows from the pinned rates, budgets."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from ...canonical import JsonObject
from ...model.ledger_cost import COUNTS, RATE_UNIT, UNITS, Totals, decimal_of, decimal_text, is_amount, json_number, usd
from .base import Options, Report, Rule, shown

UNIT: Final = Rule(
    "ledger.cost-unit", "A cost is an object of tokens_in, tokens_out, seconds, usd, tool_calls, retries."
)
AMOUNT: Final = Rule("ledger.cost-amount", "An amount is a number that is not negative, whole for tokens and counts.")
PARTIAL: Final = Rule("ledger.cost-partial", "Every cost gives all four units, none of them null.", only="--strict")
TOTALS: Final = Rule("ledger.cost-totals", "Recorded totals are what the costs sum to.")
RATE: Final = Rule("ledger.cost-rate", "The usd of a call follows from its usage and the rate pinned for its model.")
RATES: Final = Rule("ledger.rates", "A ledger that records usd pins its rates in the run header.", only="--strict")
MAX_USD: Final = Rule("ledger.max-usd", "The total usd is within --max-usd; an unknown total is not.")
MAX_SECONDS: Final = Rule("ledger.max-seconds", "The total seconds are within --max-seconds.")
RULES: Final = (UNIT, AMOUNT, PARTIAL, TOTALS, RATE, RATES, MAX_USD, MAX_SECONDS)

_NAMES: Final = frozenset(UNITS + COUNTS)
_WHOLE: Final = frozenset(("tokens_in", "tokens_out", *COUNTS))


class Cost:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._rates: JsonObject | None = None
        self._priced = False
        self.totals = Totals()

    def event(self, event: JsonObject, report: Report) -> None:
        if report.index == 0 and isinstance(event.get("rates"), dict):
            self._rates = event["rates"]
        cost = event.get("cost")
        if isinstance(cost, dict):
            self._check(cost, report)
            self.totals.add(cost)
            if cost.get("usd") is not None:
                self._priced = self._priced or cost["usd"] != 0
                self._check_rate(event, cost["usd"], report)
        elif cost is not None:
            report.fail(UNIT, f"has cost {shown(cost)} without units")
        if isinstance(event.get("totals"), dict) and not report.passed_over:
            self._check_totals(event["totals"], report)

    def _check(self, cost: JsonObject, report: Report) -> None:
        for name, value in cost.items():
            if name not in _NAMES:
                report.fail(UNIT, f"has cost of unknown unit {shown(name)}")
            elif value is not None and (not is_amount(value) or (name in _WHOLE and value != int(value))):
                report.fail(AMOUNT, f"has invalid cost '{name}' {shown(value)}")
        if self._options.strict:
            for name in UNITS:
                if cost.get(name) is None:
                    report.fail(PARTIAL, f"cost '{name}' is unknown" if name in cost else f"cost missing '{name}'")

    def _check_rate(self, event: JsonObject, recorded: Any, report: Report) -> None:
        usage, model = event.get("usage"), event.get("model")
        rate = self._rates.get(model) if self._rates is not None and isinstance(model, str) else None
        if not isinstance(usage, dict) or not isinstance(rate, dict) or not is_amount(recorded):
            return
        if rate.get("unit") not in (RATE_UNIT, None):
            return  # rates of a form that is not ours
        try:
            due, why = usd(usage, rate)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            due, why = None, "the rate cannot be read"
        if due is None:
            report.fail(RATE, f"has usd {shown(recorded)}, and the pinned rate gives none: {why}")
        elif json_number(due) != recorded:
            report.fail(RATE, f"has usd {shown(recorded)}, and the pinned rate gives {decimal_text(due)}")

    def _check_totals(self, totals: JsonObject, report: Report) -> None:
        for name in UNITS + COUNTS:
            told = totals.get(name)
            if told is not None and is_amount(told) and decimal_of(told) != self._rounded(name):
                sums = decimal_text(self.totals.sums[name])
                report.fail(TOTALS, f"has totals '{name}' {shown(told)}, and the costs sum to {sums}")

    def _rounded(self, name: str) -> Decimal:
        """The sum as JSON can hold it: a total with more digits than a number has was written rounded."""
        return decimal_of(json_number(self.totals.sums[name]))

    def end(self, report: Report) -> None:
        report.line = 0
        if self._priced and self._rates is None:
            what = "usd is recorded and the run header pins no rates"
            if self._options.strict:
                report.fail_plainly(RATES, what)
            else:
                report.note(RATES, what)
        for name in UNITS:
            if self.totals.nulls[name]:
                report.note(PARTIAL, f"'{name}' is unknown for {self.totals.nulls[name]} event(s)")
        over_budget(self.totals, self._options, report)


def over_budget(totals: Totals, options: Options, report: Report) -> None:
    """Money fails closed: with an unknown price no budget is shown to hold. Seconds that are known are summed."""
    money, seconds = totals.sums["usd"], totals.sums["seconds"]
    if options.max_usd is not None:
        limit = decimal_text(options.max_usd)
        if money > options.max_usd:
            report.fail_plainly(MAX_USD, f"total usd {decimal_text(money)} exceeds --max-usd {limit}")
        elif totals.nulls["usd"]:
            report.fail_plainly(
                MAX_USD, f"usd is unknown for {totals.nulls['usd']} event(s): --max-usd {limit} is not shown to hold"
            )
    if options.max_seconds is not None and seconds > options.max_seconds:
        limit = decimal_text(options.max_seconds)
        report.fail_plainly(MAX_SECONDS, f"total seconds {decimal_text(seconds)} exceeds --max-seconds {limit}")
