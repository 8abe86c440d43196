"""Words in a run into the lines of `show` that hold them, each with its step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..canonical import JsonObject
from ..model.trajectory import Header, Step, Summary
from .base import Mode
from .blocks import Block
from .glance import Glance
from .layout import StepLayout
from .overview import file_changes, opening
from .text import TextPainter

_AROUND: Final = 120
"""Characters of a line that are kept before and after the words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that holds the words. `step_id` is None for the head of the run and for its file changes."""

    step_id: int | None
    agent: str | None
    line: str

    def to_json(self) -> JsonObject:
        return {"step": self.step_id, "agent": self.agent, "line": self.line}


class Search:
    """A `StepSink` that keeps at most `limit` hits and counts the others. Upper and lower case are alike; a message
    that later requests repeat is found in the step that shows it first."""

    def __init__(self, words: str, limit: int) -> None:
        self._words, self._limit = words.casefold(), limit
        self._layout = StepLayout(fold=True, inference=True)
        self._painter = TextPainter(colour=False, width=None)
        self._glance, self._header = Glance(), Header()
        self.hits: list[Hit] = []
        self.count = 0

    def begin(self, header: Header) -> None:
        self._header = header
        self._glance.begin(header)

    def step(self, step: Step) -> None:
        self._glance.add(step)
        self._look(self._layout.blocks(step, Mode.FULL), step.step_id, step.agent_name)

    def end(self, summary: Summary) -> None:
        self._glance.end(summary)
        blocks = opening(self._header, self._glance, summary)
        for item in summary.inputs:
            blocks += file_changes(item, diffs=True)
        self._look(blocks, None, None)

    def _look(self, blocks: list[Block], step_id: int | None, agent: str | None) -> None:
        for line in map(_bare, self._painter.paint(blocks).split("\n")):
            at = line.casefold().find(self._words)
            if at < 0:
                continue
            self.count += 1
            if self.count <= self._limit:
                self.hits.append(Hit(step_id, agent, _cut(line, at, len(self._words))))


def _bare(line: str) -> str:
    """Without the layout: indentation, and the bar before content."""
    return line.strip().removeprefix("│").strip()


def _cut(line: str, at: int, length: int) -> str:
    begin, end = max(at - _AROUND, 0), at + length + _AROUND
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")
