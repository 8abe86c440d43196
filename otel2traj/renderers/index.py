"""One step into its row of the page's index: all that a list, a timeline and a first search need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any, Final

from ..canonical import JsonValue, dumps
from ..messages import fold
from ..model.trajectory import Step, ToolLog
from ..outcome import step_failures
from .glance import exit_words
from .safe import value_text
from .select import exit_failed
from .words import cost_of, cost_words

PREVIEW: Final = 160


def milliseconds(time: str | None) -> int | None:
    """Milliseconds since the Unix epoch; None where the time is missing or unreadable. A time without a zone is UTC."""
    if time is None:
        return None
    try:
        parsed = datetime.fromisoformat(time)
    except ValueError:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=timezone.utc)  # noqa: UP017
    return round(parsed.timestamp() * 1000)


def preview(step: Step) -> str:
    """The beginning of what the step answered, else the arguments it gave its tools."""
    output = step.output
    for key in ("text", "refusal", "wire_error", "reasoning"):
        if output.get(key) not in (None, ""):
            return value_text(output[key])[:PREVIEW]
    failures = [failure.reason for failure in step_failures(step) if failure.tool is None and failure.reason]
    if failures:
        return failures[0][:PREVIEW]
    said = [_short(log.input_arguments) for log in step.tool_logs[:4]]
    return "; ".join(words for words in said if words)[:PREVIEW]


def _short(value: JsonValue) -> str:
    value = fold(value)
    return "" if value is None else value[:80] if isinstance(value, str) else dumps(value).decode("utf-8")[:80]


def step_row(step: Step, number: Mapping[str, Callable[[str | None], int]], *, inference: bool) -> list[Any]:
    """`[id, ordinal, agent, kind, source, start, end, model, status, tokens in, tokens out, preview, logs, inferred,
    failures, cost]`; the cost is `$…`, else why it is not known, or None; a failure is `[kind, reason, tool]`;
    names stand as numbers into the lists of the index; a log is `[tool, execution, link, exit, exit failed, inferred,
    start, end]`.
    """
    usage = step.output.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    cost, why = cost_of(step)
    return [
        step.step_id,
        number["ordinals"](step.input_ordinal),
        number["agents"](step.agent_name),
        step.kind,
        step.source,
        milliseconds(step.started_at),
        milliseconds(step.ended_at),
        number["models"](step.model),
        step.status,
        counts.get("input_tokens"),
        counts.get("output_tokens"),
        preview(step),
        [_log(log, number["tools"], inference) for log in step.tool_logs],
        inference and "inferred_call" in step.evidence,
        [[failure.kind, failure.reason, failure.tool] for failure in step_failures(step)],
        why if cost is None else cost_words(cost),
    ]


def _log(log: ToolLog, tool: Callable[[str | None], int], inference: bool) -> list[Any]:
    return [
        tool(log.tool_name),
        log.execution_status,
        log.link,
        exit_words(log),
        exit_failed(log),
        inference and "inferred" in log.evidence,
        milliseconds(_time(log.evidence.get("started_at"))),
        milliseconds(_time(log.evidence.get("ended_at"))),
    ]


def _time(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
