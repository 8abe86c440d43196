"""Each kind of change to a sealed corpus or a working tree is found, and named by its code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.canonical import canonical_bytes, dumps, loads
from otel2traj.corpus.integrity import seal_of
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.tree import read_rows
from otel2traj.corpus.validating import validate
from otel2traj.corpus.verifying import verify
from otel2traj.errors import EvidenceError, RefusedError
from otel2traj.prov.records import seal_digest


def reseal(corpus: Path) -> None:
    """What somebody who wants to deceive would do: make the checksums fit."""
    lines = []
    for line in (corpus / "checksums.sha256").read_text().splitlines():
        path = line[66:]
        if (corpus / path).exists():
            lines.append(f"{hashlib.sha256((corpus / path).read_bytes()).hexdigest()}  {path}\n")
    (corpus / "checksums.sha256").write_text("".join(lines))


def one(corpus: Path, pattern: str) -> Path:
    return sorted(corpus.glob(pattern))[0]


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def codes(corpus: Path) -> set[str]:
    return {finding.rule for finding in verify(corpus).findings}


def test_what_is_as_it_was_sealed(sealed: Path) -> None:
    done = verify(sealed)
    assert done.findings == []
    assert done.version == "1.0.0"
    assert done.files > 50
    assert verify(sealed, done.root).findings == []
    assert [finding.rule for finding in verify(sealed, "0" * 64).findings] == ["corpus.root"]


@pytest.mark.parametrize(
    "pattern",
    ["raw/objects/*/*", "aer/*/*", "sem/default/*/*", "prov/*/*/*", "views/*/*/*", "corpus.json", "register.jsonl",
     "DATASHEET.md", "rules/aprov.toml", "LICENSES/*"],
)  # fmt: skip
def test_one_flipped_bit_anywhere(sealed: Path, pattern: str) -> None:
    file = one(sealed, pattern)
    data = file.read_bytes()
    file.write_bytes(data.replace(b"a", b"b", 1))
    assert verify(sealed).findings[0].pointer == file.relative_to(sealed).as_posix()
    assert "corpus.changed" in codes(sealed)


def _extra(corpus: Path) -> None:
    (corpus / "aer" / "more.jsonl").write_text("{}")


def _missing(corpus: Path) -> None:
    one(corpus, "prov/*/*/*").unlink()


def _linked(corpus: Path) -> None:
    file = one(corpus, "views/*/*/*")
    target = corpus.parent / "elsewhere"
    os.replace(file, target)
    file.symlink_to(target)


def _swapped(corpus: Path) -> None:
    lines = (corpus / "checksums.sha256").read_text().splitlines(keepends=True)
    (corpus / "checksums.sha256").write_text("".join(reversed(lines)))


def _traversal(corpus: Path) -> None:
    with (corpus / "checksums.sha256").open("a") as out:
        out.write(f"{'0' * 64}  ../outside\n")


def _work(corpus: Path) -> None:
    (corpus / ".work").mkdir()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_extra, "corpus.extra"),
        (_missing, "corpus.missing"),
        (_linked, "corpus.link"),
        (_swapped, "corpus.checksums"),
        (_traversal, "corpus.checksums"),
        (_work, "corpus.extra"),
    ],
)
def test_other_changes(sealed: Path, change: Callable[[Path], None], code: str) -> None:
    change(sealed)
    assert code in codes(sealed)


def test_a_raw_byte_with_checksums_made_to_fit(sealed: Path) -> None:
    flip(one(sealed, "raw/objects/*/*.jsonl"))
    reseal(sealed)
    assert codes(sealed) == {"corpus.raw-changed"}
    assert not validate(sealed, roundtrip=False).clean
    assert {finding.rule for finding in recompute(sealed).findings} == {"recompute.raw"}


def test_an_aer_field_with_checksums_made_to_fit(sealed: Path) -> None:
    file = one(sealed, "aer/*/*")
    file.write_bytes(file.read_bytes().replace(b'"origin":"dir:runs"', b'"origin":"dir:rums"'))
    reseal(sealed)
    assert codes(sealed) == {"corpus.changed", "corpus.chain"}
    found = validate(sealed, roundtrip=False)
    assert any(result["tier"] == "1" for result in found.executions[file.name.partition(".")[0]])


def test_an_aer_forged_with_seal_index_and_checksums_is_found_by_deriving_again(sealed: Path) -> None:
    row = read_rows(sealed / "executions.jsonl")[0]
    file = sealed / row["files"]["aer"]["path"]
    body, _, last = (
        file.read_bytes().replace(b'"origin":"dir:runs"', b'"origin":"dir:rums"').removesuffix(b"\n").rpartition(b"\n")
    )
    digest = "sha256:" + hashlib.sha256(body + b"\n").hexdigest()
    seal = loads(last)
    assert isinstance(seal, dict)
    old = seal["digest"]
    seal["digest"] = digest
    file.write_bytes(body + b"\n" + canonical_bytes({**seal, "seal_digest": seal_digest(seal)}) + b"\n")
    index = (sealed / "executions.jsonl").read_bytes().replace(old.encode(), digest.encode())
    index = index.replace(
        row["files"]["aer"]["sha256"].encode(), hashlib.sha256(file.read_bytes()).hexdigest().encode()
    )
    (sealed / "executions.jsonl").write_bytes(index)
    manifest = loads((sealed / "corpus.json").read_bytes())
    assert isinstance(manifest, dict)
    manifest["digests"]["executions.jsonl"] = hashlib.sha256(index).hexdigest()
    (sealed / "corpus.json").write_bytes(dumps(manifest))
    reseal(sealed)
    assert codes(sealed) == set(), "a whole rewrite is what checksums cannot show"
    assert {finding.rule for finding in recompute(sealed).findings} >= {"recompute.differs"}
    assert not validate(sealed, roundtrip=False).clean


def test_a_removed_execution_with_checksums_made_to_fit(sealed: Path) -> None:
    rows = (sealed / "executions.jsonl").read_bytes().splitlines(keepends=True)
    (sealed / "executions.jsonl").write_bytes(b"".join(rows[1:]))
    reseal(sealed)
    assert {"corpus.index", "corpus.extra", "corpus.changed"} <= codes(sealed)
    assert "recompute.missing" in {finding.rule for finding in recompute(sealed).findings}


def test_changes_of_a_working_tree_are_found_by_validate(working: Path) -> None:
    tree = Path(f"{working}.partial")
    assert validate(working, roundtrip=False).clean
    flip(one(tree, "raw/objects/*/*.jsonl"))
    one(tree, "sem/default/*/*").unlink()
    _extra(tree)
    found = validate(working, roundtrip=False)
    assert {finding.rule for finding in found.tree} == {"corpus.raw-changed", "corpus.missing", "corpus.extra"}
    rules = {
        finding["rule"] for results in found.executions.values() for result in results for finding in result["findings"]
    }
    assert rules >= {"corpus.raw-changed", "corpus.missing"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("executions.jsonl", b'"path":"aer/', b'"path":"../aer/'),
        ("raw/origins.jsonl", b'"path":"abb', b'"path":"../abb'),
        ("register.jsonl", b'"files":', b'"filed":'),
        ("corpus.json", b'"sources"', b'"sauces"'),
        ("executions.jsonl", b"{", b"["),
    ],
)
def test_an_index_of_another_form_is_a_finding_and_leads_nowhere(
    sealed: Path, name: str, old: bytes, new: bytes
) -> None:
    (sealed / name).write_bytes((sealed / name).read_bytes().replace(old, new, 1))
    reseal(sealed)
    assert "corpus.damaged" in codes(sealed)
    with pytest.raises(EvidenceError) as caught:
        recompute(sealed)
    assert (caught.value.error_code, caught.value.exit_code) == ("corpus.damaged", 3)


def test_a_working_tree_is_not_verified(working: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        verify(working)
    assert caught.value.error_code == "corpus.not-sealed"


@pytest.mark.parametrize(("version", "good"), [("1.0.0", True), ("1.2.0", False), ("", False)])
def test_a_seal_covers_itself_from_the_version_on_that_writes_it(version: str, good: bool) -> None:
    first = dumps({"adapter": {"name": "otel2traj-attempt", "version": version}, "kind": "execution"}) + b"\n"
    stated = f"sha256:{hashlib.sha256(first).hexdigest()}"
    data = first + dumps({"kind": "seal", "digest": stated}) + b"\n"
    if good:
        assert seal_of(data) == stated
    else:
        with pytest.raises(EvidenceError, match="its own issues"):
            seal_of(data)
