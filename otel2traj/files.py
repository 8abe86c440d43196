"""Files that are whole or not there, whoever else writes beside them."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, cast

from .errors import WriteError

PREFIX: Final = ".otel2traj-"
"""How the name of every temporary file begins; none of them is evidence."""

_BUFFER: Final = 1 << 16
_STREAMS: Final = ("/dev/", "/proc/self/fd/")
_DESCRIPTOR: Final = re.compile(r"/dev/(stdout|stderr)|(?:/dev|/proc/self)/fd/([0-9]{1,6})")

T = TypeVar("T")


class _Out:
    """A binary file whose own errors are told as `WriteError`, apart from those of whoever writes into it."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> object:
        found = getattr(self._stream, name)
        return partial(self._told, found) if callable(found) else found

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def write(self, data: bytes) -> int:
        return self._told(self._stream.write, data)

    def _told(self, do: Callable[..., T], *given: object) -> T:
        """Every call may write what a buffer holds: a seek does."""
        try:
            return do(*given)
        except OSError as err:
            raise cannot_write(self._name, err) from err


def cannot_write(name: str, err: OSError) -> WriteError:
    return WriteError(f"cannot write {name}: {err.strerror or err}", hint="what stood there before is unchanged")


def beside(file: Path) -> tuple[Path, BinaryIO]:
    """A new file in the folder of another, under a name that nobody else has or could prepare, open to write and
    read. Raises `OSError`."""
    while True:
        path = file.with_name(f"{PREFIX}{secrets.token_hex(8)}.tmp")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            continue
        return path, os.fdopen(descriptor, "w+b", _BUFFER)


def is_stream(file: Path) -> bool:
    """Whether writing to a path means writing through: a pipe, a device, or an open descriptor by its name."""
    if str(file).startswith(_STREAMS):
        return True
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Write to a new file beside `file`, rename. Until then, and on any error, what stood there stands; where a loss of
    power could cost it, the new bytes are on the disk before it goes. A pipe or device is written through once all of
    it is there. Raises `WriteError`."""
    if is_stream(file):
        yield from _through(file)
        return
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary, stream = beside(file)
    except (OSError, ValueError) as err:
        raise cannot_write(file.name, err if isinstance(err, OSError) else OSError(0, "no file name")) from err
    try:
        try:
            yield cast(BinaryIO, _Out(stream, file.name))
            try:
                stream.flush()
                if os.path.lexists(file):
                    _keep_mode(file, stream)
                    os.fsync(stream.fileno())
                temporary.replace(file)
            except OSError as err:
                raise cannot_write(file.name, err) from err
        finally:
            with suppress(OSError):  # a full disk was told by the write: closing tells it once more
                stream.close()
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _keep_mode(file: Path, stream: BinaryIO) -> None:
    before = os.lstat(file).st_mode
    if stat.S_ISREG(before):
        os.fchmod(stream.fileno(), stat.S_IMODE(before))


def _through(file: Path) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as held:
        yield cast(BinaryIO, _Out(cast(BinaryIO, held), str(file)))
        held.seek(0)
        try:
            with os.fdopen(_opened(file), "wb") as out:
                shutil.copyfileobj(held, out)
        except BrokenPipeError:
            raise
        except OSError as err:
            raise cannot_write(str(file), err) from err


def _opened(file: Path) -> int:
    """A stream to write to. A descriptor of this process is taken as it is, not opened anew by its name, so that one
    that can only be read, or is a socket, stays that. Raises `OSError`."""
    named = _DESCRIPTOR.fullmatch(str(file))
    if named is None:
        return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    return os.dup({"stdout": 1, "stderr": 2}.get(named[1]) or int(named[2]))


@contextmanager
def whole(file: Path) -> Iterator[BinaryIO]:
    """As `replacing`, into a folder that is there. Raises `WriteError`."""
    if not file.parent.is_dir():
        raise cannot_write(file.name, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    with replacing(file) as stream:
        yield stream
