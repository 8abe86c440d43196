"""What the text and the Markdown painter share: headings, lines of toned words, quoted content."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Tone(StrEnum):
    """How words are meant. A tone is never the only sign: the words and a mark say it too."""

    PLAIN = "plain"
    STRONG = "strong"
    DIM = "dim"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    NOTE = "note"
    NAME = "name"


Words = tuple[str, Tone]


@dataclass(slots=True)
class Head:
    level: int
    words: list[Words]


@dataclass(slots=True)
class Line:
    words: list[Words]
    depth: int = 0


@dataclass(slots=True)
class Quote:
    """Recorded content, which may be hostile: a painter sets it off so that it cannot pass for the layout."""

    text: str
    depth: int = 0
    language: str = ""


@dataclass(slots=True)
class Say:
    """The line form `Step N - AGENT: …`."""

    opening: str
    text: str


Block = Head | Line | Quote | Say


class Painter(Protocol):
    def paint(self, blocks: list[Block]) -> str:
        """Text that ends with a line feed, without any character that a terminal would obey."""
        ...
