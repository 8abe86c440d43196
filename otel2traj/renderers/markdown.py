"""Blocks into Markdown (CommonMark), in which no recorded word is markup."""

from __future__ import annotations

import re
from typing import BinaryIO, Final

from ..model.trajectory import StepSink
from .base import RenderOptions
from .blocks import Block, Head, Line, Quote, Say, Tone, Words
from .document import Document
from .safe import inline, trimmed, visible

_MARKUP: Final = re.compile(
    r"[\\`*\[\]<>|~&]"  # markup and HTML wherever it stands
    r"|(?<![^\W_])_|_(?![^\W_])"  # an underscore that is not inside a word
    r"|:(?=//)|@(?=\w)|(?<=www)\."  # what readers turn into links by themselves
    r"|\A(?:[-+#]|[0-9]+[.)])(?=\s|\Z)"  # a list or a heading, at the beginning
)
_TICKS: Final = re.compile("`+")


def escape(text: str) -> str:
    """`text` as literal words: markup, HTML and automatic links are switched off."""
    return _MARKUP.sub(lambda m: f"{m[0][:-1]}\\{m[0][-1]}", inline(text))


def fenced(text: str, language: str = "") -> list[str]:
    """A code block whose fence is longer than any run of backticks in `text`."""
    safe = visible(text)
    fence = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(safe))])
    return [fence + language, *safe.split("\n"), fence]


class MarkdownPainter:
    def paint(self, blocks: list[Block]) -> str:
        out: list[str] = []
        for block in blocks:
            if isinstance(block, Head):
                heading = f"{'#' * block.level} {_words(block.words, heading=True)}"
                out += [heading, ""] if block.level == 1 else ["", heading, ""]
            elif isinstance(block, Line):
                line = _words(block.words)
                out.append(f"{'  ' * (block.depth - 1)}- {line}" if block.depth else f"{line}\n")
            elif isinstance(block, Quote):
                indent = "  " * max(block.depth - 1, 0)
                out += [
                    indent + line if line else "" for line in ["", *fenced(trimmed(block.text), block.language), ""]
                ]
            else:
                out += _say(block)
        return "\n".join(out) + "\n"


def _words(words: list[Words], *, heading: bool = False) -> str:
    out = []
    for text, tone in words:
        safe = escape(text)
        core = safe.strip(" ")
        if tone in (Tone.STRONG, Tone.BAD) and core and not heading:
            start = safe.index(core)
            safe = f"{safe[:start]}**{core}**{safe[start + len(core) :]}"
        out.append(safe)
    return "".join(out).strip(" ")


def _say(say: Say) -> list[str]:
    return [f"**{escape(say.opening.strip())}**", "", *fenced(say.text), ""]


class Markdown:
    name = "markdown"

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink:
        return Document(out, options, MarkdownPainter())
