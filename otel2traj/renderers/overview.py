"""Header and summary into the blocks that stand before and after the steps: failures first."""

from __future__ import annotations

from ..canonical import JsonObject
from ..errors import some_of
from ..model.trajectory import Header, SdkInput, Summary, TrajectoryStatus
from ..outcome import EndStatus, Failure, Gap, GapKind
from .beside import input_events
from .blocks import Block, Head, Line, Quote, Tone, Words
from .glance import Glance, ended_words, gap_words, inputs_words, recovery_words, task, total_cost
from .layout import joined
from .safe import value_text
from .words import ranges

LISTED = 10
"""Failures that are named one by one in the head; the rest is counted."""

_STATUS = {
    TrajectoryStatus.COMPLETE: "complete",
    TrajectoryStatus.PARTIAL: "partial: some evidence is lost or ambiguous",
    TrajectoryStatus.FAILED: "failed: the trajectory could not be built",
}
_MARK = {"✓": Tone.GOOD, "✗": Tone.BAD, "~": Tone.WARN, "?": Tone.WARN}
_SIGNS = {"created": "+", "added": "+", "deleted": "-", "removed": "-", "modified": "~", "renamed": ">"}


def opening(header: Header, glance: Glance, summary: Summary, *, brief: bool = False) -> list[Block]:
    """How the run ended, what went wrong, what is not known; then task, answer, who acted and what it took; then how
    far the record reaches. `brief` keeps texts short and lists little."""
    mark, words, reason = ended_words(glance.outcome.ended)
    head: list[Words] = [(f"{mark} {words}", _MARK[mark])]
    if reason:
        head.append((f": {reason}" if words != "succeeded" else f", {reason}", Tone.PLAIN))
    listed = 3 if brief else LISTED
    mixed = inputs_words(glance.outcome)
    each: list[Block] = [Line([(mixed, Tone.PLAIN)], 1)] if mixed is not None else []
    out: list[Block] = [Head(1, head), *each, *_went_wrong(glance, listed), *_not_known(glance)]
    out.append(Head(2, [("the run", Tone.STRONG)]))
    asked = task(header, summary)
    if asked is None:
        out.append(Line([("task", Tone.STRONG), (" not recorded", Tone.DIM)], 1))
    else:
        out += [Line([("task", Tone.STRONG)], 1), Quote(_cut(asked, 200 if brief else 2000), 2)]
    if glance.answer is not None:
        answer = _cut(value_text(glance.answer), 200 if brief else 1000)
        which = "answer" if glance.answer_of is None else f"answer to input {glance.answer_of}"
        out += [Line([(which, Tone.STRONG)], 1), Quote(answer, 2)]
    who = ", ".join(f"{name} ({count})" for name, count in glance.agents.items())
    out.append(Line([("agents ", Tone.DIM), (who if who else "none", Tone.NAME)], 1))
    out.append(Line([("totals ", Tone.DIM), (totals_words(glance, summary), Tone.PLAIN)], 1))
    names = [
        ("run", header.run_id),
        ("case", header.case_id),
        ("agent", header.agent_id),
        ("framework", header.framework),
    ]
    said: list[Words] = [(f"{label} {value}", Tone.DIM) for label, value in names if value is not None]
    if said:
        out.append(Line(joined(said), 1))
    out += [] if brief else _inputs(glance, summary)
    out.append(Head(2, [("the record", Tone.STRONG)]))
    out.append(Line([("record ", Tone.DIM), (_STATUS[summary.status], Tone.DIM)], 1))
    out.append(Line([("coverage ", Tone.DIM), (coverage_words(glance, summary), Tone.DIM)], 1))
    return [*out, *_warnings(summary, 3 if brief else WARNINGS)]


WARNINGS = 40


