"""Inflating: every form clients send, and a limit that holds while inflating."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.capture.inflate import InflateError, TooLarge, crc32, inflate

LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(6, zlib.DEFLATED, -15)
    return engine.compress(data) + engine.flush()


FORMS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("identity", bytes),
    ("gzip", gzip.compress),
    ("gzip", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("zstd", zstandard.compress),
    ("zstd", lambda data: zstandard.compress(data[:9]) + zstandard.compress(data[9:])),
    ("zstd", lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data)),
]


@pytest.mark.parametrize("form", range(len(FORMS)))
@given(data=st.binary(max_size=3000))
def test_every_form_comes_back(form: int, data: bytes) -> None:
    name, compress = FORMS[form]
    assert inflate(name, compress(data), LIMIT) == data


@pytest.mark.parametrize("form", range(1, len(FORMS)))
def test_the_limit_holds_while_inflating(form: int) -> None:
    name, compress = FORMS[form]
    bomb = compress(b"\0" * (80 << 20))
    tracemalloc.start()
    with pytest.raises(TooLarge):
        inflate(name, bomb, LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 << 20
    at_limit = compress(b"x" * LIMIT)
    assert len(inflate(name, at_limit, LIMIT)) == LIMIT


@pytest.mark.parametrize("form", range(1, len(FORMS)))
@pytest.mark.parametrize("cut", [1, 5, 9])
def test_a_body_cut_short_is_an_error(form: int, cut: int) -> None:
    name, compress = FORMS[form]
    with pytest.raises(InflateError):
        inflate(name, compress(b"some text that is long enough " * 10)[:-cut], LIMIT)


@given(st.sampled_from(["gzip", "deflate", "zstd"]), st.binary(min_size=1, max_size=300))
def test_any_bytes_are_data_or_an_error(name: str, data: bytes) -> None:
    with contextlib.suppress(InflateError, TooLarge):
        inflate(name, data, LIMIT)


def test_the_checksum_is_crc32_whatever_computes_it() -> None:
    assert crc32(b"123456789") == 0xCBF43926
    assert crc32(b"6789", crc32(b"12345")) == 0xCBF43926
