"""A model's name and a day to the rate that a ledger pins in its run header, from the price table of `genai-prices`.

The table is the one inside the installed package (https://github.com/pydantic/genai-prices): nothing is fetched, and
the package is imported when the first rate is asked for.
"""

from __future__ import annotations

import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any, Final

from .canonical import JsonObject, sha256_canonical
from .model.ledger_cost import RATE_UNIT, usd
from .timestamps import format_ns

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PACKAGE: Final = "genai-prices"
_ROWS: Final = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}
"""Our name of a rate, the table's name of it. Rates of audio, images and searches are not taken: see `billed_apart`."""


def source() -> JsonObject:
    """Which table the rates come from: package, version, and the digest of the data file inside it."""
    from importlib.metadata import distribution

    package = distribution(PACKAGE)
    data = next((file for file in package.files or () if file.name == "data.py"), None)
    out: JsonObject = {"package": PACKAGE, "version": package.version}
    if data is not None and data.hash is not None and data.hash.mode == "sha256":
        out["data_sha256"] = urlsafe_b64decode(data.hash.value + "==").hex()
    return out


@cache
def label() -> str:
    """The package of the table with its version, for people."""
    from importlib.metadata import version

    return f"{PACKAGE} {version(PACKAGE)}"


@contextmanager
def _root_unread() -> Iterator[None]:
    """Modules of the package are imported here without its root, which loads an HTTP client to update its table with.

    That client is never used here and would cost each `show` 0.1 s. Where the root is loaded already, it stays.
    """
    spec = find_spec("genai_prices") if "genai_prices" not in sys.modules else None
    if spec is None:
        yield
        return
    sys.modules["genai_prices"] = module_from_spec(spec)
    try:
        yield
    finally:
        del sys.modules["genai_prices"]


@cache
def _table() -> DataSnapshot:
    # Not `get_snapshot()`: another part of the process may have put prices from the network there.
    with _root_unread():
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)


def rate(model: str, first_ns: int | None, last_ns: int | None) -> tuple[JsonObject, str | None]:
    """The rate of a model from its first to its last call of a run, and a remark where there is something to say.

    The row has `unit`, `provider`, `matched` (the table's id), `effective_at` and decimal strings; or `unit: null` and
    `unknown`: why there is none. Standard tier of the model's own provider: an agreement or a reseller is not known.
    """
    try:
        provider, info = _table().find_provider_model(model, None, None, None)
    except LookupError:
        return _unknown("model not in the price table")
    dated = isinstance(info.prices, list)
    if dated and first_ns is None:
        return _unknown("the price depends on the date, and no time was recorded")
    prices = info.get_prices(_moment(first_ns or 0))
    row: JsonObject = {"unit": RATE_UNIT, "provider": provider.id, "matched": info.id, "by": "table"}
    for ours, theirs in _ROWS.items():
        value = getattr(prices, theirs, None)
        if value is not None:
            row[ours] = _price(value)
    if "input" not in row and "output" not in row:
        return _unknown("the price table has no token price for the model")
    row["row_sha256"] = sha256_canonical(row)
    row["effective_at"] = format_ns(first_ns)
    remark = None
    if dated and last_ns is not None and info.get_prices(_moment(last_ns)) != prices:
        remark = f"the price of {model} changed during the run; the one at its first call is pinned"
    return row, remark


_USAGE: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "reasoning_output_tokens",
)


def counted(recorded: JsonObject) -> JsonObject:
    """The counts of a step's usage that `usd` prices, as far as they were recorded."""
    usage = {name: recorded[name] for name in _USAGE if recorded.get(name) is not None}
    hour = written_for_an_hour(recorded)
    if hour is not None:
        usage["cache_creation_1h_input_tokens"] = hour
    return usage


def priced(model: str | None, recorded: JsonObject, ns: int | None) -> tuple[Decimal | None, str | None]:
    """US dollars of one model call by the rate of its minute, or None and why not."""
    why = billed_apart(recorded)
    if why is not None or model is None:
        return None, why or "model not recorded"
    return usd(counted(recorded), _rate_of_minute(model, None if ns is None else ns // _MINUTE * _MINUTE))


_MINUTE: Final = 60_000_000_000


@lru_cache(maxsize=4096)
def _rate_of_minute(model: str, ns: int | None) -> JsonObject:
    return rate(model, ns, ns)[0]


def _unknown(why: str) -> tuple[JsonObject, str]:
    return {"unit": None, "unknown": why}, why


def _moment(ns: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ns // 1000)


def _price(value: Any) -> str | JsonObject:
    if isinstance(value, Decimal):
        return _digits(value)
    return {"base": _digits(value.base), "above": [[tier.start, _digits(tier.price)] for tier in value.tiers]}


def _digits(value: Decimal) -> str:
    return f"{value.normalize():f}"


def billed_apart(usage: JsonObject) -> str | None:
    """What in a provider's own usage object costs something that the pinned rates do not cover, or None."""
    raw = usage.get("raw")
    if not isinstance(raw, dict):
        return None
    for name in ("prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details"):
        details = raw.get(name)
        if isinstance(details, dict) and details.get("audio_tokens"):
            return "audio tokens"
    for name in (
        "promptTokensDetails",
        "candidatesTokensDetails",
        "prompt_tokens_details",
        "candidates_tokens_details",
    ):
        for item in raw[name] if isinstance(raw.get(name), list) else ():
            kind = item.get("modality") if isinstance(item, dict) else None
            if isinstance(kind, str) and kind.upper() not in ("TEXT", "DOCUMENT", "MODALITY_UNSPECIFIED"):
                return f"{kind.lower()} tokens"
    searches = raw.get("server_tool_use")
    if isinstance(searches, dict) and any(isinstance(count, int) and count > 0 for count in searches.values()):
        return "server tools"
    tier = raw.get("service_tier")
    if isinstance(tier, str) and tier not in ("standard", "default", "auto"):
        return f"service tier {tier}"
    return None


def written_for_an_hour(usage: JsonObject) -> int | None:
    """Tokens written to a one-hour cache, where the provider told (Anthropic's `cache_creation`)."""
    raw = usage.get("raw")
    split = raw.get("cache_creation") if isinstance(raw, dict) else None
    count = split.get("ephemeral_1h_input_tokens") if isinstance(split, dict) else None
    return count if isinstance(count, int) else None
