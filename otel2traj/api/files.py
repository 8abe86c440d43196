"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import EvidenceError


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Write to `NAME.tmp`, flush to the disk, rename. On an error the old file stays as it was."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(file.name + ".tmp")
    try:
        with temporary.open("w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def whole(file: Path) -> Iterator[BinaryIO]:
    """As `replacing`, into a folder that is there. Raises `EvidenceError` where the file cannot be written."""
    try:
        if not file.parent.is_dir():
            raise FileNotFoundError(2, "No such file or directory")
        with replacing(file) as stream:
            yield stream
    except OSError as err:
        raise EvidenceError(f"cannot write {file.name}: {err.strerror}") from err
