"""From a claim to the recorded bytes: every link of the chain is printed, and what does not hold is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from otel2traj.api import prov
from otel2traj.canonical import JsonObject, canonical_bytes, loads
from otel2traj.errors import EvidenceError, UsageError
from otel2traj.prov.why import Claim, explain, lines_of, locate
from tests.unit.cli.test_prov_cli import run

ATTEMPTS = Path(__file__).parents[3] / "fixtures" / "attempts"
ATTEMPT = ATTEMPTS / "abb-02-parallel-tools" / "attempt"


def exported(folder: Path, attempt: Path = ATTEMPT) -> tuple[Path, Path]:
    document, aer = folder / "p.json", folder / "p.aer"
    prov.export_file(attempt, document, aer=aer)
    return document, aer


def claims(document: Path, query: str, evidence: Path = ATTEMPT) -> list[Claim]:
    return list(prov.why(document, query, evidence=evidence))


def test_a_text_leads_to_the_bytes_that_hold_it(tmp_path: Path) -> None:
    document, _ = exported(tmp_path)
    found = claims(document, "Three lookups.")
    assert [one.faults for one in found] == [[]] * len(found)
    response = next(one for one in found if one.place == "xd:core/entity/x:m2")
    wire = next(one for one in response.ranges if one.at and one.source["path"] == "network.jsonl")
    assert (wire.holds, wire.at) == (True, ["/data/payload/choices/0/message/content"])
    data = (ATTEMPT / "network.jsonl").read_bytes()
    assert wire.offset is not None
    assert data[wire.offset :].startswith(b"Three lookups.")
    shown = "\n".join(lines_of(response))
    for word in ("apv:Observed", "aprov.n_message@1", "network.jsonl:3", "digest holds", str(wire.source["sha256"])):
        assert word in shown


def test_a_relation_is_explained_by_the_field_that_justifies_it(tmp_path: Path) -> None:
    document, aer = exported(tmp_path)
    (by_pointer,) = claims(document, "te2/call")
    name = by_pointer.place.rpartition("/")[2]
    (by_name,) = prov.why(document, name, aer=aer, evidence=ATTEMPT)
    assert by_name == by_pointer
    assert by_name.statement["prov:activity"] == "x:te2"
    assert [rule.name for rule in by_name.rules] == ["use_request", "tool_call_id_unique"]
    assert any("/data/output/tool_call_id" in one.at for one in by_name.ranges)


def test_changed_bytes_and_better_classes_are_faults(tmp_path: Path) -> None:
    copy = tmp_path / "attempt"
    shutil.copytree(ATTEMPT, copy)
    document, aer = exported(tmp_path, copy)
    wire = copy / "network.jsonl"
    wire.write_bytes(wire.read_bytes().replace(b"Three lookups.", b"Seven lookups."))
    faults = [fault for one in prov.why(document, "x:m2", aer=aer, evidence=copy) for fault in one.faults]
    assert len(faults) == 1
    assert "network.jsonl:3" in faults[0]
    assert "not those that were recorded" in faults[0]
    assert [one.faults for one in prov.why(document, "m2", aer=aer, evidence=copy)] == [faults]
    forged: JsonObject = loads(document.read_bytes())  # type: ignore[assignment]
    item = next(one for one in forged["bundle"]["xd:core"]["used"].values() if one["apv:sourcePointer"] == "te2/call")
    item["apv:evidenceClass"]["$"] = "apv:Observed"
    item["apv:rule"] = "aprov.use_anything@1"
    document.write_bytes(canonical_bytes(forged) + b"\n")
    (claim,) = prov.why(document, "te2/call", aer=aer, evidence=ATTEMPT)
    assert len(claim.faults) == 2
    item["apv:sourcePointer"] = "te99/call"
    (lost,) = explain(forged, aer.read_bytes().splitlines(keepends=True), "te99/call")
    assert lost.faults[-1] == "'te99/call' leads to nothing in the record"


def test_what_is_put_together_from_pieces_is_said_to_be(tmp_path: Path) -> None:
    """A claim of a value that no cited range holds is a fault of the chain, and none where no evidence was given."""
    document, aer = exported(tmp_path)
    lines = aer.read_bytes().replace(b"Three lookups.", b"Never recorded").splitlines(keepends=True)
    given: JsonObject = loads(document.read_bytes())  # type: ignore[assignment]
    from otel2traj.api.record_bytes import RecordBytes

    with RecordBytes(ATTEMPT) as read:
        opened = list(explain(given, lines, "Never recorded", read))
    assert opened
    assert all("no cited range holds" in one.faults[-1] for one in opened)
    closed = list(explain(given, lines, "Never recorded"))
    assert [one.faults for one in closed] == [[]] * len(closed)
    assert {one.holds for claim in closed for one in claim.ranges} == {None}


def test_pointers_lead_into_json_inside_strings() -> None:
    tree = {"a/b": ['{"c": "deep"}', "so deep"], "d": "deep"}
    assert list(locate(tree, "deep")) == ["/a~1b/0 > /c", "/d", "/a~1b/0", "/a~1b/1"]


def test_nothing_meant_and_nothing_given(tmp_path: Path) -> None:
    document, aer = exported(tmp_path)
    with pytest.raises(EvidenceError, match="says 'xyzzy'"):
        list(prov.why(document, "xyzzy", aer=aer))
    with pytest.raises(UsageError, match="no AER"):
        list(prov.why(document, "m2"))


def test_the_command_line_says_how_many_hold(tmp_path: Path) -> None:
    document, _ = exported(tmp_path)
    done = run("why", document, "Three lookups.", "--evidence", ATTEMPT, "--limit", "1")
    assert (done.returncode, done.stderr) == (0, "2 claims, 1 not shown, 0 faults\n")
    assert done.stdout.count("xd:core/entity/") == 1
    assert run("why", document, "Three lookups.").returncode == 2
