"""Two runs, and where the second parted from the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from pathlib import Path

from ..auditors.matching.compare import compare
from ..auditors.matching.difference import StepChange, Total, step_changes, totals
from ..auditors.matching.marks import MarkSink
from ..canonical import JsonObject
from ..files import replacing
from ..model.ledger_cost import decimal_text, usd
from ..model.trajectory import Collect, Trajectory
from ..outcome import Outcome, OutcomeReader
from ..renderers.safe import inline
from ..timestamps import parse_ns
from ..writers import prices
from .source import drive


@dataclass(slots=True)
class Diffed:
    """`changes` are the rows of the alignment that are not equal, the first divergence first; `ends` how both
    runs ended, with the recorded reason."""

    names: tuple[str, str]
    ends: tuple[str, str]
    same: int
    """Steps that are equal."""
    changes: list[StepChange] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    inputs: list[tuple[str, str, str]] = field(default_factory=list)
    """Facts of the Inputs that differ: (what, in A, in B)."""

    @property
    def equal(self) -> bool:
        """Whether the runs did the same and ended the same; times, tokens and cost may differ."""
        return not self.changes and not self.inputs and self.ends[0] == self.ends[1]

    def to_json(self) -> JsonObject:
        return {
            "equal": self.equal,
            "a": {"name": self.names[0], "ended": self.ends[0]},
            "b": {"name": self.names[1], "ended": self.ends[1]},
            "first_divergence": self.changes[0].to_json() if self.changes else None,
            "equal_steps": self.same,
            "changes": [one.to_json() for one in self.changes],
            "inputs": [{"what": what, "a": a, "b": b} for what, a, b in self.inputs],
            "totals": [one.to_json() for one in self.totals],
        }


def diff(a: Path, b: Path, *, ignore: tuple[str, ...] = ()) -> Diffed:
    """Align two runs as `match` does, and tell what differs. Both are held in memory.

    Raises `EvidenceError` where one cannot be read, `UsageError` for a field there is not."""
    left, left_marks, left_end = _read(a)
    right, right_marks, right_end = _read(b)
    comparison = compare(left_marks.marks, right_marks.marks, ignore)
    changes = list(step_changes(comparison, left, right))
    return Diffed(
        _names(a, b),
        (_end(left_end), _end(right_end)),
        sum(row.verdict == "equal" for row in comparison.rows),
        changes,
        totals(left, right, _cost(left), _cost(right)),
        _inputs(left, right),
    )


def _names(a: Path, b: Path) -> tuple[str, str]:
    """The shortest ends of the two paths that tell them apart."""
    for length in range(1, 4):
        left, right = ("/".join(path.absolute().parts[-length:]) for path in (a, b))
        if left != right:
            break
    return left, right


def _read(path: Path) -> tuple[Trajectory, MarkSink, Outcome]:
    collect, marks, outcome = Collect(), MarkSink(), OutcomeReader()
    drive(path, collect, marks, outcome)
    return collect.trajectory, marks, outcome.outcome


def _end(outcome: Outcome) -> str:
    ended = outcome.ended
    return f"{ended.status}: {ended.reason.reason}" if ended.reason is not None else str(ended.status)


def _inputs(a: Trajectory, b: Trajectory) -> list[tuple[str, str, str]]:
    out = []
    for number in range(max(len(a.summary.inputs), len(b.summary.inputs))):
        sides = [run.summary.inputs[number] if number < len(run.summary.inputs) else None for run in (a, b)]
        for what in ("prompt", "file_changes"):
            values = [None if one is None else getattr(one, what) for one in sides]
            if values[0] != values[1]:
                shown = [inline(str(value))[:200] if value not in (None, []) else "none" for value in values]
                out.append((f"Input {number + 1} {what.replace('_', ' ')}", shown[0], shown[1]))
    return out


def _cost(run: Trajectory) -> str | None:
    """US dollars by the pinned price table, or None where a call has no price."""
    total = Decimal(0)
    priced = False
    for step in run.steps:
        usage = step.output.get("usage")
        if step.kind != "model" or not isinstance(usage, dict) or step.model is None:
            continue
        at = parse_ns(step.started_at or "")
        amount, _ = usd(usage, prices.rate(step.model, at, at)[0])
        if amount is None:
            return None
        total, priced = total + amount, True
    return decimal_text(total) if priced else None


def lines(found: Diffed, width: int = 60, limit: int = 12) -> list[str]:
    """For people, within `width` columns; at most `limit` lines of each field."""
    out = [f"A  {found.names[0]}", f"   {found.ends[0]}", f"B  {found.names[1]}", f"   {found.ends[1]}", ""]
    if found.equal:
        out.append(f"equal: {found.same} steps did the same and ended the same")
    elif found.changes:
        out += [f"{found.same} equal steps; first divergence:", *_change_lines(found.changes[0], limit)]
        if len(found.changes) > 1:
            out += ["", f"then {len(found.changes) - 1} more:"]
            for one in found.changes[1:]:
                out += _change_lines(one, max(3, limit // 3))
    out += [line for what, a, b in found.inputs for line in (f"{what}", f"  - {a}", f"  + {b}")]
    out.append("")
    out += [
        f"{one.name:14} {_figure(one.a):>14} {_figure(one.b):>14}{'' if one.a == one.b else '  ≠'}"
        for one in found.totals
        if one.a is not None or one.b is not None
    ]
    return [_cut(line, width) for line in out]


def _change_lines(change: StepChange, limit: int) -> list[str]:
    out = [_heading(change)]
    for one in change.changes:
        out.append(f"  {one.field}")
        out += [f"    {line}" for line in one.lines[:limit]]
        if len(one.lines) > limit:
            out.append(f"    … {len(one.lines) - limit} more lines")
    return out


def _heading(change: StepChange) -> str:
    steps = f"A {_figure(change.a)} · B {_figure(change.b)}"
    agents = change.agent_a if change.agent_a == change.agent_b else f"{change.agent_a} / {change.agent_b}"
    return f"== {steps} · {change.verdict} · {agents or 'agent unknown'}"


def _figure(value: float | str | None) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _cut(line: str, width: int) -> str:
    text = inline(line)
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:80rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%;table-layout:fixed}
td,th{vertical-align:top;text-align:left;padding:.3rem .6rem;
border-bottom:1px solid #ddd;overflow-wrap:anywhere}pre{white-space:pre-wrap;margin:0;font-size:.85em}
.a{background:#fdecea}.b{background:#e9f6ec}.dim{color:#666}h2{font-size:1.1rem;margin-top:2rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}.a{background:#3a1f1d}
.b{background:#1d3323}.dim{color:#999}}
"""


