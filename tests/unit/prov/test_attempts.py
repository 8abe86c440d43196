"""Every attempt of the fixtures derives, and is clean in every tier, raw bytes included."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from otel2traj.api import prov
from otel2traj.api.prov import fixtures as declared
from otel2traj.api.record_bytes import RecordBytes
from otel2traj.api.source import drive
from otel2traj.canonical import JsonObject, loads
from otel2traj.errors import EvidenceError
from otel2traj.prov.aer import AerProjector
from otel2traj.prov.engine import derive_prov
from otel2traj.prov.validate import validate
from tests.factory import step, trajectory

from .made import aer, records, sems

FIXTURES = Path(__file__).parents[3] / "fixtures"
SAMPLES = ("langgraph_oi_error", "llama_index_oi", "smolagents_oi")
ATTEMPTS = sorted((Path(__file__).parents[3] / "fixtures" / "attempts").glob("*/attempt"))
ROUND_TRIPS = {"abb-02-parallel-tools", "abb-17a-acp", "pydanticai-builtin-twins"}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_every_attempt_is_clean_in_every_tier(attempt: Path) -> None:
    out = io.BytesIO()
    projector = AerProjector(out, "fixtures", attempt.parent.name, fixtures=declared(attempt))
    try:
        drive(attempt, projector)
    except EvidenceError:
        assert "symlink" in attempt.parent.name
        return
    lines = out.getvalue().splitlines(keepends=True)
    annotated = sems(lines)
    document = derive_prov(lines, annotated)
    with RecordBytes(attempt) as read:
        results = validate(
            prov=document,
            aer=lines,
            sems=annotated,
            read=read,
            digest_of=lambda path: hashlib.sha256((attempt / path).read_bytes()).hexdigest(),
            roundtrip=attempt.parent.name in ROUND_TRIPS,
        )
    assert [(one.tier, one.findings) for one in results if one.findings] == []
    ran = {one.tier for one in results if one.status == "passed"}
    assert ran >= {"1", "2", "3a", "3b", "3c", "3d", "5"}


def test_there_are_attempts() -> None:
    assert len(ATTEMPTS) > 20


def test_no_harness_acts_where_none_was_recorded() -> None:
    """Spans alone: nobody is said to have handled an Input, and its prompt is derived from the spans."""
    for name in SAMPLES:
        found = _records(name)
        assert not [record for record in found if record["kind"] == "actor" and record.get("role") == "harness"]
        assert not [record for record in found if record["kind"] == "generic_activity"]
        assert "harness" not in {how["by"] for record in found for how in record.get("fields", {}).values()}
        for scope in (record for record in found if record["kind"] == "scope" and "prompt" in record):
            assert scope["fields"]["prompt"]["rule"].startswith("otel2traj.prompt_of_spans@")


def _records(name: str) -> list[JsonObject]:
    with TemporaryDirectory() as folder:
        aer = Path(folder) / "aer"
        prov.export(FIXTURES / "samples" / name, io.BytesIO(), aer=aer)
        return [record for line in aer.read_bytes().splitlines() if isinstance(record := loads(line), dict)]


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ({"text": "Done."}, "answer"),
        ({"text": "Do", "finish_reason": "length"}, None),
        ({"text": "", "finish_reason": "content_filter"}, None),
        ({"refusal": "No."}, "refuse"),
        ({"other_parts": [{"type": "web_search_call"}]}, None),
        ({"tool_calls": [{"id": "c", "name": "t", "arguments": {}}]}, "call_tools"),
    ],
)
def test_a_decision_is_what_the_answer_shows_and_nothing_else(output: JsonObject, outcome: str | None) -> None:
    found = records(aer(trajectory(step(1, output=output))))
    (decision,) = [record for record in found.values() if record["kind"] == "decision"]
    assert decision.get("outcome") == outcome
    assert ("outcome" in decision["unknown"]) is (outcome is None)


@pytest.mark.parametrize("attempt", ATTEMPTS[:12], ids=lambda path: path.parent.name)
def test_requests_cite_requests_and_responses_cite_responses(attempt: Path) -> None:
    with TemporaryDirectory() as folder:
        try:
            prov.export(attempt, io.BytesIO(), aer=Path(folder) / "aer")
        except EvidenceError:
            return
        found = [loads(line) for line in (Path(folder) / "aer").read_bytes().splitlines()]
    for record in found:
        assert isinstance(record, dict)
        cited = {one["what"] for one in record.get("source", ())}
        if record.get("direction") == "request" or record.get("role") in ("request", "tool_definitions"):
            assert not cited & {"response", "error"}
        elif record.get("direction") == "response":
            assert not cited & {"request", "span_start"}
