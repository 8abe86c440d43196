"""One trajectory to the rows of a data set, step by step."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Protocol, cast

from .. import prices
from ..canonical import JsonObject, JsonValue, dumps
from ..messages import Message, Part, PartKind, read_answer, read_instructions, read_recorded
from ..model.trajectory import Header, Step, StepKind, StepSink, Summary, TrajectoryStatus
from ..outcome import OutcomeReader
from ..timestamps import format_ns, parse_ns
from ..writers.tables import Row, failure_rows, input_rows, link_rows, log_rows, source_rows, step_row
from ..writers.trajectory import TrajectoryWriter
from .schema import INLINE_BYTES, NO_DAY, TABLES, text_columns

_SPOOL: Final = 8 << 20
_BLOCK: Final = 1 << 20
_INT64: Final = 1 << 63
_TIMES: Final = frozenset({"started_at", "ended_at"})
_TEXTS: Final = {table: text_columns(table) for table in TABLES}


class Rows(Protocol):
    """Where rows go. `text` keeps a long text once under its digest."""

    def add(self, table: str, day: str, row: Row) -> None: ...

    def text(self, digest: str, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of which attempt the rows are: `root` names the tree it was found in, `attempt` its place there."""

    root: str
    attempt: str
    sha256: str
    size: int

    def run(self, conversation: str | None) -> str:
        """The name of one trajectory of the attempt, unique in a data set: 24 hex digits."""
        told = dumps([self.root, self.attempt, conversation])
        return hashlib.sha256(told).hexdigest()[:24]


@dataclass(slots=True)
class _History:
    """Messages that the run has had: digest of the recorded message -> ids and bytes of text."""

    known: dict[bytes, tuple[list[int], int]] = field(default_factory=dict)
    count: int = 0


class RunRows:
    """A sink that hands out rows. Rows wait until a step tells the day of the run."""

    def __init__(self, rows: Rows, evidence: Evidence, conversation: str | None, limit: int) -> None:
        self._rows = rows
        self._evidence = evidence
        self._conversation = conversation
        self.run = evidence.run(conversation)
        self.done = False
        self._day: str | None = None
        self._waiting: list[tuple[str, Row]] = []
        self._history = _History()
        self._times: tuple[int | None, int | None] = (None, None)
        self._outcome = OutcomeReader()
        self._file: Any = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115
        self._document: StepSink = TrajectoryWriter(limit).sink(cast(BinaryIO, self._file))

    def begin(self, header: Header) -> None:
        self._header = header
        self._outcome.begin(header)
        self._document.begin(header)

    def step(self, step: Step) -> None:
        self._document.step(step)
        self._outcome.step(step)
        started, ended = parse_ns(step.started_at), parse_ns(step.ended_at)
        self._seen(started, ended)
        self._add("steps", self._step(step, started, ended))
        for row, log in zip(log_rows(step), step.tool_logs, strict=True):
            begun, done = (_ns(log.evidence.get(key)) for key in ("started_at", "ended_at"))
            times = {"started_at": begun, "ended_at": done, "duration_s": _seconds(begun, done)}
            self._add("tool_calls", {**row, **times, "agent_name": step.agent_name, "model": step.model})
        for row in link_rows(step):
            self._add("links", row)

    def end(self, summary: Summary) -> None:
        self._document.end(summary)
        self._outcome.end(summary)
        outcome, header, coverage = self._outcome.outcome, self._header, summary.coverage
        for row in input_rows(summary, outcome):
            self._add("inputs", row)
        for row in failure_rows(summary, outcome):
            self._add("failures", row)
        for position, warning in enumerate(summary.warnings):
            code, _, message = warning.partition(": ")
            self._add("warnings", {"position": position, "code": code, "message": message})
        for row in source_rows(summary):
            self._add("sources", row)
        error = summary.error if summary.error is not None else {}
        digest, size = self._trajectory()
        counted = [name for name, kind in TABLES["runs"] if kind == "int64" and hasattr(coverage, name)]
        counts = {name: getattr(coverage, name) for name in counted}
        self._add(
            "runs",
            {
                "root": self._evidence.root,
                "attempt": self._evidence.attempt,
                "conversation": self._conversation,
                **{name: getattr(header, name) for name in ("run_id", "case_id", "agent_id", "framework")},
                "status": summary.status,
                "error_type": _said(error.get("type")),
                "error": _said(error.get("message")),
                "ended": outcome.ended.status,
                "ended_said_by": outcome.ended.said_by,
                "started_at": self._times[0],
                "ended_at": self._times[1],
                **counts,
                "inputs": len(summary.inputs),
                "failures": len(outcome.failures),
                "warnings": len(summary.warnings),
                "evidence_sha256": self._evidence.sha256,
                "evidence_bytes": self._evidence.size,
                "trajectory_sha256": digest,
                "trajectory_bytes": size,
            },
        )
        self._settle(NO_DAY)
        self.done = True

    def _trajectory(self) -> tuple[str, int]:
        """Digest and size of the trajectory's file."""
        digest = hashlib.sha256()
        self._file.seek(0)
        while block := self._file.read(_BLOCK):
            digest.update(block)
        size = self._file.tell()
        self._file.close()
        return digest.hexdigest(), size

    def _step(self, step: Step, started: int | None, ended: int | None) -> Row:
        row = step_row(step)
        del row["text"], row["reasoning"]
        row |= {"started_at": started, "ended_at": ended, "duration_s": _seconds(started, ended)}
        row["trace_id"] = step.evidence.get("trace_id")
        if step.kind is not StepKind.MODEL:
            return row
        usage = step.output.get("usage")
        cost, row["cost_unknown"] = prices.priced(step.model, usage if isinstance(usage, dict) else {}, started)
        row["cost_usd"] = None if cost is None else float(cost)
        ids, size = self._received(step)
        answer = read_answer(step.output)
        spoken = [] if answer is None else self._message(step, "output", dumps(answer.to_json()), [answer])[0]
        return {**row, "message_ids": ids, "history_bytes": size, "answer_id": spoken[0] if spoken else None}

    def _received(self, step: Step) -> tuple[list[int] | None, int | None]:
        system, told = step.input.get("system"), step.input.get("messages")
        if system is None and told is None:
            return None, None
        ids: list[int] = []
        size = 0
        for direction, item in [("system", system), *(("input", item) for item in _items(told))]:
            if item is None:
                continue
            found, more = self._message(step, direction, dumps(item), None if direction == "input" else [], item)
            ids += found
            size += more
        return ids, size

    def _message(
        self, step: Step, direction: str, recorded: bytes, messages: list[Message] | None, item: JsonValue = None
    ) -> tuple[list[int], int]:
        """Ids and bytes of a recorded message, which is read and becomes rows when the run has it first."""
        history = self._history
        key = hashlib.sha256(direction[:1].encode() + recorded).digest()[:16]
        known = history.known.get(key)
        if known is not None:
            return known
        if direction == "system":
            messages = [Message("system", read_instructions(item))]
        elif messages is None:
            messages = read_recorded(item)
        ids: list[int] = []
        size = 0
        for message in messages:
            history.count += 1
            ids.append(history.count)
            base: Row = {"message_id": history.count, "step_id": step.step_id, "direction": direction}
            for number, part in enumerate(message.parts or [None]):
                told = _part(part)
                size += len(_bytes(told.get("text")) or b"")
                self._add("messages", {**base, "part": number, "role": message.role, **told})
        history.known[key] = ids, size
        return ids, size

    def _seen(self, started: int | None, ended: int | None) -> None:
        first, last = self._times
        told = [ns for ns in (started, ended) if ns is not None]
        if told:
            told += [ns for ns in (first, last) if ns is not None]
            self._times = min(told), max(told)
        if self._day is None and started is not None:
            day = (format_ns(started) or "")[:10]
            self._settle(day or NO_DAY)

    def _settle(self, day: str) -> None:
        if self._day is None:
            self._day = day
        for table, row in self._waiting:
            self._rows.add(table, self._day, row)
        self._waiting.clear()

    def _add(self, table: str, row: Row) -> None:
        for name in _TEXTS[table]:
            data = _bytes(row.get(name))
            if data is None:
                continue
            digest = hashlib.sha256(data).hexdigest()
            row[f"{name}_sha256"], row[f"{name}_bytes"] = digest, len(data)
            row[name] = data.decode()
            if len(data) > INLINE_BYTES:
                row[name] = None
                self._rows.text(digest, data)
        told = {name: _cell(value) for name, value in row.items()}
        for name in _TIMES & told.keys():
            told[name] = None if told[name] is None else told[name] // 1000
        told["run"] = self.run
        if self._day is None:
            self._waiting.append((table, told))
        else:
            self._rows.add(table, self._day, told)


