"""Compressed bodies to plain bytes, within a limit that holds while inflating.

isal is used for gzip and checksums where it is installed, the standard library elsewhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final

crc32: Callable[..., int] = zlib.crc32
_zlib: Any = zlib
try:
    from isal import isal_zlib as _isal

    crc32 = _isal.crc32
    _zlib = _isal
except ImportError:  # pragma: no cover - depends on what is installed
    pass

_GZIP: Final = 31
_ZLIB: Final = 15
_RAW: Final = -15
_ZSTD_WINDOW: Final = 1 << 27
_ZSTD_STEP: Final = 1 << 10
"""Input given at once: a block of 4 bytes can inflate to 128 KiB, so this bounds what one call can make."""


class InflateError(ValueError):
    """The body is not what its Content-Encoding says, or ends too early."""


class TooLarge(ValueError):
    """The inflated body is over the limit."""


def inflate(encoding: str, body: bytes, limit: int) -> bytes:
    """`body` without its encoding (`identity`, `gzip`, `deflate`, `zstd`), at most `limit` bytes.

    gzip bodies may have several members (RFC 1952); deflate is the zlib format, raw deflate is understood too.
    Raises `InflateError`, `TooLarge`, and `KeyError` for an encoding it does not know.
    """
    return INFLATERS[encoding](body, limit)


def _identity(body: bytes, limit: int) -> bytes:
    if len(body) > limit:
        raise TooLarge
    return body


def _gzip(body: bytes, limit: int) -> bytes:
    return _members(body, limit, _GZIP)


def _deflate(body: bytes, limit: int) -> bytes:
    looks_zlib = len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
    if looks_zlib:
        try:
            return _members(body, limit, _ZLIB)
        except InflateError:
            pass
    return _members(body, limit, _RAW)


def _members(body: bytes, limit: int, wbits: int) -> bytes:
    out: list[bytes] = []
    size = 0
    rest = body
    while rest:
        engine = _zlib.decompressobj(wbits)
        try:
            piece = engine.decompress(rest, limit - size + 1)
        except (zlib.error, _zlib.error) as err:
            raise InflateError(str(err)) from err
        size += len(piece)
        if size > limit:
            raise TooLarge
        out.append(piece)
        while not engine.eof:
            more = engine.unconsumed_tail
            if not more:
                raise InflateError("the compressed body ends too early")
            try:
                piece = engine.decompress(more, limit - size + 1)
            except (zlib.error, _zlib.error) as err:
                raise InflateError(str(err)) from err
            size += len(piece)
            if size > limit:
                raise TooLarge
            if not piece and engine.unconsumed_tail == more:
                raise InflateError("the compressed body ends too early")
            out.append(piece)
        rest = engine.unused_data.lstrip(b"\0") if wbits == _GZIP else engine.unused_data
        if rest and wbits != _GZIP:
            raise InflateError("bytes after the end of the compressed body")
    return out[0] if len(out) == 1 else b"".join(out)


def _zstd(body: bytes, limit: int) -> bytes:
    import zstandard

    out: list[bytes] = []
    size = 0
    rest = body
    while rest:
        engine = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        taken = 0
        try:
            while taken < len(rest) and not engine.eof:
                piece = engine.decompress(rest[taken : taken + _ZSTD_STEP])
                taken += _ZSTD_STEP
                size += len(piece)
                if size > limit:
                    raise TooLarge
                out.append(piece)
        except zstandard.ZstdError as err:
            raise InflateError(str(err)) from err
        if not engine.eof:
            raise InflateError("the compressed body ends too early")
        rest = engine.unused_data + rest[taken:]
    return b"".join(out)


INFLATERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "identity": _identity,
    "gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
ACCEPTED: Final = ", ".join(name for name in INFLATERS if name != "identity")
