"""Every kind of file is told by its content, whatever is wrong with it, and reaches its checker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel2traj.api import forensic, ledger, prov
from otel2traj.api.validate import FileKind, kind_of, validate
from otel2traj.errors import EvidenceError, UsageError


@pytest.fixture(scope="module")
def attempt(fixtures: Path) -> Path:
    return fixtures / "ledger" / "adk-parallel" / "attempt"


@pytest.fixture(scope="module")
def files(attempt: Path, fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One file of each kind, under names that say nothing."""
    root = tmp_path_factory.mktemp("kinds")
    found = {kind.value: root / str(number) for number, kind in enumerate(FileKind)}
    saved = fixtures / "attempts" / "abb-13a-anthropic" / "expected" / "trajectory.json"
    found["trajectory"].write_bytes(saved.read_bytes())
    ledger.export_file(attempt, found["ledger"])
    forensic.export(attempt)[0].save(found["forensic ledger"])
    prov.export_file(attempt, found["PROV"], aer=found["AER"], sem=found["SEM"])
    return found


@pytest.mark.parametrize("kind", list(FileKind))
def test_each_kind_is_told_and_clean(kind: FileKind, files: dict[str, Path]) -> None:
    assert kind_of(files[kind]) is kind
    aer = files["AER"] if kind in (FileKind.SEM, FileKind.PROV) else None
    assert [finding for finding in validate(files[kind], aer=aer) if finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("kind", "old", "new", "rule"),
    [
        ("trajectory", b'"link":"exact"', b'"link":"sure"', "json-schema"),
        ("trajectory", b"]\n}", b"]\n", "json"),
        ("ledger", b'"usd":0.000131', b'"usd":0.1', "ledger.cost-rate"),
        ("ledger", b'"schema":"trajectory-ledger-v1",', b"", "ledger.schema"),
        ("ledger", b"{", b"", "ledger.json"),
        ("forensic ledger", b'"turns_taken"', b'"turns"', "forensic.json-schema"),
        ("AER", b'"agent_id":"adk-lab"', b'"agent_id":"other"', "aer.seal"),
        ("SEM", b'"kind":"sem"', b'"kind":"sem","more":1', "sem"),
        ("PROV", b'"prefix"', b'"prefixes"', "structure"),
    ],
)
def test_a_damaged_file_is_still_told_and_its_checker_finds_it(
    kind: str, old: bytes, new: bytes, rule: str, files: dict[str, Path], tmp_path: Path
) -> None:
    data = files[kind].read_bytes()
    assert old in data
    bad = tmp_path / "bad"
    bad.write_bytes(data.replace(old, new, 1))
    assert kind_of(bad) == kind
    errors = [finding.rule for finding in validate(bad, aer=files["AER"] if kind in ("SEM", "PROV") else None)]
    assert any(found.startswith(rule) for found in errors), errors


def test_a_trajectory_with_its_keys_in_another_order_is_told(files: dict[str, Path], tmp_path: Path) -> None:
    document = json.loads(files["trajectory"].read_bytes())
    other = tmp_path / "other"
    other.write_text(json.dumps(document, sort_keys=True))
    assert kind_of(other) is FileKind.TRAJECTORY
    assert validate(other) == []


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"words", b"\xff\xfe", b'{"schema": "other"}'])
def test_what_is_none_of_them_is_refused(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "none"
    file.write_bytes(data)
    with pytest.raises(EvidenceError, match="no trajectory, ledger"):
        validate(file)
    with pytest.raises(EvidenceError, match="cannot read"):
        validate(tmp_path)


def test_options_that_a_checker_has_no_use_for_are_refused(files: dict[str, Path], attempt: Path) -> None:
    for kind in ("forensic ledger", "AER", "SEM", "PROV"):
        with pytest.raises(UsageError):
            validate(files[kind], evidence=attempt)
    with pytest.raises(UsageError):
        validate(files["ledger"], aer=files["AER"])
    with pytest.raises(UsageError, match="without its AER"):
        validate(files["SEM"])
    assert [f for f in validate(files["PROV"], aer=files["AER"], evidence=attempt) if f.severity == "error"] == []