def _part(part: Part | None) -> Row:
    if part is None:
        return {}
    row: Row = {"kind": part.kind, "tool_call_id": part.id, "tool_name": part.name, "is_error": part.is_error}
    if part.text is not None:
        row["text"] = part.text
    elif part.kind is PartKind.TOOL_CALL:
        row["text"] = _said(part.value)
    elif part.kind is PartKind.TOOL_RESULT:
        row["text"] = _said(part.answer)
    elif part.raw is not None:
        row["text"] = _said(part.raw)
    return row


def _items(told: JsonValue) -> list[JsonValue]:
    return [] if told is None else told if isinstance(told, list) else [told]


def _said(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return dumps(value).decode("utf-8", "surrogatepass")


def _ns(value: object) -> int | None:
    return parse_ns(value) if isinstance(value, str) else None


def _seconds(started: int | None, ended: int | None) -> float | None:
    return None if started is None or ended is None else (ended - started) / 1e9


def _bytes(text: str | None) -> bytes | None:
    """UTF-8; what no text may hold (half of a surrogate pair) is spelled out."""
    if text is None:
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def _cell(value: Any) -> Any:
    """A value as Arrow takes it: an integer beyond 64 bits has no cell."""
    if isinstance(value, str):
        data = _bytes(value)
        return None if data is None else data.decode()
    if type(value) is int and not -_INT64 <= value < _INT64:
        return None
    return value


def failed(rows: Rows, evidence: Evidence, error: Mapping[str, JsonValue], limit: int) -> str:
    """The one row of an attempt that no trajectory could be built of; returns its run."""
    sink = RunRows(rows, evidence, None, limit)
    told: JsonObject = dict(error)
    sink.begin(Header())
    sink.end(Summary(TrajectoryStatus.FAILED, error=told))
    return sink.run
