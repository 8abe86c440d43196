"""Every kind of edit of what a sealed corpus says of itself, its checksums made to fit, is found by deriving it again:
register, indexes, origins, members of archives, manifest, pages, copies. What passes is listed."""

from __future__ import annotations

import copy
import hashlib
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.canonical import canonical_bytes, dumps, loads
from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import import_root
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.sealing import package
from otel2traj.corpus.verifying import verify
from otel2traj.errors import Otel2TrajError
from tests.properties.aer_edits import other
from tests.unit.corpus import made

ROWS = ("register.jsonl", "executions.jsonl", "raw/origins.jsonl", "raw/members.jsonl")
DOCUMENTS = ("corpus.json", "derivation.json")
PAGES = ("DATASHEET.md", "CHANGELOG.md", "LICENSES/NOTICE.txt", "rules/aprov.toml", "schemas/apv.ttl")
INDEXES = ("executions.jsonl", "register.jsonl", "derivation.json", "raw/origins.jsonl", "raw/members.jsonl")
BELIEVED = {
    "corpus.json sources/0/limits": "how far the import was to go: only a lower one shows",
    "corpus.json sources/0/code": "the code of the import, of a corpus that was derived by the one at hand",
    "derivation.json software": "another software: a remark says that it is not the one at hand",
    "derivation.json code": "another code: a remark says that it is not the one at hand",
    "derivation.json lockfile": "other libraries: a remark says so",
}
"""What is said of the making and cannot be derived, and why."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed corpus of an attempt in a folder and one in an archive."""
    folder = tmp_path_factory.mktemp("edited")
    root = made.runs(folder, ("abb-09-tool-only",))
    with tarfile.open(root / "more.tar", "w") as archive:
        archive.add(made.ATTEMPTS / "abb-10-not-observed" / "attempt", arcname="one")
    import_root(root, folder / "corpus")
    derive(folder / "corpus")
    package(folder / "corpus")
    for path in (folder / "corpus", *(folder / "corpus").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder / "corpus"


def places(value: Any, levels: int, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The members of a JSON value some levels deep, of lists the first."""
    items = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
    for key, item in items:
        yield (*above, key)
        if len(above) + 1 < levels:
            yield from places(item, levels, (*above, key))


def changed(value: Any, place: tuple[Any, ...], *, drop: bool) -> Any:
    out = copy.deepcopy(value)
    holder = out
    for key in place[:-1]:
        holder = holder[key]
    if drop:
        del holder[place[-1]]
    else:
        holder[place[-1]] = other(holder[place[-1]])
    return out


def edits(files: dict[str, bytes]) -> Iterator[tuple[str, str, bytes | None]]:
    """(name, file, its new bytes or None where it goes)."""
    for file in ROWS:
        rows: list[Any] = [loads(line) for line in files[file].splitlines()]
        seen: set[tuple[Any, ...]] = set()
        for number, row in enumerate(rows):
            sort = (row.get("kind"), row.get("status"))
            for place in places(row, 3 if file == "executions.jsonl" and number == 0 else 1):
                if (sort, place) not in seen:
                    seen.add((sort, place))
                    for drop in (False, True) if len(place) == 1 else (False,):
                        fresh = [*rows[:number], changed(row, place, drop=drop), *rows[number + 1 :]]
                        data = b"".join(dumps(one) + b"\n" for one in fresh)
                        yield f"{file} {'/'.join(map(str, place))}", file, data
            if sort not in seen:
                seen.add(sort)
                for fresh in ([*rows[:number], *rows[number + 1 :]], [*rows[: number + 1], *rows[number:]]):
                    yield f"{file} row", file, b"".join(dumps(one) + b"\n" for one in fresh)
    for file in DOCUMENTS:
        document: Any = loads(files[file])
        for place in places(document, 3 if file == "corpus.json" else 1):
            if place[0] != "digests":
                for drop in (False, True) if len(place) == 1 else (False,):
                    name = f"{file} {'/'.join(map(str, place))}"
                    yield name, file, canonical_bytes(changed(document, place, drop=drop))
    for file in PAGES:
        yield f"{file} more", file, files[file] + b"more\n"
        yield f"{file} gone", file, None


def fit(corpus: Path, files: dict[str, bytes]) -> None:
    """Digests in the manifest and checksums as a careful forger would write them."""
    manifest = loads((corpus / "corpus.json").read_bytes())
    if isinstance(manifest, dict) and isinstance(manifest.get("digests"), dict):
        manifest["digests"] = {name: hashlib.sha256((corpus / name).read_bytes()).hexdigest() for name in INDEXES}
        (corpus / "corpus.json").write_bytes(dumps(manifest))
    paths = [line[66:] for line in files["checksums.sha256"].decode().splitlines()]
    there = [path for path in paths if (corpus / path).is_file()]
    lines = [f"{hashlib.sha256((corpus / path).read_bytes()).hexdigest()}  {path}\n" for path in there]
    (corpus / "checksums.sha256").write_text("".join(lines))


def found(corpus: Path) -> bool:
    try:
        return bool(verify(corpus).findings or recompute(corpus).findings)
    except Otel2TrajError:
        return True


def test_every_edit_of_what_a_corpus_says_of_itself_is_found(corpus: Path) -> None:
    files = {
        path.relative_to(corpus).as_posix(): path.read_bytes()
        for path in corpus.rglob("*")
        if path.is_file() and "objects" not in path.parts
    }
    fit(corpus, files)
    assert not found(corpus)
    passed, tried = set(), 0
    for name, file, data in edits(files):
        tried += 1
        if data is None:
            (corpus / file).unlink()
        else:
            (corpus / file).write_bytes(data)
        fit(corpus, files)
        if not found(corpus):
            passed.add(name)
        for restored in (file, "corpus.json", "checksums.sha256"):
            (corpus / restored).write_bytes(files[restored])
    assert tried > 150
    unlisted = {name for name in passed if not any(name == one or name.startswith(f"{one}/") for one in BELIEVED)}
    assert unlisted == set()
