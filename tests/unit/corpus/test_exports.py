"""The seal in forms of others, read by their own packages."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from otel2traj.corpus.exports import bagit, in_toto, ro_crate
from otel2traj.corpus.verifying import verify
from otel2traj.errors import RefusedError, UsageError

from . import made


def test_an_in_toto_statement(sealed: Path) -> None:
    said = json.loads(in_toto(sealed))
    root = verify(sealed).root
    subjects = {one["name"]: one["digest"]["sha256"] for one in said["subject"]}
    assert subjects["checksums.sha256"] == said["predicate"]["root"]["sha256"] == root
    assert set(subjects) == set(made.content(sealed))
    assert in_toto(sealed) == in_toto(sealed)


def test_the_statement_is_one_for_the_package_of_in_toto(sealed: Path) -> None:
    statement = pytest.importorskip("in_toto_attestation.v1.statement")
    from google.protobuf import json_format
    from in_toto_attestation.v1 import statement_pb2

    message = json_format.Parse(in_toto(sealed), statement_pb2.Statement())
    statement.Statement.copy_from_pb(message).validate()
    assert len(message.subject) == len(made.content(sealed))


def test_a_bag(sealed: Path, tmp_path: Path) -> None:
    count = bagit(sealed, tmp_path / "bag")
    assert made.content(tmp_path / "bag" / "data") == made.content(sealed)
    assert count == len(made.content(sealed))
    bagit(sealed, tmp_path / "twin")
    assert made.content(tmp_path / "bag") == made.content(tmp_path / "twin"), "no date stands in it"
    with pytest.raises(UsageError):
        bagit(sealed, tmp_path / "bag")


def test_the_bag_is_one_for_the_package_of_bagit(sealed: Path, tmp_path: Path) -> None:
    package = pytest.importorskip("bagit")
    bagit(sealed, tmp_path / "bag")
    package.Bag(str(tmp_path / "bag")).validate()
    file = next((tmp_path / "bag" / "data" / "views").rglob("*.json"))
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data + b" ")
    with pytest.raises(package.BagError):
        package.Bag(str(tmp_path / "bag")).validate()


def test_a_crate_is_the_corpus_and_one_document(sealed: Path, tmp_path: Path) -> None:
    count = ro_crate(sealed, tmp_path / "crate", "2026-05-01")
    files = made.content(tmp_path / "crate")
    document = json.loads(files.pop("ro-crate-metadata.json"))
    assert files == made.content(sealed)
    by_id = {one["@id"]: one for one in document["@graph"]}
    whole = by_id["./"]
    assert by_id["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert (whole["datePublished"], whole["identifier"]) == ("2026-05-01", f"sha256:{verify(sealed).root}")
    assert len(whole["hasPart"]) == count == len(files)
    for part in whole["hasPart"]:
        told = by_id[part["@id"]]
        data = files[told["name"]]
        assert (told["sha256"], told["contentSize"]) == (hashlib.sha256(data).hexdigest(), str(len(data)))
    assert [by_id[one["@id"]]["@type"] for one in whole["isBasedOn"]] == ["CreativeWork"] * len(whole["isBasedOn"])
    ro_crate(sealed, tmp_path / "twin", "2026-05-01")
    assert made.content(tmp_path / "crate") == made.content(tmp_path / "twin")
    for target, day in ((tmp_path / "crate", "2026-05-01"), (tmp_path / "other", "May")):
        with pytest.raises(UsageError):
            ro_crate(sealed, target, day)


def test_the_crate_is_one_for_the_package_of_ro_crate(sealed: Path, tmp_path: Path) -> None:
    package = pytest.importorskip("rocrate.rocrate")
    count = ro_crate(sealed, tmp_path / "crate", "2026-05-01")
    crate = package.ROCrate(tmp_path / "crate")
    parts = crate.root_dataset["hasPart"]
    assert len(parts) == count
    assert all((tmp_path / "crate" / part["name"]).is_file() and part.type == "File" for part in parts)
    assert crate.root_dataset["version"] == "1.0.0"


def test_only_what_is_whole_is_handed_on(sealed: Path, tmp_path: Path) -> None:
    (sealed / "DATASHEET.md").write_text("better")
    for action in (
        lambda: in_toto(sealed),
        lambda: bagit(sealed, tmp_path / "bag"),
        lambda: ro_crate(sealed, tmp_path / "crate", "2026-05-01"),
    ):
        with pytest.raises(RefusedError) as caught:
            action()
        assert caught.value.error_code == "corpus.damaged"
    assert not (tmp_path / "bag").exists()
    assert not (tmp_path / "crate").exists()
