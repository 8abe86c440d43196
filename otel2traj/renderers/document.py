"""Steps into one readable document, within a budget where one is set.

What comes first in the document (status, failures) is known last, so the text of each step goes to a spool (memory up
to 8 MiB, then an unnamed temporary file) and only its place and size are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final

from ..model.trajectory import Header, Step, Summary
from .base import Mode, Part, RenderOptions
from .blocks import Block, Head, Line, Painter, Tone
from .glance import Glance
from .layout import StepLayout, agent_of
from .overview import file_changes, opening, sources
from .select import step_failed
from .words import ranges

_SPOOL: Final = 8 * 1024 * 1024
_LADDER: Final = (Mode.FULL, Mode.TRUNCATE_MIDDLE, Mode.RESPONSE_ONLY)


@dataclass(slots=True)
class _Text:
    """One rendering of one step in the spool."""

    offset: int
    length: int
    cost: int


@dataclass(slots=True)
class _Entry:
    step_id: int
    agent: str
    ordinal: str | None
    failed: bool
    texts: list[_Text]
    """One a rung of the ladder, from the asked mode down."""
    rung: int = 0


class Document:
    """The sink behind `text` and `markdown`."""

    def __init__(self, out: BinaryIO, options: RenderOptions, painter: Painter) -> None:
        self._out, self._options, self._painter = out, options, painter
        self._ladder = _LADDER[_LADDER.index(options.mode) :] if options.budget is not None else (options.mode,)
        self._layout = StepLayout(fold=options.fold, inference=options.inference)
        self._spool = SpooledTemporaryFile(max_size=_SPOOL)  # noqa: SIM115 - closed in end
        self._entries: list[_Entry] = []
        self._glance = Glance(inference=options.inference)
        self._header = Header()

    def begin(self, header: Header) -> None:
        self._header = header
        self._glance.begin(header)

    def step(self, step: Step) -> None:
        self._glance.add(step)
        if self._options.part is Part.HEAD or not self._options.selection.takes(step):
            return
        texts = [self._keep(self._painter.paint(self._layout.blocks(step, mode))) for mode in self._ladder]
        self._entries.append(_Entry(step.step_id, agent_of(step), step.input_ordinal, step_failed(step), texts))

    def end(self, summary: Summary) -> None:
        self._glance.end(summary)
        inputs = {item.ordinal: item for item in summary.inputs}
        budget = self._options.budget
        for cut in range(3):
            before, after = self._frame(summary, cut)
            if budget is None or self._cost(before) + self._cost(after) <= budget // 2:
                break
        report = self._fit(self._cost(before) + self._cost(after) + _HEADING * len(inputs), _FRAME_CUTS[cut])
        self._write(before)
        self._write_steps(len(inputs))
        self._write(after)
        self._write(report)
        self._spool.close()

    def _frame(self, summary: Summary, cut: int) -> tuple[str, str]:
        """What stands before and after the steps, less what `_FRAME_CUTS[cut]` says; nothing around responses alone."""
        part = self._options.part
        if part is Part.STEPS or (part is Part.ALL and self._options.mode is Mode.RESPONSE_ONLY):
            return "", ""
        before = opening(self._header, self._glance, summary, brief=cut == 2)
        after: list[Block] = []
        if part is Part.HEAD:
            return self._painter.paint(before), ""
        if not self._options.selection.everything:
            said = f"showing {len(self._entries)} of {self._glance.steps} steps"
            before.append(Line([(said, Tone.NOTE)], 1))
        elif cut < 2:
            for item in summary.inputs:
                after += file_changes(item, diffs=self._options.mode is Mode.FULL and cut == 0)
            after += sources(summary) if self._options.sources and not cut else []
        return self._painter.paint(before), self._painter.paint(after) if after else ""

    def _keep(self, text: str) -> _Text:
        data = text.encode("utf-8")
        place = self._spool.tell()
        self._spool.write(data)
        return _Text(place, len(data), self._cost(text))

    def _cost(self, text: str) -> int:
        return tokens(text) if self._options.budget_in_tokens else len(text)

    def _write(self, text: str) -> None:
        self._out.write(text.encode("utf-8"))

    # the budget

    def _fit(self, frame: int, cuts: str) -> str:
        """Choose a rung for every step so that all fits, and say what was cut; "" where nothing was."""
        budget = self._options.budget
        if budget is None:
            return ""
        last = len(self._ladder) - 1
        for entry in self._entries:
            entry.rung = last + 1
        left = budget - frame - _RESERVE
        failed = [entry for entry in self._entries if entry.failed]
        others = [entry for entry in self._entries if not entry.failed]
        for group, rungs in (
            (failed + others, [last]),
            (failed, range(last - 1, -1, -1)),
            (others, range(last - 1, -1, -1)),
        ):
            for rung in rungs:
                left = _raise(group, rung, left)
        return self._report(budget, cuts)

    def _report(self, budget: int, cuts: str) -> str:
        last = len(self._ladder) - 1
        counts = [sum(entry.rung == rung for entry in self._entries) for rung in range(last + 1)]
        if counts[0] == len(self._entries) and not cuts:
            return ""
        unit = "estimated tokens" if self._options.budget_in_tokens else "characters"
        said = [f"{count} {mode}" for count, mode in zip(counts, self._ladder, strict=True) if count]
        missing = [entry.step_id for entry in self._entries if entry.rung > last]
        said += [f"{len(missing)} left out ({ranges(missing)})"] if missing else []
        said += [cuts] if cuts else []
        words = f"cut to a budget of {budget} {unit}: {', '.join(said)}; the stored file is whole"
        return self._painter.paint([Line([(words, Tone.WARN)])])

    def _write_steps(self, inputs: int) -> None:
        ordinal: str | None = ""
        for entry in self._entries:
            if entry.rung == len(entry.texts):
                continue
            if entry.ordinal != ordinal and inputs > 1 and self._options.mode is not Mode.RESPONSE_ONLY:
                ordinal = entry.ordinal
                name = "input not told by identifiers" if ordinal is None else f"input {ordinal}"
                self._write(self._painter.paint([Head(2, [(name, Tone.STRONG)])]))
            text = entry.texts[entry.rung]
            self._spool.seek(text.offset)
            left = text.length
            while left:
                data = self._spool.read(min(left, 1 << 20))
                self._out.write(data)
                left -= len(data)


_FRAME_CUTS: Final = ("", "no file diffs, no sources", "a short summary, no file changes, no sources")

_RESERVE: Final = 400
"""What the remark on cuts may take itself."""

_HEADING: Final = 48
"""What the heading of an Input may take."""


def _raise(entries: list[_Entry], rung: int, left: int) -> int:
    """Show as many of the entries as fit at `rung`; what is left of the budget."""
    for entry in entries:
        now = 0 if entry.rung == len(entry.texts) else entry.texts[entry.rung].cost
        more = entry.texts[rung].cost - now
        if more <= left and entry.rung > rung:
            entry.rung = rung
            left -= more
    return left


def tokens(text: str) -> int:
    """An estimate of tokens: a quarter of the UTF-8 bytes, rounded up. Says nothing about any one tokenizer."""
    return -(-len(text.encode("utf-8")) // 4)
