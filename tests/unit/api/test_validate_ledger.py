"""What `otel2traj validate` gets for a ledger: schema and audit in one list of findings."""

from __future__ import annotations

from pathlib import Path

from otel2traj.api import ledger
from tests.ledgers import good, good_ledger, sealed


def test_a_good_ledger_has_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(good_ledger())
    assert ledger.validate(path) == []


def test_schema_and_audit_both_speak(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    items = good()
    items[4]["type"] = "note"
    path.write_bytes(sealed(items))
    found = ledger.validate(path)
    assert {"ledger.json-schema", "ledger.type"} <= {finding.rule for finding in found}
    assert {finding.pointer for finding in found} == {"a.jsonl:5"}
