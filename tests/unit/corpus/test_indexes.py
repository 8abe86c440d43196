"""What a corpus says of itself is derived again: register, pins, counts, pages, validation. Refusals are told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from otel2traj.canonical import JsonObject, dumps, loads
from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import import_root
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.validating import validate

from . import made

SOME = ("abb-02-parallel-tools", "pydanticai-builtin-twins")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    validate(made.working(tmp_path, SOME), roundtrip=False)
    return tmp_path / "corpus.partial"


def rows(path: Path) -> list[JsonObject]:
    return [loads(line) for line in path.read_bytes().splitlines()]  # type: ignore[misc]


def rules(corpus: Path) -> set[str]:
    return {one.rule for one in recompute(corpus).findings}


def test_a_corpus_that_nobody_touched_is_the_same(corpus: Path) -> None:
    assert rules(corpus) == set()


def test_an_execution_that_was_removed_with_its_row_of_the_register_is_found(corpus: Path) -> None:
    register = rows(corpus / "register.jsonl")
    gone = register.pop(0)
    executions = [row for row in rows(corpus / "executions.jsonl") if row["execution"] not in gone["executions"]]
    (corpus / "register.jsonl").write_bytes(b"".join(dumps(row) + b"\n" for row in register))
    (corpus / "executions.jsonl").write_bytes(b"".join(dumps(row) + b"\n" for row in executions))
    assert {"recompute.register", "recompute.counts"} <= rules(corpus)


def test_a_pin_is_that_of_what_was_stored(corpus: Path) -> None:
    data = loads((corpus / "corpus.json").read_bytes())
    assert isinstance(data, dict)
    data["sources"][0]["pin"] = "sha256:" + "0" * 64
    data["counts"]["tool_calls"] += 1
    (corpus / "corpus.json").write_bytes(dumps(data))
    assert rules(corpus) == {"recompute.pin", "recompute.counts"}


def test_a_result_of_a_validation_is_what_validating_gives(corpus: Path) -> None:
    row = next(row for row in rows(corpus / "executions.jsonl") if "validation" in row["files"])
    file = corpus / row["files"]["validation"]["path"]
    said = loads(file.read_bytes())
    assert isinstance(said, dict)
    said["tiers"][0]["status"] = "not_run"
    file.write_bytes(dumps(said))
    assert rules(corpus) == {"recompute.file", "recompute.validation"}


@pytest.mark.parametrize("edit", [{"bytes": 1}, {"sha256": "0" * 64}, {"more": 1}])
def test_the_index_states_the_file_of_a_validation(corpus: Path, edit: JsonObject) -> None:
    index = rows(corpus / "executions.jsonl")
    index[0]["files"]["validation"] |= edit
    (corpus / "executions.jsonl").write_bytes(b"".join(dumps(row) + b"\n" for row in index))
    assert rules(corpus) == {"recompute.file"}


def test_a_result_of_another_form_is_a_finding(corpus: Path) -> None:
    row = next(row for row in rows(corpus / "executions.jsonl") if "validation" in row["files"])
    (corpus / row["files"]["validation"]["path"]).write_bytes(b"{}")
    assert rules(corpus) == {"recompute.file", "recompute.validation"}


def test_pages_of_a_sealed_corpus_say_what_the_indexes_say(tmp_path: Path) -> None:
    sealed = made.sealed(tmp_path, SOME[:1])
    assert rules(sealed) == set()
    page = sealed / "DATASHEET.md"
    page.chmod(0o644)
    page.write_bytes(page.read_bytes().replace(b"1 executions", b"9 executions"))
    assert rules(sealed) == {"recompute.page"}


def test_refused_evidence_is_an_issue_of_the_sealed_attempt(tmp_path: Path) -> None:
    root = made.runs(tmp_path, SOME[:1])
    os.symlink("/etc/hostname", root / SOME[0] / "evaluation" / "notes.json")
    import_root(root, tmp_path / "corpus")
    derive(tmp_path / "corpus")
    record = next((tmp_path / "corpus.partial" / "aer").rglob("*.jsonl")).read_bytes().splitlines()
    seal = loads(record[-1])
    assert isinstance(seal, dict)
    assert "evidence_refused: evaluation/notes.json (symbolic_link)" in seal["issues"]
    assert rules(tmp_path / "corpus.partial") == set()
