"""Comparisons and scores to plain lines for people."""

from __future__ import annotations

from collections import Counter

from .compare import Comparison, Row, Score, Verdict
from .predictions import Attribution

_MARK = {
    Verdict.EQUAL: "=",
    Verdict.DIFFERENT: "≠",
    Verdict.MOVED: "~",
    Verdict.MISSING: "-",
    Verdict.EXTRA: "+",
}


def comparison_lines(comparison: Comparison) -> list[str]:
    """A line a step, the first divergence with both values, what differs of the whole run, and the scores."""
    lines = [_line(row) for row in comparison.rows]
    first = comparison.first_divergence
    if first is not None:
        lines += ["", f"first divergence: {_places(first)}: {first.verdict}"]
        if first.reference is not None and first.candidate is not None:
            for name in first.fields:
                part = first.parting if name == "input.messages" else None
                lines.append(f"  {name}" + ("" if part is None else f": from messages[{part}] on"))
                lines.append(f"    reference: {_shown(first.reference.shown.get(name))}")
                lines.append(f"    candidate: {_shown(first.candidate.shown.get(name))}")
    for one in comparison.run:
        lines += ["", f"{one.field} differs", f"  reference: {_shown(one.reference)}"]
        lines.append(f"  candidate: {_shown(one.candidate)}")
    rules = Counter(row.rule for row in comparison.rows if row.rule is not None)
    lines += ["", f"aligned by: {', '.join(f'{rule} ({n})' for rule, n in sorted(rules.items())) or 'nothing'}"]
    lines.append(f"agent score {_score(comparison.agent)}, step score {_score(comparison.step)}")
    lines.append("equal" if comparison.equal else "different")
    return lines


def attribution_lines(attribution: Attribution) -> list[str]:
    lines: list[str] = []
    for row in attribution.rows:
        agent = "agent right" if row.agent_right else "agent wrong"
        step = "step right" if row.step_right else "step wrong"
        told = f" ({row.remark})" if row.remark is not None else ""
        said = f"{row.predicted_agent} at step {row.predicted_step}"
        lines.append(f"{row.task_id}: {agent}, {step}{told}: label {row.agent} at step {row.step}, predicted {said}")
    lines += [f"{task}: predicted, but there is no such task" for task in attribution.unknown]
    scores = attribution.to_json()["scores"]
    lines.append("")
    for name in ("agent", "step", "both"):
        lines.append(f"{name} score {_score(Score(scores[name]['matched'], scores[name]['of']))}")
    loose = sum(row.contained for row in attribution.rows)
    if loose:
        lines.append(f"{loose} wrong prediction{'s' if loose > 1 else ''} would count as right by containment")
    return lines


def _line(row: Row) -> str:
    told = f": {', '.join(row.fields)}" if row.fields else ""
    rule = f" [{row.rule}]" if row.rule is not None else ""
    return f"{_MARK[row.verdict]} {_places(row)}{rule} {row.verdict}{told}"


def _places(row: Row) -> str:
    ours = "–" if row.reference is None else str(row.reference.step_id)
    theirs = "–" if row.candidate is None else str(row.candidate.step_id)
    step = row.reference if row.reference is not None else row.candidate
    return f"step {ours} / {theirs} {(step.agent_name if step is not None else None) or 'unknown agent'}"


def _shown(text: str | None) -> str:
    return "(not recorded)" if text is None else text.replace("\n", "\\n")


def _score(score: Score) -> str:
    return f"{score.matched}/{score.of}" + ("" if score.value is None else f" = {score.value:.3f}")
