"""A tar or zip file into its members, in memory and within limits; nothing of it is written anywhere.

Forms are told by content: zip, tar, and tar inside gzip or zstd. Whatever could hurt (a name that leaves its
directory, a link, a device, a bomb) is a row with a reason and is never opened.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import zstandard

from ..canonical import JsonObject
from .limits import Limits
from .names import safe, shown

_CHUNK: Final = 1 << 18
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_READ_COMPRESSIONS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE: Final = (
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    zstandard.ZstdError,
    zipfile.BadZipFile,
    tarfile.TarError,
    NotImplementedError,
    RuntimeError,
)


@dataclass(slots=True)
class Member:
    """One entry of an archive, by its ordinal. `reason` is None for one that may be read."""

    ordinal: int
    path: str
    size: int | None
    sha256: str | None
    reason: str | None

    def to_json(self, archive: str) -> JsonObject:
        return {
            "archive": archive,
            "ordinal": self.ordinal,
            "path": self.path,
            "size": self.size,
            "sha256": self.sha256,
            "status": "accepted" if self.reason is None else "refused",
            "reason": self.reason,
            "candidate": None,
            "kind": None,
        }


def archive_kind(path: Path) -> str | None:
    """`zip`, `tar`, `tar+gzip` or `tar+zstd` by the first bytes of a file, else None. Raises `OSError`."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
        head = stream.read(512)
        if head.startswith(_ZIP):
            return "zip"
        if _is_tar(head):
            return "tar"
        for magic, name in ((_GZIP, "gzip"), (_ZSTD, "zstd")):
            if head.startswith(magic):
                stream.seek(0)
                try:
                    inner = b""
                    for chunk in _inflate(stream, name):
                        inner += chunk
                        if len(inner) >= 512:
                            break
                except _DAMAGE:
                    inner = b""
                return f"tar+{name}" if _is_tar(inner[:512]) else None
    return None


def is_archive(head: bytes) -> bool:
    return head.startswith(_ZIP) or _is_tar(head)


def _is_tar(head: bytes) -> bool:
    return len(head) == 512 and head[257:262] == b"ustar"


def _inflate(stream: BinaryIO, name: str) -> Iterator[bytes]:
    if name == "zstd":
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            stream, read_across_frames=True, closefd=False
        ) as reader:
            while chunk := reader.read(_CHUNK):
                yield chunk
        return
    inflater = zlib.decompressobj(31)
    while data := stream.read(1 << 14):
        while data:
            yield inflater.decompress(data, _CHUNK)
            data = inflater.unconsumed_tail
            if inflater.eof:
                data, inflater = inflater.unused_data, zlib.decompressobj(31)
                if not data.startswith(_GZIP):
                    data = b""


