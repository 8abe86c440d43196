"""The members of a zip archive that are evidence, one after another (APPNOTE 6.3.10), stored, deflated or in zstd.

https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

MAGIC: Final = b"PK\x03\x04"
_LOCAL: Final = 30
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_CHUNK: Final = 1 << 18

Inflate = Callable[[Iterator[bytes]], Iterator[bytes]]


def members(file: BinaryIO) -> list[zipfile.ZipInfo]:
    """The samples of an Inspect log, by name, each once; empty where the archive is none. Raises `ValueError` where
    the archive has no directory at its end."""
    try:
        with zipfile.ZipFile(file) as archive:
            found = {info.filename: info for info in archive.infolist()}  # of a name that was written again, the last
    except (zipfile.BadZipFile, LookupError, OverflowError, RuntimeError, struct.error) as err:
        raise ValueError(f"a zip archive that was cut or is broken: {err}") from err
    if not any(name == "header.json" or name.startswith("_journal/") for name in found):
        return []
    return [found[name] for name in sorted(found) if name.startswith("samples/") and name.endswith(".json")]


def inflated(file: BinaryIO, member: zipfile.ZipInfo, unzstd: Inflate) -> Iterator[bytes]:
    """The bytes of one member. Raises `ValueError` where it is not what the directory says."""
    if member.flag_bits & 1:
        raise ValueError("encrypted")
    engines: dict[int, Inflate] = {_STORED: iter, _DEFLATED: _inflate, _ZSTD: unzstd}
    engine = engines.get(member.compress_type)
    if engine is None:
        raise ValueError(f"compressed by method {member.compress_type}")
    check, size = 0, 0
    for chunk in engine(_stored(file, member)):
        check, size = zlib.crc32(chunk, check), size + len(chunk)
        yield chunk
    if check != member.CRC or size != member.file_size:
        raise ValueError("size or checksum differ from the directory's")


def _stored(file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    file.seek(member.header_offset)
    head = file.read(_LOCAL)
    if head[:4] != MAGIC:
        raise ValueError("no member where the directory says")
    lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    file.seek(member.header_offset + _LOCAL + lengths)
    left = member.compress_size
    while left > 0 and (chunk := file.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _inflate(chunks: Iterator[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(-15)
    try:
        for chunk in chunks:
            data = chunk
            while data:
                yield engine.decompress(data, _CHUNK)
                data = engine.unconsumed_tail
        yield engine.flush()
    except zlib.error as err:
        raise ValueError(str(err)) from err
