"""Where a data set lies: names to whole files."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from ..errors import RefusedError
from ..files import PREFIX, cannot_write, replacing

_LOCK: Final = "_lock"
_SCRATCH: Final = "_scratch"


class Place(Protocol):
    """Names are relative, with slashes. A file appears whole under its name or not at all."""

    def names(self, folder: str) -> list[str]:
        """Of every file below a folder, sorted."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def open(self, name: str) -> BinaryIO: ...

    def write(self, name: str, data: bytes) -> None: ...

    def put(self, name: str, file: Path) -> None:
        """Move a local file here."""
        ...

    def drop(self, name: str) -> None: ...

    def where(self, name: str) -> str:
        """Path or URL of a file, for other programs."""
        ...

    def allow(self, base: Any) -> None:
        """Let a DuckDB connection read here and nowhere else."""
        ...

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A local folder for files that are to be put here; gone afterwards."""
        ...

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else builds or compacts here meanwhile. Raises `RefusedError` where somebody does."""
        ...


class Folder:
    """A data set in a folder of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, folder: str) -> list[str]:
        found: list[str] = []
        for here, below, files in os.walk(self._root / folder):
            below.sort()
            base = Path(here)
            found += [(base / one).relative_to(self._root).as_posix() for one in files if not one.startswith(PREFIX)]
        return sorted(found)

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self, name: str) -> BinaryIO:
        return (self._root / name).open("rb")

    def write(self, name: str, data: bytes) -> None:
        with replacing(self._root / name) as out:
            out.write(data)

    def put(self, name: str, file: Path) -> None:
        target = self._root / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
            file.replace(target)
        except OSError as err:
            raise cannot_write(name, err) from err

    def drop(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def where(self, name: str) -> str:
        return str(self._root.absolute() / name)

    def allow(self, base: Any) -> None:
        base.execute("SET allowed_directories = [?]", [str(self._root.absolute())])
        base.execute("SET enable_external_access = false")
        base.execute("SET lock_configuration = true")

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        base = self._root / _SCRATCH
        try:
            base.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(dir=base))
        except OSError as err:
            raise cannot_write(self._root.name, err) from err
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as err:
            raise cannot_write(self._root.name, err) from err
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as err:
                raise RefusedError(
                    f"{self._root.name} is being written by another process", hint="wait until it ends"
                ) from err
            shutil.rmtree(self._root / _SCRATCH, ignore_errors=True)  # what a process that was killed left
            yield
            with contextlib.suppress(OSError):
                (self._root / _SCRATCH).rmdir()
        finally:
            os.close(descriptor)
