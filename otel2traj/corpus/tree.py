"""The directory of a corpus: where each file lies, whether it is sealed, and writes that are whole or not there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import Final

from ..canonical import JsonObject, dumps_pretty, loads
from ..errors import EvidenceError, RefusedError, UsageError
from ..prov.identity import shard
from ..prov.plain import canonical_plain
from ..prov.sem import PROFILES

PARTIAL: Final = ".partial"
WORK: Final = ".work"
"""What a working tree needs while it is written; a sealed corpus has none."""
SPECIFICATION_DIR: Final = "agentprov-prov-0.1"
SEM_PROFILES: Final = PROFILES.names()
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class Tree:
    """One corpus directory, `DIR.partial` (the working tree) or `DIR` (sealed)."""

    def __init__(self, root: Path, *, sealed: bool = False, raw: Path | None = None) -> None:
        self.root = root
        self.sealed = sealed
        self.raw = (raw if raw is not None else root) / "raw"
        self.corpus = root / "corpus.json"
        self.executions = root / "executions.jsonl"
        self.register = root / "register.jsonl"
        self.derivation = root / "derivation.json"
        self.checksums = root / "checksums.sha256"
        self.withheld = root / "WITHHELD.json"
        self.origins = self.raw / "origins.jsonl"
        self.members = self.raw / "members.jsonl"
        self.work = root / WORK

    @property
    def name(self) -> str:
        return self.root.name.removesuffix(PARTIAL)

    def path(self, relative: str) -> Path:
        return self.root / relative

    def artefact(self, kind: str, execution: str) -> str:
        """The relative path of a derived file: kind `aer`, `view`, `prov`, `validation` or `sem/<profile>`."""
        part = shard(execution)
        if kind == "aer":
            return f"aer/{part}/{execution}.aer.jsonl"
        if kind == "view":
            return f"views/trajectory-v1/{part}/{execution}.trajectory.json"
        if kind == "prov":
            return f"prov/{SPECIFICATION_DIR}/{part}/{execution}.prov.json"
        if kind == "validation":
            return f"validation/{part}/{execution}.json"
        return f"{kind}/{part}/{execution}.sem.jsonl"

    def object(self, sha256: str) -> Path | None:
        """The raw object of that digest, whatever its extension, or None."""
        folder = self.raw / "objects" / sha256[:2]
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(folder)):
                if name.partition(".")[0] == sha256:
                    return folder / name
        return None

    def files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Every entry of the tree that is no directory, by relative path in sorted order; `.work` is left out."""
        yield from _walk(self.root, "")


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in sorted(os.scandir(folder), key=lambda item: os.fsencode(item.name)):
        relative = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            if relative != WORK:
                yield from _walk(folder / entry.name, relative + "/")
        else:
            yield relative, entry


def base_of(path: Path) -> Path:
    """The name without `.partial`: what the corpus is called."""
    absolute = Path(os.path.abspath(path))
    return absolute.with_name(absolute.name.removesuffix(PARTIAL))


def is_sealed(base: Path) -> bool:
    return (base / "checksums.sha256").is_file() and (base / "corpus.json").is_file()


def find(path: Path) -> Tree:
    """The sealed corpus of that name, else its working tree. Raises `EvidenceError` where there is neither."""
    base = base_of(path)
    partial = base.with_name(base.name + PARTIAL)
    if is_sealed(base):
        return Tree(base, sealed=True)
    if (partial / "corpus.json").is_file():
        return Tree(partial)
    raise EvidenceError(
        f"there is no corpus {base.name}", hint="`otel2traj corpus import ROOT CORPUS` makes one", code="corpus.missing"
    )


def find_sealed(path: Path) -> Tree:
    """A sealed corpus. Raises `RefusedError` (`corpus.not-sealed`) for a working tree."""
    tree = find(path)
    if not tree.sealed:
        raise RefusedError(
            f"{tree.name} is not sealed", hint="`otel2traj corpus package` seals it", code="corpus.not-sealed"
        )
    return tree


def refuse_sealed(path: Path) -> None:
    base = base_of(path)
    if is_sealed(base):
        raise RefusedError(
            f"{base.name} is sealed and is never modified",
            hint="a correction is a new version: `derive --out DIR` or `recompute --out DIR`",
            code="corpus.sealed",
        )
    if base.exists() and (not base.is_dir() or any(base.iterdir())):
        raise UsageError(f"{base.name} exists and is no corpus", hint="name another directory")