def totals_words(glance: Glance, summary: Summary) -> str:
    parts = [count(glance.steps, "step"), count(glance.model_steps, "model call")]
    parts.append(count(glance.executions, "tool execution"))
    if glance.tokens_in is not None or glance.tokens_out is not None:
        parts.append(f"tokens {_n(glance.tokens_in)} in, {_n(glance.tokens_out)} out")
    cost = total_cost(glance)
    if cost is not None:
        parts.append(f"cost {cost}")
    if glance.seconds is not None:
        parts.append(f"{glance.seconds:.3f} s")
    if any(warning.startswith("calls_may_stand_twice") for warning in summary.warnings):
        parts.append("some calls may be counted twice")
    return " · ".join(parts)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _n(count: int | None) -> str:
    return "not recorded" if count is None else str(count)


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def coverage_words(glance: Glance, summary: Summary) -> str:
    """What was counted; what is zero is left out, but for what the counts are of."""
    c = summary.coverage
    always = [count(c.model_calls, "model call"), count(c.tool_calls, "tool call")]
    rest = [
        (glance.links.get("exact", 0), count(glance.links.get("exact", 0), "exact link")),
        (c.ambiguous_links, f"{c.ambiguous_links} ambiguous"),
        (c.unobserved_tool_executions, f"{c.unobserved_tool_executions} not observed"),
        (c.unlinked_tool_calls, count(c.unlinked_tool_calls, "execution") + " without a call"),
        (1 if c.inferred_links is None else c.inferred_links, f"{c.inferred_links} inferred"),
        (c.file_changes, count(c.file_changes, "file change")),
    ]
    if c.inferred_links is None:
        rest[4] = (1, "inference off")
    return ", ".join([*always, *(words for number, words in rest if number)])


def _went_wrong(glance: Glance, listed: int) -> list[Block]:
    outcome = glance.outcome
    failures = outcome.failures
    if not failures:
        if outcome.is_clean:
            return [Line([("no failure recorded", Tone.DIM)], 1)]
        return [Line([("no single failure was recorded", Tone.WARN)], 1)]
    gone_on = sum(failure.recovered is True for failure in failures)
    words: list[Words] = [("what went wrong: ", Tone.STRONG), (count(len(failures), "failure"), Tone.BAD)]
    if gone_on:
        words.append((f", {gone_on} of them recovered", Tone.PLAIN))
    shown = chosen(failures, listed)
    out: list[Block] = [Head(2, words), *(_failure(failure) for failure in shown)]
    if len(failures) > len(shown):
        ids = ranges(sorted({f.step_id for f in failures if f not in shown and f.step_id is not None}))
        out.append(Line([(f"and {len(failures) - len(shown)} more: steps {ids}; see --failed", Tone.WARN)], 1))
    return out


def chosen(failures: list[Failure], most: int) -> list[Failure]:
    """At most so many failures in their order: the last of those that nobody recovered from, then the first others."""
    if len(failures) <= most:
        return failures
    open_ones = [n for n, failure in enumerate(failures) if failure.recovered is not True][-most:]
    taken = set(open_ones)
    for n in range(len(failures)):
        if len(taken) == most:
            break
        taken.add(n)
    return [failures[n] for n in sorted(taken)]


def _failure(failure: Failure) -> Line:
    tone = Tone.WARN if failure.recovered is True else Tone.BAD
    where = f"step {failure.step_id}" if failure.step_id is not None else f"Input {failure.input_ordinal}"
    if failure.step_id is None and failure.input_ordinal is None:
        where = "run"
    words: list[Words] = [(f"✗ {failure.kind}", tone), (f"  {where}", Tone.STRONG)]
    words += [(f"  {name}", Tone.NAME) for name in (failure.agent, failure.tool) if name is not None]
    if failure.reason:
        words.append((f"  {failure.reason}", Tone.PLAIN))
    recovery = recovery_words(failure)
    if recovery is not None:
        words.append((f"  ({recovery})", Tone.DIM))
    return Line(words, 1)


