"""Blocks into plain or coloured text for a terminal."""

from __future__ import annotations

from typing import BinaryIO, Final

from ..model.trajectory import StepSink
from .base import RenderOptions
from .blocks import Block, Head, Line, Quote, Say, Tone, Words
from .document import Document
from .safe import inline, trimmed, visible, wrap

_SGR: Final = {
    Tone.STRONG: "1",
    Tone.DIM: "2",
    Tone.GOOD: "32",
    Tone.BAD: "1;31",
    Tone.WARN: "33",
    Tone.NOTE: "35",
    Tone.NAME: "36",
}
_INDENT: Final = "  "
_BAR: Final = "│ "


class TextPainter:
    """Content stands behind a bar, one on every line, so that it cannot pass for a heading of this program."""

    def __init__(self, *, colour: bool, width: int | None) -> None:
        self._colour, self._width = colour, width

    def paint(self, blocks: list[Block]) -> str:
        out: list[str] = []
        for block in blocks:
            if isinstance(block, Head):
                out += [self._heading(block)] if block.level == 1 else ["", self._heading(block)]
            elif isinstance(block, Line):
                out.append(_INDENT * block.depth + self._words(block.words))
            elif isinstance(block, Quote):
                out += self._quote(block)
            else:
                out += self._say(block)
        return "\n".join(out) + "\n"

    def _tone(self, text: str, tone: Tone) -> str:
        code = _SGR.get(tone)
        return text if not self._colour or code is None or not text else f"\x1b[{code}m{text}\x1b[0m"

    def _words(self, words: list[Words]) -> str:
        return "".join(self._tone(inline(text), tone) for text, tone in words)

    def _heading(self, head: Head) -> str:
        line = self._words(head.words)
        if head.level == 1:
            return line
        rule = "──" if head.level == 3 else "=="
        return f"{self._tone(rule, Tone.DIM)} {line} {self._tone(rule, Tone.DIM)}"

    def _lines(self, text: str, taken: int) -> list[str]:
        lines = visible(text).split("\n")
        if self._width is None:
            return lines
        room = max(self._width - taken, 20)
        return [piece for line in lines for piece in wrap(line, room)]

    def _quote(self, quote: Quote) -> list[str]:
        indent = _INDENT * quote.depth
        bar = self._tone(_BAR, Tone.DIM)
        lines = self._lines(trimmed(quote.text), len(indent) + len(_BAR))
        if quote.language == "diff":
            return [(indent + bar + self._tone(line, _diff_tone(line))).rstrip(" ") for line in lines]
        return [(indent + bar + line).rstrip(" ") for line in lines]

    def _say(self, say: Say) -> list[str]:
        first, *rest = self._lines(say.text, 0)
        return [self._tone(inline(say.opening), Tone.STRONG) + first, *(_INDENT * 2 + line for line in rest)]


def _diff_tone(line: str) -> Tone:
    if line.startswith(("+++", "---", "@@")):
        return Tone.STRONG
    return Tone.GOOD if line.startswith("+") else Tone.BAD if line.startswith("-") else Tone.PLAIN


class Text:
    name = "text"

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink:
        width = options.width if options.wrap else None
        return Document(out, options, TextPainter(colour=options.colour, width=width))
