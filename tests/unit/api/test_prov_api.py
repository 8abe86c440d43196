"""Export and validation of one attempt, as callers and the command line use them."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from otel2traj.api import prov
from otel2traj.api.build import build_path
from otel2traj.errors import EvidenceError, UsageError

CASE = "evaluation/case.json"
ATTEMPT = Path(__file__).parents[3] / "fixtures" / "attempts" / "abb-02-parallel-tools" / "attempt"


def exported(tmp_path: Path, attempt: Path = ATTEMPT, **options: object) -> Path:
    target = tmp_path / "one.prov.json"
    files = {"aer": tmp_path / "one.aer.jsonl", "sem": tmp_path / "one.sem.jsonl"}
    prov.export_file(attempt, target, **files, **options)
    return target


def status(results: list[prov.TierResult]) -> dict[str, str]:
    return {one.tier: one.status for one in results}


def test_everything_that_was_written_is_clean(tmp_path: Path) -> None:
    target = exported(tmp_path)
    results = prov.check(
        target, aer=tmp_path / "one.aer.jsonl", sems=(tmp_path / "one.sem.jsonl",), evidence=ATTEMPT, roundtrip=False
    )
    assert [one.findings for one in results if one.findings] == []
    assert status(results) == {**dict.fromkeys(("1", "2", "3a", "3b", "3c", "3d", "5", "6"), "passed"), "4": "not_run"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.aer.jsonl", "one.prov.json", "one.sem.jsonl"]


def test_the_same_bytes_twice_and_none_of_the_machine(tmp_path: Path) -> None:
    out = io.BytesIO()
    copy = tmp_path / "deep" / "attempt"
    shutil.copytree(ATTEMPT, copy)
    prov.export(copy, out)
    assert out.getvalue() == exported_bytes(ATTEMPT)
    assert str(tmp_path).encode() not in out.getvalue()


def exported_bytes(attempt: Path) -> bytes:
    out = io.BytesIO()
    prov.export(attempt, out)
    return out.getvalue()


def test_a_flipped_raw_byte_is_found(tmp_path: Path) -> None:
    copy = tmp_path / "attempt"
    shutil.copytree(ATTEMPT, copy)
    target = exported(tmp_path, copy)
    wire = copy / "network.jsonl"
    data = bytearray(wire.read_bytes())
    data[len(data) // 2] ^= 1
    wire.write_bytes(data)
    results = prov.check(target, aer=tmp_path / "one.aer.jsonl", evidence=copy, roundtrip=False)
    tier = next(one for one in results if one.tier == "5")
    assert tier.status == "failed"
    assert {one.rule for one in tier.findings} >= {"linkage.raw", "linkage.object"}


def test_without_evidence_the_tier_says_what_it_did_not_do(tmp_path: Path) -> None:
    target = exported(tmp_path)
    results = prov.check(target, aer=tmp_path / "one.aer.jsonl", roundtrip=False)
    assert next(one.remarks for one in results if one.tier == "5") == ["raw bytes not looked at: no evidence was given"]


def test_an_injection_that_the_case_declares_is_marked(tmp_path: Path) -> None:
    copy = tmp_path / "attempt"
    shutil.copytree(ATTEMPT, copy)
    case = json.loads((copy / CASE).read_bytes())
    words = str(case["inputs"][0]["payload"])
    (copy / CASE).write_text(json.dumps({**case, "injections": {"evil": words}}))
    target = exported(tmp_path, copy, profile="injection")
    document = json.loads(target.read_bytes())
    claims = document["bundle"]["xd:assessment.injection"]["entity"].values()
    assert [one for one in claims if one.get("apv:injection") == "evil"]
    assert words.encode() not in target.read_bytes()
    loud = exported(tmp_path, copy, emit_content=True)
    assert words.encode() in loud.read_bytes()


def test_a_case_that_cannot_be_read_declares_nothing(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_bytes(b"{")
    assert prov.fixtures(tmp_path) == []
    assert prov.fixtures(tmp_path / "absent") == []


def test_unknown_profiles_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown semantics profile"):
        exported(tmp_path, profile="nonsense")
    assert list(tmp_path.iterdir()) == [] or not (tmp_path / "one.prov.json").exists()
    with pytest.raises(EvidenceError):
        prov.check(tmp_path / "absent.json")
    (tmp_path / "words.txt").write_text("hello")
    with pytest.raises(EvidenceError, match="neither PROV-JSON"):
        prov.check(tmp_path / "words.txt")


def test_an_aer_and_a_sem_are_checked_alone(tmp_path: Path) -> None:
    exported(tmp_path)
    assert status(prov.check(tmp_path / "one.aer.jsonl"))["1"] == "passed"
    sem = status(prov.check(tmp_path / "one.sem.jsonl", aer=tmp_path / "one.aer.jsonl"))
    assert (sem["1"], sem["2"], sem["3a"]) == ("passed", "passed", "not_run")


def test_a_document_of_others_is_checked_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"prefix": {"ex": "http://example.org/"}, "entity": {"ex:e": {"ex:n": 5}}}')
    found = prov.check(file, roundtrip=False)
    assert status(found) == {
        **dict.fromkeys(("3a", "3b", "3d"), "passed"),
        **dict.fromkeys(("1", "2", "3c", "4", "5", "6"), "not_run"),
    }


def test_a_saved_trajectory_launders_nothing(tmp_path: Path) -> None:
    """Without evidence nothing in it is observed and it is the only source; with evidence an edit is refused."""
    saved = tmp_path / "trajectory.json"
    build_path(ATTEMPT, output=saved)
    target = exported(tmp_path, saved)
    lines = [json.loads(line) for line in (tmp_path / "one.aer.jsonl").read_bytes().splitlines()]
    ways = [how["class"] for one in lines for how in (one, *one.get("fields", {}).values())]
    assert "O" not in ways
    assert {place["path"] for one in lines for place in one.get("source", [])} == {"trajectory.json"}
    assert [one["path"] for one in lines if one.get("role") == "raw"] == ["trajectory.json"]
    assert any(issue.startswith("evidence_not_opened") for issue in lines[-1]["issues"])
    assert b"apv:Observed" not in target.read_bytes()
    results = prov.check(target, aer=tmp_path / "one.aer.jsonl", evidence=saved, roundtrip=False)
    assert [one.findings for one in results if one.findings] == []
    prov.export_file(saved, target, evidence=ATTEMPT)
    assert target.read_bytes() == exported_bytes(ATTEMPT)
    saved.write_bytes(saved.read_bytes().replace(b"slow_lookup", b"fast_lookup"))
    with pytest.raises(EvidenceError, match="not what its evidence gives"):
        prov.export_file(saved, target, evidence=ATTEMPT)
    with pytest.raises(UsageError, match="no saved trajectory"):
        prov.export_file(ATTEMPT, target, evidence=ATTEMPT)
