"""Usage and a pinned rate to money, and costs to totals: exact decimal arithmetic, four units, never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from typing import Any, Final

from ..canonical import JsonObject

UNITS: Final = ("tokens_in", "tokens_out", "seconds", "usd")
"""Model tokens, model tokens, seconds, US dollars."""
COUNTS: Final = ("tool_calls", "retries")
"""What a cost may count beside its four units."""

RATE_UNIT: Final = "usd_per_million_tokens"
_MILLION: Final = Decimal(1_000_000)
_EXACT: Final = Context(prec=60)
"""For the price of one call: token counts times a rate."""
_SUM: Final = Context(prec=1000)
"""For sums. The shortest form of a double has digits from 10**308 down to 10**-324, so that with this many the sum is
exact in any order; digits that are not there cost nothing."""


def decimal_of(number: int | float) -> Decimal:
    """The number as it is written: 0.1 is one tenth, so that a million of them are exactly 100000."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def json_number(value: Decimal) -> int | float:
    """An int where the value is whole, else the float that is written like it."""
    return int(value) if value == value.to_integral_value() else float(value)


def decimal_text(value: Decimal) -> str:
    """Plain digits, no exponent, no trailing zeros: a JSON number."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_amount(value: Any) -> bool:
    """A finite number that is not negative. A boolean is no number."""
    return type(value) in (int, float) and 0 <= value < float("inf")


@dataclass(slots=True)
class Totals:
    """Sums of a ledger's costs. `nulls` counts, for each unit, the costs that gave null: known to be unknown."""

    sums: dict[str, Decimal] = field(default_factory=lambda: {unit: Decimal(0) for unit in UNITS + COUNTS})
    nulls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(UNITS, 0))

    def add(self, cost: JsonObject) -> None:
        """Adds what is an amount. A key that is missing counts 0, as the contract says."""
        for unit, value in cost.items():
            if unit not in self.sums or value == 0:
                continue
            if is_amount(value):
                self.sums[unit] = _SUM.add(self.sums[unit], decimal_of(value))
            elif value is None and unit in self.nulls:
                self.nulls[unit] += 1

    def known(self, unit: str) -> Decimal | None:
        """The sum of what is known; None for money of which a part has no price, since that sum would mislead."""
        return None if unit == "usd" and self.nulls["usd"] else self.sums[unit]

    def to_json(self) -> JsonObject:
        """The four units and, where anything was counted, the counts."""
        told = {unit: self.known(unit) for unit in UNITS + tuple(name for name in COUNTS if self.sums[name])}
        return {unit: None if value is None else json_number(value) for unit, value in told.items()}

    def text(self) -> str:
        """One JSON object with the four units, the digits exact."""
        told = {unit: self.known(unit) for unit in UNITS}
        inner = (f'"{unit}": {"null" if value is None else decimal_text(value)}' for unit, value in told.items())
        return "{" + ", ".join(inner) + "}"


def usd(usage: JsonObject, rate: JsonObject) -> tuple[Decimal | None, str | None]:
    """US dollars of one model call by one pinned rate, or None and why not.

    `usage` has the GenAI convention's names: input includes what was read from and written to a cache. `rate` is a row
    of the run header: `unit`, and decimal strings `input`, `output`, and where the provider has them `cache_read`,
    `cache_write`, `cache_write_1h`; a value may be `{"base", "above": [[tokens, rate], ...]}`, where the rate of the
    highest threshold that the input exceeds holds for the whole call. Cached tokens without a rate of their own cost
    what input costs.
    """
    tokens_in, tokens_out = usage.get("input_tokens"), usage.get("output_tokens")
    if not isinstance(tokens_in, int) or not isinstance(tokens_out, int):
        return None, "usage not recorded"
    if rate.get("unit") != RATE_UNIT:
        return None, str(rate.get("unknown", "no rate"))
    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    written_1h = min(usage.get("cache_creation_1h_input_tokens") or 0, written) if "cache_write_1h" in rate else 0
    fresh = tokens_in - read - written
    if fresh < 0:
        return None, "more cached tokens than input tokens"
    parts = (
        (fresh, "input"),
        (read, "cache_read" if "cache_read" in rate else "input"),
        (written - written_1h, "cache_write" if "cache_write" in rate else "input"),
        (written_1h, "cache_write_1h"),
        (tokens_out, "output"),
    )
    with localcontext(_EXACT):
        total = Decimal(0)
        for tokens, name in parts:
            if tokens == 0:
                continue
            if name not in rate:
                return None, f"no rate for {name} tokens"
            total += tokens * _at(rate[name], tokens_in)
        return total / _MILLION, None


def _at(price: Any, tokens_in: int) -> Decimal:
    """The rate that holds for a call of this size. Raises `ValueError` or a subclass where it is no rate."""
    if isinstance(price, str):
        return Decimal(price)
    held = Decimal(price["base"])
    for threshold, above in price["above"]:
        if tokens_in > threshold:
            held = Decimal(above)
    return held
