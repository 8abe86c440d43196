"""Bytes into the raw store, unchanged, each under its SHA-256; and an execution's files out of it again."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ..canonical import JsonObject
from ..errors import EvidenceError
from .archives import Archive
from .limits import Limits
from .names import extension, safe
from .tree import Tree, digest

_CHUNK: Final = 1 << 20
_MEMORY: Final = Path("/dev/shm")
_PREFIX: Final = "otel2traj-"


def put(tree: Tree, file: Path, name: str, purged: set[str]) -> tuple[str, int]:
    """Copy a file into the store, unless its bytes are there or were purged; returns their digest and how many.

    Raises `OSError` where it cannot be read, `EvidenceError` where it changes meanwhile.
    """
    sha256 = digest(file)
    stored = tree.object(sha256)
    if sha256 in purged or stored is not None:
        return sha256, (file if stored is None else stored).stat().st_size
    folder = tree.work / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    whole = hashlib.sha256()
    descriptor, part = tempfile.mkstemp(dir=folder)
    try:
        source = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb") as out, os.fdopen(source, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                whole.update(chunk)
                out.write(chunk)
        if whole.hexdigest() != sha256:
            raise EvidenceError(f"{name} changed while it was imported", hint="import it once its recording has ended")
        target = tree.raw / "objects" / sha256[:2] / f"{sha256}.{extension(name)}"
        target.parent.mkdir(parents=True, exist_ok=True)
        os.chmod(part, 0o644)
        os.replace(part, target)
    finally:
        Path(part).unlink(missing_ok=True)
    return sha256, target.stat().st_size


@lru_cache(maxsize=1)
def _opened(path: Path, kind: str, limits: Limits) -> Archive:
    """The archive last read in this process: its attempts come one after the other."""
    return Archive(path, kind, limits)


def _kind(archive: JsonObject) -> str:
    return str(archive["format"])


@contextmanager
def laid_out(tree: Tree, name: str, files: list[JsonObject], archive: JsonObject | None) -> Iterator[Path]:
    """A directory in which the files of one candidate lie under their paths, gone afterwards.

    `files` are `{"path", "sha256", "ordinal"}`. Stored objects are linked, or copied where they cannot be; members of
    an archive are put into memory, never on a disk, unless the system has no file system in memory with room for them.
    Raises `EvidenceError` where an object is missing (`corpus.raw-missing`) or is not what its name says
    (`corpus.raw-changed`).
    """
    size = sum(int(file.get("size") or 0) for file in files)
    with _room(tree, size, archive is not None) as folder:
        root = folder / (name.rpartition("/")[2] if name != "." else "root")
        root.mkdir()
        for file in files:
            path = str(file["path"])
            if safe(path) != path:
                raise EvidenceError(f"{path!r} is no plain path", code="corpus.damaged")
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if archive is None:
                _lay(tree, str(file["sha256"]), target)
            else:
                target.write_bytes(_member(tree, archive, file))
        yield root


@contextmanager
def _room(tree: Tree, size: int, memory: bool) -> Iterator[Path]:
    """A private directory: in memory for the members of an archive, else beside the store."""
    if memory and _in_memory(size):
        _sweep()
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=_MEMORY) as name:
            lock = os.open(Path(name) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                (Path(name) / "files").mkdir()
                yield Path(name) / "files"
            finally:
                os.close(lock)
        return
    place = tree.work / "tmp" if tree.work.is_dir() else None
    if place is not None:
        place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def _in_memory(size: int) -> bool:
    if not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK):
        return False
    room = os.statvfs(_MEMORY)
    return room.f_bavail * room.f_frsize > size * 2


@cache
def _sweep() -> None:
    """Once in a process: what processes that were killed left in memory. Whoever lives holds a lock."""
    for folder in _MEMORY.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _lay(tree: Tree, sha256: str, target: Path) -> None:
    stored = tree.object(sha256)
    if stored is None:
        raise EvidenceError(f"raw object {sha256} is not in the store", code="corpus.raw-missing")
    if stored.is_symlink():
        raise EvidenceError(f"raw object {sha256} is a link", code="corpus.raw-changed")
    try:
        os.link(stored, target, follow_symlinks=False)
    except OSError:
        shutil.copyfile(stored, target)
    if digest(target) != sha256:
        raise EvidenceError(f"raw object {sha256} has other bytes", code="corpus.raw-changed")


def _member(tree: Tree, archive: JsonObject, file: JsonObject) -> bytes:
    stored = tree.object(str(archive["object"]))
    if stored is None:
        raise EvidenceError(f"raw object {archive['object']} is not in the store", code="corpus.raw-missing")
    try:
        data = _opened(stored, _kind(archive), limits_of(archive)).read(int(file["ordinal"]))
    except (ValueError, OSError) as err:
        raise EvidenceError(f"{file['path']}: {err}", code="corpus.raw-changed") from err
    if hashlib.sha256(data).hexdigest() != file["sha256"]:
        raise EvidenceError(f"member {file['path']} has other bytes", code="corpus.raw-changed")
    return data


def limits_of(archive: JsonObject) -> Limits:
    """The limits an archive was read with: they are part of what is derived from it."""
    stated = archive["limits"]
    return Limits(int(stated["members"]), int(stated["member_bytes"]), int(stated["total_bytes"]))
