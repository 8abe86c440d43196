"""Ids as clients send them."""

from __future__ import annotations

import base64
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.capture.ids import id_from_bytes, id_from_text

from .requests import SPAN, TRACE

RAW = bytes.fromhex(TRACE)


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (RAW, None),
        (TRACE.encode(), "hex-ids"),
        (TRACE.upper().encode(), "hex-ids"),
        (base64.b64decode(TRACE), "hex-as-base64-ids"),
    ],
)
def test_bytes_of_every_known_mistake_give_the_id(raw: bytes, note: str | None) -> None:
    notes: Counter[str] = Counter()
    assert id_from_bytes(raw, 16, notes) == TRACE
    assert list(notes) == ([] if note is None else [note])


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (TRACE, None),
        (TRACE.upper(), None),
        ("0x" + TRACE, "0x-ids"),
        (base64.b64encode(RAW).decode(), "base64-ids"),
        (base64.b64encode(RAW).decode().rstrip("="), "base64-ids"),
        (base64.urlsafe_b64encode(RAW).decode(), "base64-ids"),
    ],
)
def test_text_of_every_known_mistake_gives_the_id(text: str, note: str | None) -> None:
    notes: Counter[str] = Counter()
    assert id_from_text(text, 16, notes) == TRACE
    assert list(notes) == ([] if note is None else [note])


@pytest.mark.parametrize("text", ["", "0" * 32, "abc", TRACE[:-1], TRACE + "0", "z" * 32, "ü" * 16, "=" * 24])
def test_other_text_is_no_trace_id(text: str) -> None:
    assert id_from_text(text, 16, Counter()) is None


@given(st.binary(min_size=8, max_size=8).filter(lambda raw: any(raw)))
def test_a_span_id_is_the_same_from_both(raw: bytes) -> None:
    notes: Counter[str] = Counter()
    assert id_from_bytes(raw, 8, notes) == id_from_text(raw.hex(), 8, notes) == raw.hex()
    assert not notes
    assert id_from_text(base64.b64encode(raw).decode(), 8, notes) == raw.hex()


@given(st.binary(max_size=40))
def test_any_bytes_are_an_id_or_none(raw: bytes) -> None:
    found = id_from_bytes(raw, 8, Counter())
    assert found is None or (len(found) == 16 and found != "0" * 16)


def test_zero_is_no_id() -> None:
    assert id_from_bytes(bytes(16), 16, Counter()) is None
    assert id_from_bytes(b"0" * 16, 8, Counter()) is None
    assert id_from_bytes(bytes.fromhex(SPAN), 8, Counter()) == SPAN
