"""Header and summary into the blocks that stand before and after the steps: failures first."""

from __future__ import annotations

from ..canonical import JsonObject
from ..model.trajectory import Header, SdkInput, Summary, TrajectoryStatus
from .blocks import Block, Head, Line, Quote, Tone, Words
from .glance import Glance, Problem, Trouble, title
from .layout import joined
from .safe import value_text

LISTED = 40
"""Problems of one sort that are named one by one; the rest is counted."""

_MARK = {
    Trouble.STEP_FAILED: ("✗", Tone.BAD),
    Trouble.TOOL_ERROR: ("✗", Tone.BAD),
    Trouble.EXIT_NONZERO: ("✗", Tone.BAD),
    Trouble.STEP_INCOMPLETE: ("?", Tone.WARN),
    Trouble.AMBIGUOUS: ("~", Tone.WARN),
    Trouble.NOT_OBSERVED: ("?", Tone.WARN),
}
_STATUS = {
    TrajectoryStatus.COMPLETE: ("✓ complete", Tone.GOOD),
    TrajectoryStatus.PARTIAL: ("~ partial: some evidence is lost or ambiguous", Tone.WARN),
    TrajectoryStatus.FAILED: ("✗ failed: the trajectory could not be built", Tone.BAD),
}
_SIGNS = {"created": "+", "added": "+", "deleted": "-", "removed": "-", "modified": "~", "renamed": ">"}


def opening(header: Header, glance: Glance, summary: Summary, *, brief: bool = False) -> list[Block]:
    """Task, status, names, counts, what went wrong, inputs, warnings; `brief` keeps the task short and lists little."""
    task = title(header, summary)
    out: list[Block] = [Head(1, [("trajectory", Tone.STRONG), ("  ", Tone.PLAIN), _STATUS[summary.status]])]
    if summary.error is not None:
        out += [Line([("✗ error", Tone.BAD)], 1), Quote(value_text(summary.error), 2, "json")]
    out += [Line([("task", Tone.STRONG)], 1), Quote(_cut(task, 200 if brief else 2000), 2)]
    names = [
        ("run", header.run_id),
        ("case", header.case_id),
        ("agent", header.agent_id),
        ("framework", header.framework),
    ]
    said: list[Words] = [(f"{label} {value}", Tone.PLAIN) for label, value in names if value is not None]
    if said:
        out.append(Line(joined(said), 1))
    who = ", ".join(f"{name} ({count})" for name, count in glance.agents.items())
    out.append(Line([("agents ", Tone.DIM), (who if who else "none", Tone.NAME)], 1))
    out.append(Line([("coverage ", Tone.DIM), (coverage_words(glance, summary), Tone.PLAIN)], 1))
    if glance.tokens_in is not None or glance.tokens_out is not None:
        out.append(
            Line([("tokens ", Tone.DIM), (f"{_n(glance.tokens_in)} in, {_n(glance.tokens_out)} out", Tone.PLAIN)], 1)
        )
    listed = 3 if brief else LISTED
    return [*out, *_went_wrong(glance, listed), *([] if brief else _inputs(summary)), *_warnings(summary, listed)]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _n(count: int | None) -> str:
    return "not recorded" if count is None else str(count)


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def coverage_words(glance: Glance, summary: Summary) -> str:
    c = summary.coverage
    parts = [
        count(glance.steps, "step"),
        count(c.model_calls, "model call"),
        count(c.tool_calls, "tool call"),
        count(glance.links.get("exact", 0), "exact link"),
        f"{c.ambiguous_links} ambiguous",
        f"{c.unobserved_tool_executions} not observed",
        count(c.unlinked_tool_calls, "execution") + " without a call",
        "inference off" if c.inferred_links is None else f"{c.inferred_links} inferred",
        count(c.file_changes, "file change"),
    ]
    return ", ".join(parts)


def _went_wrong(glance: Glance, listed: int) -> list[Block]:
    if not glance.problems:
        return [Head(2, [("✓ no failure, no gap recorded", Tone.GOOD)])]
    failures = len(glance.failures)
    word = count(failures, "failure") if failures else "no failure recorded"
    more = len(glance.unsure)
    words: list[Words] = [(word, Tone.BAD if failures else Tone.GOOD)]
    if more:
        words.append((f", {more} {'link or execution' if more == 1 else 'links or executions'} unsure", Tone.WARN))
    out: list[Block] = [Head(2, [("what went wrong: ", Tone.STRONG), *words])]
    ambiguous = [problem for problem in glance.unsure if problem.trouble is Trouble.AMBIGUOUS]
    unseen = [problem for problem in glance.unsure if problem.trouble is Trouble.NOT_OBSERVED]
    for what, found in (("failures", glance.failures), ("ambiguous links", ambiguous), ("not observed", unseen)):
        out += [_problem(problem) for problem in found[:listed]]
        if len(found) > listed:
            rest = found[listed:]
            ids = f"steps {rest[0].step_id} to {rest[-1].step_id}"
            out.append(Line([(f"and {len(rest)} more: {what} ({ids})", Tone.WARN)], 1))
    return out


def _problem(problem: Problem) -> Line:
    mark, tone = _MARK[problem.trouble]
    words: list[Words] = [
        (f"{mark} {problem.trouble}", tone),
        (f"  step {problem.step_id}", Tone.STRONG),
        (f"  {problem.agent if problem.agent is not None else '(agent not recorded)'}", Tone.NAME),
        (f"  {problem.what}", Tone.PLAIN),
    ]
    if problem.detail:
        first, _, rest = problem.detail.strip().partition("\n")
        first = first if len(first) <= 120 and not rest else first[:119] + "…"
        words.append((f"  {first}", Tone.DIM))
    return Line(words, 1)


def _inputs(summary: Summary) -> list[Block]:
    if not summary.inputs:
        return []
    out: list[Block] = [Head(2, [("inputs", Tone.STRONG)])]
    for item in summary.inputs:
        result = item.result.get("status") if item.result is not None else None
        bad = result not in (None, "succeeded", "completed")
        facts: list[Words] = [
            (f"input {item.ordinal}", Tone.STRONG),
            (_range(item.step_range), Tone.PLAIN),
            ("no result recorded" if result is None else f"result {result}", Tone.BAD if bad else Tone.PLAIN),
        ]
        if item.file_changes:
            facts.append((count(len(item.file_changes), "file change"), Tone.PLAIN))
        prompt = value_text(item.prompt) if item.prompt is not None else "(prompt not recorded)"
        out += [Line(joined(facts), 1), Line([(_cut(prompt, 200), Tone.DIM)], 2)]
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
