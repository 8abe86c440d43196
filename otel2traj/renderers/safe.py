"""Recorded text into text that a terminal, a file or a page can print without obeying it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..canonical import JsonValue, dumps, dumps_pretty
from ..messages import fold

_ALWAYS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # unseen, or turning the text
    "\ud800-\udfff"  # halves of a pair, which have no UTF-8
    "\U000e0000-\U000e0fff"  # tags and selectors: letters nobody sees
)
_BLOCK: Final = re.compile(f"[{_ALWAYS}]")
_INLINE: Final = re.compile(f"[\t\n{_ALWAYS}]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

ONE_LINE: Final = 96
"""A JSON value up to this many characters is shown on one line."""


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    """`text` with every control, bidirectional and unseen character spelled out; tabs and line feeds stay."""
    return _BLOCK.sub(_escape, text)


def inline(text: str, limit: int | None = None) -> str:
    """`text` on one line: as `visible`, with tabs and line feeds spelled out too; cut with `…` beyond `limit`."""
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + "…"
    return _INLINE.sub(_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def json_line(value: JsonValue) -> bytes:
    """Compact JSON and a line feed, with the same value for a parser and nothing that a terminal would obey."""
    return _BLOCK.sub(_json_escape, dumps(value).decode("utf-8")).encode("utf-8") + b"\n"


def trimmed(text: str) -> str:
    """`text` without its last line feed, which would be shown as an empty line."""
    return text.removesuffix("\n")


def is_cut(value: JsonValue) -> bool:
    """Whether `value` stands for a string that the builder cut: `{"truncated", "size", "sha256", "head"}`."""
    return isinstance(value, dict) and value.get("truncated") is True and "sha256" in value and "head" in value


def value_text(value: JsonValue) -> str:
    """A recorded value for people: text as it is, JSON compact when short and indented when long, base64 as a line."""
    value = fold(value)
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and is_cut(value):
        return f"{value['head']}\n[cut when stored: {value.get('size')} bytes in all, sha256 {value.get('sha256')}]"
    compact = dumps(value).decode("utf-8")
    return compact if len(compact) <= ONE_LINE else dumps_pretty(value).decode("utf-8")


def columns(char: str) -> int:
    """How many terminal columns a visible character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(line: str, width: int) -> list[str]:
    """`line` in pieces of at most `width` columns, broken at spaces where there are any."""
    if len(line) <= width // 2 or (line.isascii() and len(line) <= width):
        return [line]
    pieces: list[str] = []
    start = taken = 0
    space = -1
    for at, char in enumerate(line):
        taken += columns(char)
        if char == " ":
            space = at
        if taken > width:
            cut = space + 1 if space > start else at
            pieces.append(line[start:cut].rstrip(" "))
            start, space = cut, -1
            taken = sum(columns(c) for c in line[start : at + 1])
    pieces.append(line[start:])
    return pieces