def page(found: Diffed, output: Path) -> None:
    """One self-contained page, both runs side by side. Every recorded word is escaped, nothing is fetched or run."""
    rows = []
    for number, change in enumerate(found.changes):
        title = "First divergence" if number == 0 else f"Difference {number + 1}"
        rows.append(f'<h2 id="d{number + 1}">{title}: {escape(_heading(change)[3:])}</h2><table>')
        rows.append("<thead><tr><th>A</th><th>B</th></tr></thead><tbody>")
        for one in change.changes:
            left = "\n".join(line[1:] for line in one.lines if line.startswith("-"))
            right = "\n".join(line[1:] for line in one.lines if line.startswith("+"))
            rows.append(
                f'<tr><th colspan="2" class="dim">{escape(one.field)}</th></tr>'
                f'<tr><td class="a"><pre>{escape(left)}</pre></td><td class="b"><pre>{escape(right)}</pre></td></tr>'
            )
        rows.append("</tbody></table>")
    figures = "".join(
        f"<tr><th>{escape(one.name)}</th><td>{escape(_figure(one.a))}</td><td>{escape(_figure(one.b))}</td></tr>"
        for one in found.totals
    )
    others = "".join(
        f'<tr><th>{escape(what)}</th><td class="a">{escape(a)}</td><td class="b">{escape(b)}</td></tr>'
        for what, a, b in found.inputs
    )
    said = f"equal: {found.same} steps did the same" if found.equal else f"{found.same} equal steps"
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>diff of two runs</title><style>{_STYLE}</style></head><body><h1>Two runs</h1>"
        f"<p>{escape(said)}; {len(found.changes)} steps differ.</p><table><thead><tr><th></th>"
        f"<th>A {escape(found.names[0])}</th><th>B {escape(found.names[1])}</th></tr></thead><tbody>"
        f"<tr><th>ended</th><td>{escape(found.ends[0])}</td><td>{escape(found.ends[1])}</td></tr>"
        f"{others}{figures}</tbody></table>{''.join(rows)}</body></html>"
    )
    with replacing(output) as stream:
        stream.write(html.encode("utf-8", "replace"))
