"""Where attempts are found: their names, what the file system says of them, and their files on this machine."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from ..api.runs import walk_attempts
from ..errors import EvidenceError
from ..files import PREFIX

_OWN_OUTPUT: Final = re.compile(r"trajectory.*\.json(\.tmp)?")
_BLOCK: Final = 1 << 20
ITSELF: Final = "."
"""The name of a tree that is one attempt, one folder of traces or one file."""


class Tree(Protocol):
    """A tree of attempts. Can be sent to another process."""

    @property
    def location(self) -> str:
        """Path or URL, whole."""
        ...

    @property
    def name(self) -> str:
        """Its last part."""
        ...

    def attempts(self) -> Iterator[tuple[str, str]]:
        """(name, token) of every attempt, sorted by folder. A token changes whenever a file may have changed."""
        ...

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        """The attempt on this machine, while the context lasts."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTree:
    """A folder of this machine, or one file."""

    root: Path

    @property
    def location(self) -> str:
        return str(self.root.absolute())

    @property
    def name(self) -> str:
        return self.root.absolute().name or ITSELF

    def attempts(self) -> Iterator[tuple[str, str]]:
        if not self.root.exists():
            raise EvidenceError(f"there is no {self.root}", hint="give a folder of attempts")
        found = False
        for path in walk_attempts(self.root):
            found = True
            yield path.relative_to(self.root).as_posix(), token(path)
        if not found:
            yield ITSELF, token(self.root)

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        yield self.root if attempt == ITSELF else self.root / attempt


def _files(path: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    """Every file of an attempt but what this program writes into one, sorted by name; no link is followed."""
    if not path.is_dir():
        yield path.name, path, path.lstat()
        return
    for folder, names, files in os.walk(path):
        names.sort()
        for name in sorted([*files, *(one for one in names if os.path.islink(os.path.join(folder, one)))]):
            if _OWN_OUTPUT.fullmatch(name) or name.startswith(PREFIX):
                continue
            file = Path(folder, name)
            yield file.relative_to(path).as_posix(), file, file.lstat()


def token(path: Path) -> str:
    """A digest over name, size, times and inode of every file: equal only where nothing was written since."""
    digest = hashlib.sha256()
    for name, _, told in _files(path):
        facts = f"{name}\0{told.st_mode}\0{told.st_size}\0{told.st_mtime_ns}\0{told.st_ctime_ns}\0{told.st_ino}\n"
        digest.update(facts.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def evidence_of(path: Path) -> tuple[str, int]:
    """SHA-256 over the names and contents of every file of an attempt, and the number of their bytes."""
    whole = hashlib.sha256()
    size = 0
    for name, file, told in _files(path):
        if stat.S_ISLNK(told.st_mode):
            inner = "link " + os.readlink(file)
        elif stat.S_ISREG(told.st_mode):
            digest = hashlib.sha256()
            with file.open("rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
                    size += len(block)
            inner = digest.hexdigest()
        else:
            inner = "special"
        whole.update(f"{name}\0{inner}\n".encode("utf-8", "surrogatepass"))
    return whole.hexdigest(), size