def _not_known(glance: Glance) -> list[Block]:
    """One line for each sort of gap, with its steps."""
    gaps: dict[GapKind, list[Gap]] = {}
    for gap in glance.outcome.unknowns:
        gaps.setdefault(gap.kind, []).append(gap)
    if not gaps:
        return []
    out: list[Block] = [Head(2, [("what is not known", Tone.STRONG)])]
    for kind, found in gaps.items():
        names = list(dict.fromkeys(gap_words(gap) for gap in found))
        said = some_of(names, 6)
        ids = sorted({gap.step_id for gap in found if gap.step_id is not None})
        where = f"  steps {ranges(ids)}" if len(ids) > 1 else f"  step {ids[0]}" if ids else ""
        sign = "~" if kind is GapKind.AMBIGUOUS else "?"
        out.append(Line([(f"{sign} {kind}", Tone.WARN), (where, Tone.STRONG), (f"  {said}", Tone.PLAIN)], 1))
    return out


def _inputs(glance: Glance, summary: Summary) -> list[Block]:
    if not summary.inputs:
        return []
    out: list[Block] = [Head(2, [("inputs", Tone.STRONG)])]
    for item, end in zip(summary.inputs, glance.outcome.inputs, strict=True):
        word = end.word if end.word is not None else str(end.status)
        result = "no result recorded" if end.status is EndStatus.NOT_RECORDED else f"result {word}"
        if end.stop_reason is not None:
            result += f", stop reason {end.stop_reason}"
        bad = end.status not in (EndStatus.SUCCEEDED, EndStatus.NOT_RECORDED)
        facts: list[Words] = [
            (f"input {item.ordinal}", Tone.STRONG),
            (_range(item.step_range), Tone.PLAIN),
            (result, Tone.BAD if bad else Tone.PLAIN),
        ]
        if item.file_changes:
            facts.append((count(len(item.file_changes), "file change"), Tone.PLAIN))
        prompt = value_text(item.prompt) if item.prompt is not None else "(prompt not recorded)"
        out += [Line(joined(facts), 1), Line([(_cut(prompt, 200), Tone.DIM)], 2)]
        out += input_events(item)
    return out


def _range(steps: list[int] | None) -> str:
    if steps is None:
        return "no step"
    return f"step {steps[0]}" if steps[0] == steps[-1] else f"steps {steps[0]}–{steps[-1]}"


def _warnings(summary: Summary, listed: int) -> list[Block]:
    if not summary.warnings:
        return []
    out: list[Block] = [Head(2, [(f"warnings ({len(summary.warnings)})", Tone.WARN)])]
    out += [Line([("! ", Tone.WARN), (warning, Tone.PLAIN)], 1) for warning in summary.warnings[:listed]]
    if len(summary.warnings) > listed:
        out.append(Line([(f"and {len(summary.warnings) - listed} more", Tone.WARN)], 1))
    return out


def file_changes(item: SdkInput, *, diffs: bool) -> list[Block]:
    if not item.file_changes:
        return []
    out: list[Block] = [Head(2, [(f"files changed by input {item.ordinal}", Tone.STRONG)])]
    for change in item.file_changes:
        out += _change(change, diffs)
    return out


def _change(change: JsonObject, diffs: bool) -> list[Block]:
    kind = change.get("change_type")
    if kind is None:
        kind = "created" if change.get("before") is None else "deleted" if change.get("after") is None else "modified"
    moved = f" (was {change['old_path']})" if change.get("old_path") is not None else ""
    words: list[Words] = [
        (f"{_SIGNS.get(str(kind), '~')} {kind} ", Tone.STRONG),
        (f"{change.get('path')}{moved}", Tone.NAME),
    ]
    diff = change.get("diff")
    if isinstance(diff, str) and diffs:
        return [Line(words, 1), Quote(diff, 2, "diff")]
    if diff is None:
        words.append((" no text diff recorded", Tone.DIM))
    return [Line(words, 1)]


def sources(summary: Summary) -> list[Block]:
    if not summary.sources:
        return []
    out: list[Block] = [Head(2, [(f"sources ({len(summary.sources)})", Tone.STRONG)])]
    for source in summary.sources:
        digest = source.get("sha256")
        end = f" sha256 {digest[:12]}" if isinstance(digest, str) else ""
        out.append(Line([(f"{source.get('path')}{end}", Tone.DIM)], 1))
    return out