@contextmanager
def writing(path: Path, *, create: bool = False) -> Iterator[Tree]:
    """The working tree, locked for one writer. Raises `RefusedError` for a sealed corpus (`corpus.sealed`) and for one
    that somebody else is writing to (`corpus.busy`)."""
    refuse_sealed(path)
    base = base_of(path)
    partial = base.with_name(base.name + PARTIAL)
    if not create and not (partial / "corpus.json").is_file():
        find(path)
    if partial.is_symlink() or (partial.exists() and not partial.is_dir()):
        raise UsageError(f"{partial.name} is no directory", hint="name another corpus")
    tree = Tree(partial)
    tree.work.mkdir(parents=True, exist_ok=True)
    lock = os.open(tree.work / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            raise RefusedError(
                f"another process is writing to {tree.name}", hint="wait until it ends", code="corpus.busy"
            ) from err
        shutil.rmtree(tree.work / "tmp", ignore_errors=True)  # what a killed process left behind
        yield tree
    finally:
        os.close(lock)


@contextmanager
def new_version(out: Path, source: Tree) -> Iterator[Tree]:
    """A fresh working tree with the raw store of another corpus. Objects are linked where the file system can."""
    refuse_sealed(out)
    base = base_of(out)
    if base.with_name(base.name + PARTIAL).exists():
        raise UsageError(f"{base.name}{PARTIAL} exists", hint="name a new directory, or remove it")
    with writing(out, create=True) as tree:
        for folder, names, files in os.walk(source.raw):
            names.sort()
            relative = Path(folder).relative_to(source.raw)
            (tree.raw / relative).mkdir(parents=True, exist_ok=True)
            for name in sorted(files):
                _link(Path(folder) / name, tree.raw / relative / name, link=relative.parts[:1] == ("objects",))
        if source.withheld.is_file():
            shutil.copyfile(source.withheld, tree.withheld)
        yield tree


def _link(source: Path, target: Path, *, link: bool) -> None:
    if source.is_symlink() or not source.is_file():
        raise EvidenceError(f"{source.name} is no regular file", code="corpus.damaged")
    if link:
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copyfile(source, target)


class Draft:
    """A file in the making. `commit` gives it its place; one that is never committed is gone."""

    def __init__(self, tree: Tree, stream: BufferedRandom, name: Path) -> None:
        self._tree, self._name = tree, name
        self.stream = stream

    def commit(self, relative: str) -> JsonObject:
        """Rename to its place, so that a reader sees the old file or the new one; returns path, digest and size."""
        self.stream.seek(0)
        sha256 = hashlib.file_digest(self.stream, "sha256").hexdigest()
        size = self.stream.tell()
        os.chmod(self._name, 0o644)
        target = self._tree.path(relative)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.stream.flush()
        os.replace(self._name, target)
        return {"path": relative, "sha256": sha256, "bytes": size}


@contextmanager
def drafting(tree: Tree) -> Iterator[Draft]:
    """A file in the working area that has no name yet."""
    folder = tree.work / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            yield Draft(tree, stream, Path(name))
    finally:
        Path(name).unlink(missing_ok=True)


def write(tree: Tree, relative: str, data: bytes) -> JsonObject:
    with drafting(tree) as draft:
        draft.stream.write(data)
        return draft.commit(relative)


def write_json(tree: Tree, relative: str, value: JsonObject) -> JsonObject:
    return write(tree, relative, dumps_pretty(value) + b"\n")


def write_rows(tree: Tree, relative: str, rows: Iterable[JsonObject]) -> None:
    with drafting(tree) as draft:
        for row in rows:
            draft.stream.write(canonical_plain(row) + b"\n")
        draft.commit(relative)


def read_json(path: Path) -> JsonObject:
    """A JSON object of the corpus. Raises `EvidenceError` (`corpus.damaged`)."""
    try:
        value = loads(path.read_bytes())
    except (OSError, ValueError) as err:
        raise EvidenceError(f"cannot read {path.name}: {err}", code="corpus.damaged") from err
    if not isinstance(value, dict):
        raise EvidenceError(f"{path.name} is not a JSON object", code="corpus.damaged")
    return value


def read_rows(path: Path) -> list[JsonObject]:
    """The rows of an index, or none where there is no such file. Raises `EvidenceError` (`corpus.damaged`)."""
    rows: list[JsonObject] = []
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as err:
        raise EvidenceError(f"cannot read {path.name}: {err.strerror}", code="corpus.damaged") from err
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            row = loads(line)
        except ValueError as err:
            raise EvidenceError(f"{path.name}:{number} is not JSON: {err}", code="corpus.damaged") from err
        if not isinstance(row, dict):
            raise EvidenceError(f"{path.name}:{number} is not a JSON object", code="corpus.damaged")
        rows.append(row)
    return rows


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex. Never through a link. Raises `OSError`."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_digest(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None
