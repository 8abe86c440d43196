"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import EvidenceError

_BUFFER = 1 << 16


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Write to `NAME.tmp`, rename. On an error the old file stays as it was; where there is one that a loss of power
    could cost, the new bytes are on the disk before it goes."""
    temporary = f"{file}.tmp"
    try:
        stream = open(temporary, "w+b", _BUFFER)  # noqa: SIM115
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        stream = open(temporary, "w+b", _BUFFER)  # noqa: SIM115
    try:
        with stream:
            yield stream
            if os.path.lexists(file):
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(temporary, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
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