class Archive:
    """An opened archive. `scan` tells every member; `read` gives the bytes of one that was accepted."""

    def __init__(self, path: Path, kind: str, limits: Limits) -> None:
        self._limits = limits
        self.cut = False
        self._raw: BinaryIO = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
        self.damage: str | None = None
        self._zip: zipfile.ZipFile | None = None
        self._tar: tarfile.TarFile | None = None
        self._infos: list[tarfile.TarInfo] = []
        try:
            if kind == "zip":
                self._zip = zipfile.ZipFile(self._raw)
            else:
                stream = self._raw if kind == "tar" else self._in_memory(kind.partition("+")[2])
                self._tar = tarfile.open(fileobj=stream, mode="r:", errorlevel=1)  # noqa: SIM115
        except _DAMAGE as err:
            self.damage = _said(err)

    def close(self) -> None:
        for one in (self._zip, self._tar, self._raw):
            if one is not None:
                one.close()

    def _in_memory(self, name: str) -> BinaryIO:
        """A compressed tar inflated once, to memory, up to the limit and no further."""
        memory = _memory_file()
        written = 0
        try:
            for chunk in _inflate(self._raw, name):
                written += len(chunk)
                if written > self._limits.total_bytes:
                    self.cut = True
                    break
                memory.write(chunk)
        except _DAMAGE as err:
            self.damage = _said(err)
        memory.seek(0)
        return memory

    def scan(self) -> list[Member]:
        """Every file in the archive's order; accepted ones with size and digest. Directories are names of no file."""
        out: list[Member] = []
        seen: set[str] = set()
        total = 0
        entries = self._zip_entries() if self._zip is not None else self._tar_entries()
        for ordinal, (name, reason, open_member) in enumerate(entries):
            if ordinal >= self._limits.members:
                out.append(Member(ordinal, "", None, None, "too_many_members"))
                break
            if reason == "directory":
                continue
            path = safe(name)
            if path is None:
                out.append(Member(ordinal, shown(name), None, None, "unsafe_name"))
                continue
            if reason is None and path in seen:
                reason = "duplicate_name"
            if reason is not None or open_member is None:
                out.append(Member(ordinal, path, None, None, reason or "damaged_member"))
                continue
            member, inflated = self._digest(ordinal, path, open_member, self._limits.total_bytes - total)
            total += inflated
            out.append(member)
            if member.reason == "archive_too_large":
                break
            seen.add(path)
        self._conflicts(out, seen)
        if self.cut and not any(member.reason == "archive_too_large" for member in out):
            out.append(Member(out[-1].ordinal + 1 if out else 0, "", None, None, "archive_too_large"))
        return out

    def _conflicts(self, out: list[Member], seen: set[str]) -> None:
        folders = {path[:at] for path in seen for at, char in enumerate(path) if char == "/"}
        for member in out:
            if member.reason is None and member.path in folders:
                member.reason = "name_conflict"

    def _digest(self, ordinal: int, path: str, open_member: Callable[[], BinaryIO], left: int) -> tuple[Member, int]:
        """A member, and how much was inflated to know it: what is refused counts against the archive's limit too."""
        whole = hashlib.sha256()
        size = 0
        head = b""
        try:
            with open_member() as stream:
                while chunk := stream.read(_CHUNK):
                    head = head if len(head) >= 512 else (head + chunk)[:512]
                    size += len(chunk)
                    if size > left:
                        return Member(ordinal, path, None, None, "archive_too_large"), size
                    if size > self._limits.member_bytes:
                        return Member(ordinal, path, None, None, "too_large"), size
                    whole.update(chunk)
        except _DAMAGE:
            return Member(ordinal, path, None, None, "damaged_member"), size
        reason = "nested_archive" if is_archive(head) else None
        return Member(ordinal, path, size, whole.hexdigest(), reason), size

    def read(self, ordinal: int) -> bytes:
        """The bytes of a member, never more than the limit. Raises `ValueError` for one that is not there."""
        try:
            if self._zip is not None:
                stream: BinaryIO = cast(BinaryIO, self._zip.open(self._zip.infolist()[ordinal]))
            else:
                if not self._infos:
                    self._infos = [info for info, _ in self._infos_safely()]
                stream = self._open_tar(self._infos[ordinal])
            with stream:
                return stream.read(self._limits.member_bytes + 1)
        except (*_DAMAGE, IndexError) as err:
            raise ValueError(f"member {ordinal}: {_said(err)}") from err

    def _zip_entries(self) -> Iterator[tuple[str, str | None, Callable[[], BinaryIO] | None]]:
        assert self._zip is not None
        for info in self._zip.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode) if info.create_system == 3 else 0
            name = info.orig_filename if "\x00" in info.orig_filename else info.filename
            if info.is_dir() or kind == stat.S_IFDIR:
                yield name, "directory", None
            elif kind == stat.S_IFLNK:
                yield name, "symbolic_link", None
            elif kind not in (0, stat.S_IFREG):
                yield name, "special_file", None
            elif info.flag_bits & 1:
                yield name, "encrypted", None
            elif info.compress_type not in _READ_COMPRESSIONS:
                yield name, "unsupported_compression", None
            else:
                yield name, None, self._zip_opener(self._zip, info)

    @staticmethod
    def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
        return lambda: cast(BinaryIO, archive.open(info))

    def _infos_safely(self) -> Iterator[tuple[tarfile.TarInfo, None]]:
        """Entries of a tar up to its end or its damage. A cut header ends the list like an end mark would."""
        while self._tar is not None:
            try:
                info = self._tar.next()
            except _DAMAGE as err:
                self.damage = _said(err)
                return
            if info is None:
                return
            yield info, None

    def _tar_entries(self) -> Iterator[tuple[str, str | None, Callable[[], BinaryIO] | None]]:
        for info, _ in self._infos_safely():
            self._infos.append(info)
            if info.isdir():
                yield info.name, "directory", None
            elif info.issym() or info.islnk():
                yield info.name, "symbolic_link", None
            elif not info.isreg() or info.issparse():
                yield info.name, "special_file", None
            else:
                yield info.name, None, self._tar_opener(info)

    def _tar_opener(self, info: tarfile.TarInfo) -> Callable[[], BinaryIO]:
        return lambda: self._open_tar(info)

    def _open_tar(self, info: tarfile.TarInfo) -> BinaryIO:
        assert self._tar is not None
        stream = self._tar.extractfile(info)
        return cast(BinaryIO, stream if stream is not None else io.BytesIO())


def _memory_file() -> BinaryIO:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("archive"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def _said(err: BaseException) -> str:
    return f"{type(err).__name__}: {err}"[:200]
