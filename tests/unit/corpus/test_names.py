"""Names that may be used, and how the others are written down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.corpus.names import extension, safe, shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.json", "a/b.json"),
        ("./a//b", "a/b"),
        ("Über/ñ.json", "Über/ñ.json"),
        ("../a", None),
        ("a/../../b", None),
        ("/etc/passwd", None),
        ("C:/a", None),
        ("a\\b", None),
        ("a\x00b", None),
        ("a\nb", None),
        ("", None),
        (".", None),
        ("x" * 300, None),
        ("a/" * 600 + "b", None),
        ("a\udcffb", None),
    ],
)
def test_safe(name: str, expected: str | None) -> None:
    assert safe(name) == expected


@given(st.text(max_size=60))
def test_a_safe_name_stays_below_and_is_its_own_safe_name(name: str) -> None:
    found = safe(name)
    if found is not None:
        assert ".." not in found.split("/")
        assert not found.startswith("/")
        assert safe(found) == found
    shown(name).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/b.JSONL", "jsonl"), ("x.tar.zst", "tar.zst"), ("otel.jsonl.zst", "zst"), ("noext", "bin"), ("a.b!c", "bin")],
)
def test_extension(name: str, expected: str) -> None:
    assert extension(name) == expected
