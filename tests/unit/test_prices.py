"""Rates come from the installed table, are priced as the table's own calculator does, and never from the network."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from otel2traj import prices
from otel2traj.model.ledger import instant_ns
from otel2traj.model.ledger_cost import RATE_UNIT, usd

DAY = instant_ns("2026-10-01T12:00:00Z")
MODELS = [
    "gpt-4o",
    "gpt-4o-mini-2024-07-18",
    "gpt-5",
    "o3",
    "claude-sonnet-4-5",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-1",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "deepseek-chat",
    "mistral-large-latest",
]
USAGES: list[dict[str, int]] = [
    {"input_tokens": 1, "output_tokens": 1},
    {"input_tokens": 1700, "output_tokens": 50, "cache_read_input_tokens": 1000},
    {"input_tokens": 5000, "output_tokens": 0, "cache_creation_input_tokens": 3000, "cache_read_input_tokens": 2000},
    {"input_tokens": 200_000, "output_tokens": 1000},
    {"input_tokens": 200_001, "output_tokens": 1000, "cache_read_input_tokens": 1},
    {"input_tokens": 900_000, "output_tokens": 64_000, "cache_creation_input_tokens": 300_000},
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("usage", USAGES)
def test_a_pinned_rate_gives_what_the_package_calculates(model: str, usage: dict[str, int]) -> None:
    from genai_prices import Usage, calc_price

    row, _ = prices.rate(model, DAY, DAY)
    names = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_input_tokens": "cache_read_tokens",
        "cache_creation_input_tokens": "cache_write_tokens",
    }
    theirs = Usage(**{names[key]: value for key, value in usage.items()})
    when = datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert usd(usage, row) == (calc_price(theirs, model, genai_request_timestamp=when).total_price, None)


@pytest.mark.parametrize(
    ("provider", "flavor", "model", "raw"),
    [
        (
            "openai",
            "chat",
            "gpt-4o",
            {"prompt_tokens": 1700, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 1000}},
        ),
        (
            "anthropic",
            "default",
            "claude-sonnet-4-5",
            {
                "input_tokens": 500,
                "output_tokens": 50,
                "cache_read_input_tokens": 200,
                "cache_creation_input_tokens": 300,
            },
        ),
    ],
)
def test_openai_counts_cached_tokens_inside_the_input_and_anthropic_outside(
    provider: str, flavor: str, model: str, raw: dict[str, Any]
) -> None:
    """The same money from the usage as the trajectory holds it and from the provider's own object."""
    from genai_prices import extract_usage

    extracted = extract_usage({"model": model, "usage": raw}, provider_id=provider, api_flavor=flavor)
    read = raw.get("cache_read_input_tokens", raw.get("prompt_tokens_details", {}).get("cached_tokens", 0))
    written = raw.get("cache_creation_input_tokens", 0)
    inclusive = raw["prompt_tokens"] if provider == "openai" else raw["input_tokens"] + read + written
    usage = {
        "input_tokens": inclusive,
        "output_tokens": 50,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    row, _ = prices.rate(model, DAY, DAY)
    when = datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert usd(usage, row)[0] == extracted.calc_price(genai_request_timestamp=when).total_price


def test_a_row_says_where_it_comes_from() -> None:
    row, remark = prices.rate("gpt-4o", DAY, DAY)
    assert remark is None
    assert row["unit"] == RATE_UNIT
    assert (row["provider"], row["matched"], row["by"]) == ("openai", "gpt-4o", "table")
    assert row["effective_at"] == "2026-10-01T12:00:00Z"
    assert all(isinstance(row[name], str) and Decimal(row[name]) > 0 for name in ("input", "output", "cache_read"))
    source = prices.source()
    assert source["package"] == "genai-prices"
    assert len(source["data_sha256"]) == 64


@pytest.mark.parametrize("model", ["lab-model-1", "claude-lab-1", "", "gpt", "no such model"])
def test_an_unknown_model_has_no_rate_and_a_reason(model: str) -> None:
    row, remark = prices.rate(model, DAY, DAY)
    assert row["unit"] is None
    assert row["unknown"] == remark
    assert usd({"input_tokens": 1, "output_tokens": 1}, row) == (None, remark)


def dated_models() -> list[str]:
    from genai_prices.data import providers

    openai = next(provider for provider in providers if provider.id == "openai")
    return [info.id for info in openai.models if isinstance(info.prices, list)]


def test_a_price_that_depends_on_the_date_is_unknown_without_one() -> None:
    models = dated_models()
    assert models
    for model in models:
        assert prices.rate(model, None, None)[0]["unknown"] == "the price depends on the date, and no time was recorded"


def test_a_price_that_changes_during_the_run_is_pinned_at_its_start_and_said() -> None:
    early, late = instant_ns("2024-01-01T00:00:00Z"), instant_ns("2026-11-01T00:00:00Z")
    changed = [model for model in dated_models() if prices.rate(model, early, late)[1] is not None]
    assert changed
    row, remark = prices.rate(changed[0], early, late)
    assert remark is not None
    assert "changed during the run" in remark
    assert row["row_sha256"] == prices.rate(changed[0], early, early)[0]["row_sha256"]


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (None, None),
        ({"prompt_tokens_details": {"audio_tokens": 0}, "service_tier": "default"}, None),
        ({"prompt_tokens_details": {"audio_tokens": 3}}, "audio tokens"),
        ({"completion_tokens_details": {"audio_tokens": 1}}, "audio tokens"),
        ({"server_tool_use": {"web_search_requests": 0}}, None),
        ({"server_tool_use": {"web_search_requests": 2}}, "server tools"),
        ({"service_tier": "batch"}, "service tier batch"),
        ({"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}]}, None),
        ({"promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 5}]}, "audio tokens"),
        ({"prompt_tokens_details": [{"modality": "IMAGE"}]}, "image tokens"),
        ("odd", None),
    ],
)
def test_what_the_rates_do_not_cover_is_named(raw: Any, what: str | None) -> None:
    assert prices.billed_apart({"input_tokens": 1, "raw": raw}) == what


def test_no_http_client_and_no_network_behind_a_rate() -> None:
    code = """
import json, socket, sys
def refuse(*args, **kwargs): raise AssertionError("network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
import otel2traj.writers.ledger
before = "genai_prices.data" in sys.modules
from otel2traj import prices
priced = prices.rate("gpt-4o", 0, 0)[0]["matched"]
told = ("httpx", "httpx2", "httpcore")
clients = [name for name in sys.modules if name.partition(".")[0] in told]
import genai_prices
print(json.dumps([before, priced, clients, callable(genai_prices.calc_price)]))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == [False, "gpt-4o", [], True]
