"""Nothing recorded can steer a terminal or pass unseen."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from otel2traj.canonical import loads_tolerant
from otel2traj.renderers.safe import inline, json_line, value_text, visible, wrap

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def test_escapes_and_bidi_are_spelled_out() -> None:
    assert (
        visible("\x1b[31mred\x07\x9b \u202eexe.gpj\u200b\ufeff")
        == "\\x1b[31mred\\x07\\x9b \\u202eexe.gpj\\u200b\\ufeff"
    )
    assert visible("a\r\nb\tc") == "a\\r\nb\tc"
    assert visible("\ud800 \U000e0041") == "\\ud800 \\U000e0041"


def test_words_of_all_scripts_stay() -> None:
    text = "naïve Ωmega 再試行 👩‍💻 हिन्दी עברית"
    assert visible(text) == text


@given(ANY_TEXT)
def test_no_control_survives(text: str) -> None:
    safe = inline(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in safe)
    assert "\n" not in safe
    safe.encode("utf-8")


def test_inline_cuts_with_a_sign() -> None:
    assert inline("abcdef", 4) == "abc…"
    assert inline("abcd", 4) == "abcd"
    assert inline("a\nb") == "a\\nb"


def test_values_keep_their_kind() -> None:
    assert value_text("0") == "0"
    assert value_text(0) == "0"
    assert value_text([]) == "[]"
    assert value_text(None) == "null"
    cut = value_text({"truncated": True, "size": 7, "sha256": "ab", "head": "He"})
    assert cut == "He\n[cut when stored: 7 bytes in all, sha256 ab]"


@given(ANY_TEXT)
def test_json_lines_keep_the_value_and_no_control(text: str) -> None:
    line = json_line({"t": text})
    assert loads_tolerant(line)[0] == {"t": text}
    assert not any(unicodedata.category(char) == "Cc" for char in line.decode("utf-8")[:-1])
    assert visible(line.decode("utf-8")) == line.decode("utf-8")


@given(ANY_TEXT, st.integers(8, 40))
def test_wrap_loses_only_spaces(text: str, width: int) -> None:
    line = inline(text)
    assert "".join(wrap(line, width)).replace(" ", "") == line.replace(" ", "")


def test_wrap_counts_wide_characters_twice() -> None:
    assert wrap("再試行再試行", 6) == ["再試行", "再試行"]
    assert wrap("one two three", 8) == ["one two", "three"]
