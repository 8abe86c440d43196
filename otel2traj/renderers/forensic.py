"""A forensic ledger's diagnosis to text for a reader: the cause, the chain, and where the evidence lies."""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject
from ..timestamps import format_ns
from .safe import inline


def explain(task_result: JsonObject) -> str:
    """Plain text of a ledger that has a `diagnostic_report`; every recorded word in it is made safe to print."""
    report: Any = task_result.get("diagnostic_report")
    lines = [
        f"task {_word(task_result.get('task_id'))}, attempt {_word(task_result.get('attempt'))}, "
        f"{_word(task_result.get('turns_taken'))} turns",
        f"root cause       {_word(report.get('root_cause'))}",
        f"terminal status  {_word(report.get('terminal_status'))}",
    ]
    if report.get("explanation") is not None:
        sure = report.get("confidence")
        lines.append(f"why              {_word(report['explanation'])}" + (f" (confidence {sure})" if sure else ""))
    if isinstance(report.get("index"), int):
        lines.append(f"begins at        /conversation_history/{report['index']}{_who(task_result, report['index'])}")
    if report.get("suggestion") is not None:
        lines.append(f"look next        {_word(report['suggestion'])}")
    chain = [link for link in report.get("causal_chain") or [] if isinstance(link, dict)]
    lines += ["", f"causal chain, {len(chain)} trigger{'' if len(chain) == 1 else 's'} in the order of time"]
    for number, link in enumerate(chain, 1):
        lines += _link(number, link)
    for told in report.get("analyzers") or []:
        if isinstance(told, dict) and "skipped" in told:
            lines.append(f"analyzer {_word(told.get('name'))} was skipped: {_word(told['skipped'])}")
    return "\n".join(lines) + "\n"


def _link(number: int, link: JsonObject) -> list[str]:
    turn = link.get("turn_index")
    where = "outside the turns" if turn is None else f"turn {turn}"
    head = f"{number:3}. {_time(link)}  {where}  {_word(link.get('trigger'))}"
    out = [
        f"{head}  {_word(link.get('severity'))}, rank {_word(link.get('rank'))}",
        f"     {_word(link.get('evidence'))}",
    ]
    pointer: Any = link.get("pointer")
    if isinstance(pointer, dict):
        out.append(f"     {_word(pointer.get('ledger'))}")
        for record in pointer.get("records") or []:
            if isinstance(record, dict):
                out.append(f"     {_record(record)}")
    return out


def _record(record: JsonObject) -> str:
    line = "" if record.get("line") is None else f":{_word(record['line'])}"
    what = "" if record.get("what") is None else f" {_word(record['what'])}"
    size = "" if record.get("offset") is None else f" bytes {record['offset']}+{_word(record.get('length'))}"
    digest = str(record.get("sha256") or "")[:12]
    return f"{_word(record.get('path'))}{line}{what}{size}{f' sha256 {inline(digest)}…' if digest else ''}"


def _time(link: JsonObject) -> str:
    value = link.get("timestamp")
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "time not recorded"
    text = format_ns(round(value * 1_000_000) * 1000)
    return f"{text or value}{' or later' if link.get('timestamp_source') == 'entry_before' else ''}"


def _who(task_result: JsonObject, index: int) -> str:
    history: Any = task_result.get("conversation_history")
    entry = history[index] if isinstance(history, list) and 0 <= index < len(history) else None
    return f" ({_word(entry.get('identity'))})" if isinstance(entry, dict) else ""


def _word(value: Any) -> str:
    return "not recorded" if value is None else inline(str(value), 400)
