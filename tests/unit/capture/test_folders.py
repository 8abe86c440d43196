"""Folder names of attempts: safe, and never shared."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.capture.folders import folder_name


@pytest.mark.parametrize("name", ["task-1", "a.b_c", "0af7651916cd43dd8448eb211c80319c", "Run-7"])
def test_a_safe_id_is_its_own_name(name: str) -> None:
    assert folder_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", ".hidden", "x.", "NUL", "con.txt", "a~b", " a", "é", "x" * 500],
)
def test_an_unsafe_id_gets_a_marked_name(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*~[0-9a-f]{16}", folder_name(name))


@given(st.text(), st.text())
def test_two_ids_never_share_a_name(one: str, other: str) -> None:
    assert (folder_name(one) == folder_name(other)) == (one == other)


@given(st.text(min_size=1))
def test_no_name_leaves_its_parent(text: str) -> None:
    name = folder_name(text)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,119}", name)
