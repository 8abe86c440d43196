"""Conventions and SDKs: golden readings of recorded spans, held with the reference and the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.canonical import dumps_pretty
from otel2traj.dialects import DIALECTS
from otel2traj.dialects.base import Declared

from .cases import ROOT, find, read_case, records

MINE = (
    "abb_framework", "generic", "google_adk_v1", "google_adk_v2", "http_client_noise", "langsmith", "openai_agents_sdk",
    "openinference", "openinference_agno", "openinference_beeai", "openinference_claude_agent_sdk",
    "openinference_converted", "openinference_dspy", "openinference_langchain", "openinference_llama_index",
    "openinference_openai", "openinference_openai_agents", "openinference_smolagents", "otel_genai_1_37",
    "otel_genai_events_1_28_1_36", "otel_genai_pre_1_28", "pydantic_ai", "strands_latest", "strands_legacy",
    "traceloop_genai", "traceloop_legacy",
)  # fmt: skip
CASES = find(*MINE)


def ident(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


@pytest.mark.parametrize("case", CASES, ids=ident)
def test_readings_are_the_golden_ones(case: Path, golden: Callable[[Path, bytes], None]) -> None:
    golden(case / "expected" / "readings.json", dumps_pretty(read_case(case)) + b"\n")


@pytest.mark.parametrize("case", CASES, ids=ident)
def test_the_dialect_of_the_folder_recognises_a_span_and_no_key_is_left_unmapped(case: Path) -> None:
    dialect = DIALECTS.get(case.parent.name)
    assert any(dialect.recognises(span) for span in records(case)[0])
    for told in read_case(case):
        assert told.get("unmapped", []) == [], told["span"]


@pytest.mark.parametrize("dialect", list(DIALECTS), ids=lambda dialect: dialect.name)
def test_every_dialect_has_spans_and_describes_itself(dialect: Declared) -> None:
    assert list((ROOT / dialect.name).glob("*/otel*.jsonl")), f"no fixture under fixtures/dialects/{dialect.name}"
    for said in (dialect.title, dialect.switch_on, dialect.leaves_out):
        assert said.strip()
    assert dialect.source.startswith("https://")
