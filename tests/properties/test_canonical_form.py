"""The canonical form is the standard library's, to the byte, for whatever value comes."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.canonical import JsonError, canonical_bytes, loads

ALPHABET = 'aZ0 "\\/\x00\x1f\x7f\x80\x85\xa0éüß\u2028\u2029\ufeff\ufffd\ud7ff\ue000\uffff中🦄\U0010ffff'


def stdlib(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def any_bits(rng: random.Random) -> float:
    """A finite float of any magnitude, every bit pattern as likely as any other."""
    while True:
        (value,) = struct.unpack("<d", rng.randbytes(8))
        if value == value and abs(value) != float("inf"):
            return float(value)


SCALARS: tuple[Callable[[random.Random], Any], ...] = (
    any_bits,
    lambda rng: rng.uniform(-10, 10) * 10.0 ** rng.randint(-12, 25),
    lambda rng: float(rng.choice((0.0, -0.0, 1.0, 1e15, 1e16, 1e17, 1e21, 1e22, 1e-4, 9.999e-5, 1e-5, 1e-9, 5e-324))),
    lambda rng: rng.randint(-(2**70), 2**70),
    lambda rng: rng.choice((0, -1, 2**53, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**63) - 1, 10**40)),
    lambda rng: "".join(rng.choices(ALPHABET, k=rng.randint(0, 8))),
    lambda rng: chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))),
    lambda rng: rng.choice((True, False, None, "null", "1e5", ":1e-05", ",0.00001", "[-0.00001]")),
)


def value(rng: random.Random, depth: int = 0) -> Any:
    pick = rng.random()
    if depth < 4 and pick < 0.25:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    if depth < 4 and pick < 0.5:
        return {SCALARS[rng.choice((5, 6))](rng): value(rng, depth + 1) for _ in range(rng.randint(0, 4))}
    return rng.choice(SCALARS)(rng)


@pytest.mark.parametrize("count", [50_000, pytest.param(1_000_000, marks=pytest.mark.bench)])
def test_equals_the_standard_library_on_very_many_generated_values(count: int) -> None:
    rng = random.Random(count)
    for number in range(count):
        item = value(rng)
        assert canonical_bytes(item) == stdlib(item), (number, item)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=500, deadline=None)
@given(JSON)
def test_equals_the_standard_library_and_reads_back(item: Any) -> None:
    data = canonical_bytes(item)
    assert data == stdlib(item)
    assert canonical_bytes(loads(data)) == data


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("around", [lambda x: x, lambda x: [x], lambda x: {"a": [None, {"b": (x,)}]}])
def test_a_number_that_is_not_finite_is_refused_and_never_null(number: float, around: Callable[[float], Any]) -> None:
    with pytest.raises(JsonError):
        canonical_bytes(around(number))


@pytest.mark.parametrize("number", [1e-5, -1e-5, 1e-9, 3.5e-7, 1e16])
def test_a_bare_number_is_guarded_as_one_inside_a_list_is(number: float) -> None:
    assert canonical_bytes(number) == json.dumps(number).encode()


def test_null_is_still_null() -> None:
    assert canonical_bytes({"b": None, "a": [None, 1.5]}) == b'{"a":[null,1.5],"b":null}'


def test_what_only_orjson_would_write_is_refused_as_the_standard_library_does() -> None:
    @dataclass
    class Point:
        x: int

    for alien in (Point(1), date(2026, 1, 2)):
        with pytest.raises(TypeError):
            canonical_bytes(alien)


def test_keys_that_are_no_strings_sort_and_spell_as_the_standard_library_does() -> None:
    assert canonical_bytes({10: 1, 9: 2}) == stdlib({10: 1, 9: 2}) == b'{"9":2,"10":1}'


@pytest.mark.parametrize("depth", [100, 254, 255, 400, 500])
def test_depth_beyond_the_fast_path_is_written_all_the_same(depth: int) -> None:
    item: Any = 1
    for _ in range(depth):
        item = [item]
    assert canonical_bytes(item) == stdlib(item)
