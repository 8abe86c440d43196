"""Account paths become labels in everything that is derived; a profile says nothing that is not understood."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from otel2traj.canonical import loads
from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import ImportOptions, import_root
from otel2traj.corpus.profile import read_profile
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.sealing import package
from otel2traj.corpus.tree import read_json
from otel2traj.corpus.validating import validate
from otel2traj.errors import EvidenceError, UsageError

from . import made

SALT = b"0123456789abcdef!"


def profile(folder: Path, salt: bytes = SALT) -> Path:
    (folder / "salt").write_bytes(salt)
    file = folder / "profile.toml"
    file.write_text(
        'name = "lab"\nversion = 2\n[redact]\nsalt_file = "salt"\npatterns = [\'/home/(?P<account>[^/\\s"]+)\']\n'
    )
    return file


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """An attempt in which somebody's home directory stands in the messages, in the run and in a path."""
    root = made.runs(tmp_path, ("abb-02-parallel-tools",))
    for file in root.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            for old, new in ((b"notes.txt", b"/home/grace/notes.txt"), (b'"run_id": "', b'"run_id": "/home/grace/')):
                data = data.replace(old, new)
            file.write_bytes(data)
    assert b"/home/grace" in b"".join(made.content(root).values()), "the attempt says nothing that could be redacted"
    import_root(root, tmp_path / "corpus", ImportOptions(profile=read_profile(profile(tmp_path))))
    derive(tmp_path / "corpus")
    assert validate(tmp_path / "corpus", roundtrip=False).clean
    package(tmp_path / "corpus")
    return tmp_path / "corpus"


def test_labels_stand_in_everything_derived_and_raw_bytes_stay(corpus: Path) -> None:
    label = b"acct-" + hashlib.sha256(SALT + b"grace").hexdigest()[:12].encode()
    files = made.content(corpus)
    labelled = {path.split("/")[0] for path, data in files.items() if label in data}
    assert labelled >= {"aer", "views"}
    assert {path.split("/")[0] for path, data in files.items() if b"grace" in data} == {"raw"}
    assert not [path for path, data in files.items() if SALT in data]
    view = next(data for path, data in files.items() if path.startswith("views/"))
    assert isinstance(loads(view), dict)
    assert "whoever has the salt can guess" in files["DATASHEET.md"].decode()
    manifest = read_json(corpus / "corpus.json")
    assert manifest["profile"]["redact"]["salt_sha256"] == hashlib.sha256(SALT).hexdigest()


def test_deriving_again_needs_the_profile_and_its_salt(corpus: Path, tmp_path: Path) -> None:
    assert recompute(corpus, profile=read_profile(profile(tmp_path))).findings == []
    other = tmp_path / "other"
    other.mkdir()
    for given in (None, read_profile(profile(other, b"another salt of 16 bytes"))):
        with pytest.raises(UsageError) as caught:
            recompute(corpus, profile=given)
        assert caught.value.error_code == "corpus.profile"


def test_one_corpus_has_one_profile(working: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        import_root(made.runs(tmp_path), working, ImportOptions(profile=read_profile(profile(tmp_path))))
    assert caught.value.error_code == "corpus.profile"


@pytest.mark.parametrize(
    "text",
    [
        "name = 1\nversion = 1",
        'name = "a"',
        'name = "a"\nversion = 1\nmore = 2',
        'name = "a"\nversion = 1\n[redact]\npatterns = ["("]\nsalt_file = "salt"',
        'name = "a"\nversion = 1\n[redact]\npatterns = []\nsalt_file = "salt"',
        'name = "a"\nversion = 1\n[redact]\npatterns = ["a"]',
        'name = "a"\nversion = 1\n[redact]\npatterns = ["a"]\nsalt_file = "short"',
        'name = "a"\nversion = 1\n[[withhold]]\nreason = "x"',
        'name = "a"\nversion = 1\n[[withhold]]\npath = "x"\nexecutions = "no"',
        'name = "a"\nversion = 1\nwithhold = 3',
    ],
)
def test_what_a_profile_may_not_say(tmp_path: Path, text: str) -> None:
    (tmp_path / "salt").write_bytes(SALT)
    (tmp_path / "short").write_bytes(b"short")
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(UsageError):
        read_profile(tmp_path / "p.toml")


@pytest.mark.parametrize(
    "text", [None, "no = = toml", 'name="a"\nversion=1\n[redact]\npatterns=["a"]\nsalt_file="gone"']
)
def test_what_cannot_be_read(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "p.toml").write_text(text)
    with pytest.raises(EvidenceError):
        read_profile(tmp_path / "p.toml")
