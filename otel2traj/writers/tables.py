"""Flat Parquet tables for pandas, DuckDB and Polars; nested values are JSON text. Needs the extra `[parquet]`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO

from ..canonical import JsonObject, JsonValue, dumps
from ..errors import UsageError
from ..model.trajectory import Header, Step, StepKind, StepSink, Summary
from ..outcome import Outcome, OutcomeReader
from .chat_messages import calls_of
from .jsonstream import text_of

Row = dict[str, Any]
_BATCH_ROWS, _BATCH_BYTES = 5_000, 8 << 20

_RUN = (("run_id", "string"), ("case_id", "string"))
STEP_COLUMNS = (
    ("step_id", "int64"),
    ("input_ordinal", "string"),
    ("agent_name", "string"),
    ("kind", "string"),
    ("source", "string"),
    ("started_at", "string"),
    ("ended_at", "string"),
    ("model", "string"),
    ("purpose", "string"),
    ("status", "string"),
    ("text", "string"),
    ("reasoning", "string"),
    ("finish_reason", "string"),
    ("tool_calls", "int64"),
    ("input_tokens", "int64"),
    ("output_tokens", "int64"),
    ("cache_read_input_tokens", "int64"),
    ("cache_creation_input_tokens", "int64"),
    ("reasoning_output_tokens", "int64"),
    ("interaction_id", "string"),
    ("request_sha256", "string"),
    ("response_sha256", "string"),
)
_STEPS = (*_RUN, *STEP_COLUMNS, ("input", "string"), ("output", "string"), ("evidence", "string"))
LOG_COLUMNS = (
    ("step_id", "int64"),
    ("position", "int64"),
    ("tool_call_id", "string"),
    ("tool_name", "string"),
    ("execution_status", "string"),
    ("link", "string"),
    ("exit_code", "int64"),
    ("signal", "string"),
    ("input_arguments", "string"),
    ("outputs", "string"),
)
_LOGS = (*_RUN, *LOG_COLUMNS, ("evidence", "string"))
LINK_COLUMNS = (
    ("relation", "string"),
    ("step_id", "int64"),
    ("tool_call_id", "string"),
    ("status", "string"),
    ("rule", "string"),
    ("target", "string"),
)
_LINKS = (*_RUN, *LINK_COLUMNS)
SOURCE_COLUMNS = (("path", "string"), ("sha256", "string"))
_SOURCES = (*_RUN, *SOURCE_COLUMNS)

INPUT_COLUMNS = (
    ("input_ordinal", "string"),
    ("input_id", "string"),
    ("first_step", "int64"),
    ("last_step", "int64"),
    ("ended", "string"),
    ("stop_reason", "string"),
    ("error_code", "string"),
    ("error_message", "string"),
    ("prompt", "string"),
    ("result", "string"),
    ("file_changes", "int64"),
    ("changed_paths", "string"),
)
_INPUTS = (*_RUN, *INPUT_COLUMNS)
FAILURE_COLUMNS = (
    ("position", "int64"),
    ("kind", "string"),
    ("code", "string"),
    ("message", "string"),
    ("step_id", "int64"),
    ("input_ordinal", "string"),
    ("agent_name", "string"),
    ("model", "string"),
    ("tool_name", "string"),
    ("tool_call_id", "string"),
    ("http_status", "int64"),
    ("exit_code", "int64"),
    ("signal", "string"),
    ("recovered", "bool_"),
    ("pointer", "string"),
    ("stack", "string"),
    ("records", "string"),
)
_FAILURES = (*_RUN, *FAILURE_COLUMNS)

_LARGE = {"input", "output", "text", "reasoning", "evidence", "input_arguments", "outputs", "prompt", "result", "stack"}
"""Columns of long values, for which a dictionary would only take memory."""

Columns = tuple[tuple[str, str], ...]


class ParquetTable:
    """One table. `losses` are the same for all, because together they are the export."""

    suffix = ".parquet"
    losses = (
        "Coverage, warnings, diffs of files, and the header but for run and case.",
        "Nested values are JSON text, to be read with the engine's JSON functions.",
        "In `links`, candidates of an ambiguous link are one row each; a link that is none has no row.",
    )

    def __init__(
        self,
        name: str,
        title: str,
        columns: Columns,
        of_step: Callable[[Step], list[Row]] | None,
        of_summary: Callable[[Summary, Outcome], list[Row]] | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.columns = columns
        self.of_step = of_step
        self.of_summary = of_summary

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(self, out)


class _Sink:
    def __init__(self, table: ParquetTable, out: BinaryIO) -> None:
        try:
            pyarrow = import_module("pyarrow")
            self._parquet: Any = import_module("pyarrow.parquet")
        except ImportError as err:
            raise UsageError(
                "Parquet needs pyarrow, which is not installed", hint="pip install 'otel2traj[parquet]'"
            ) from err
        self._arrow: Any = pyarrow
        self._table = table
        self._out = out
        self._schema: Any = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in table.columns])
        self._small = [name for name, _ in table.columns if name not in _LARGE]
        self._rows: list[Row] = []
        self._held = 0
        self._outcome = OutcomeReader()

    def begin(self, header: Header) -> None:
        self._outcome.begin(header)
        self._writer: Any = self._parquet.ParquetWriter(
            self._out, self._schema, compression="zstd", use_dictionary=self._small
        )
        self._run: Row = {"run_id": header.run_id, "case_id": header.case_id}

    def step(self, step: Step) -> None:
        if self._table.of_step is not None:
            self._add(self._table.of_step(step))
        if self._table.of_summary is not None:
            self._outcome.step(step)

    def end(self, summary: Summary) -> None:
        if self._table.of_summary is not None:
            self._outcome.end(summary)
            self._add(self._table.of_summary(summary, self._outcome.outcome))
        self._flush()
        self._writer.close()

    def _add(self, rows: list[Row]) -> None:
        for row in rows:
            self._rows.append({**self._run, **row})
            self._held += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= _BATCH_ROWS or self._held >= _BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._held = [], 0


def _json(value: JsonValue) -> str | None:
    return None if value is None else dumps(value).decode("utf-8", "surrogatepass")


def _text(value: JsonValue) -> str | None:
    return None if value is None else text_of(value)


def _count(usage: JsonValue, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) else None


def _step_rows(step: Step) -> list[Row]:
    nested = {"input": _json(step.input), "output": _json(step.output), "evidence": _json(step.evidence)}
    return [{**step_row(step), **nested}]


def step_row(step: Step) -> Row:
    """The cells of `STEP_COLUMNS`."""
    names = ("step_id", "input_ordinal", "agent_name", "kind", "source", "started_at", "ended_at", "model", "purpose")
    row: Row = {name: getattr(step, name) for name in names}
    usage, output, evidence = step.output.get("usage"), step.output, step.evidence
    row["status"] = step.status
    for key in ("text", "reasoning", "finish_reason"):
        row[key] = _text(output.get(key))
    row["tool_calls"] = len(calls_of(output)) if step.kind is StepKind.MODEL else None
    for key, _ in STEP_COLUMNS:
        if key.endswith("_tokens"):
            row[key] = _count(usage, key)
    for key in ("interaction_id", "request_sha256", "response_sha256"):
        row[key] = _text(evidence.get(key))
    return row


def _log_rows(step: Step) -> list[Row]:
    rows = log_rows(step)
    return [{**row, "evidence": _json(log.evidence)} for row, log in zip(rows, step.tool_logs, strict=True)]


def log_rows(step: Step) -> list[Row]:
    """The cells of `LOG_COLUMNS`, one row a tool log."""
    rows: list[Row] = []
    for position, log in enumerate(step.tool_logs):
        status: JsonObject = log.exit_status if log.exit_status is not None else {}
        code = status.get("exitCode")
        rows.append(
            {
                "step_id": step.step_id,
                "position": position,
                "tool_call_id": log.tool_call_id,
                "tool_name": log.tool_name,
                "execution_status": log.execution_status,
                "link": log.link,
                "exit_code": code if isinstance(code, int) else None,
                "signal": _text(status.get("signal")),
                "input_arguments": _json(log.input_arguments),
                "outputs": _text(log.outputs),
            }
        )
    return rows


def link_rows(step: Step) -> list[Row]:
    """Wire to framework by the rule that joined them; call to execution; inferences, by their own name."""
    rows: list[Row] = []
    if step.evidence.get("join") is not None:
        rule, target = step.evidence["join"], step.evidence.get("framework_span_id")
        rows.append({"relation": "model_call", "status": "exact", "rule": _text(rule), "target": _text(target)})
    for log in step.tool_logs:
        base: Row = {"relation": "tool_call", "tool_call_id": log.tool_call_id, "status": log.link}
        candidates = log.evidence.get("candidates")
        inferred = log.evidence.get("inferred")
        if log.link == "exact":
            target = log.evidence.get("framework_span_id", log.evidence.get("interaction_id"))
            rows.append({**base, "rule": _text(log.evidence.get("link_rule")), "target": _text(target)})
        for candidate in candidates if isinstance(candidates, list) else []:
            rows.append({**base, "target": _text(candidate)})
        if isinstance(inferred, dict):
            target = inferred.get("interaction_id")
            told = {"status": "inferred", "rule": _text(inferred.get("rule")), "target": _text(target)}
            rows.append({**base, **told})
    return [{"step_id": step.step_id, **row} for row in rows]


def source_rows(summary: Summary) -> list[Row]:
    return [{"path": source.get("path"), "sha256": source.get("sha256")} for source in summary.sources]


def _source_rows(summary: Summary, _: Outcome) -> list[Row]:
    return source_rows(summary)


def input_rows(summary: Summary, outcome: Outcome) -> list[Row]:
    """One row an Input: what was asked, how it ended and with which error, which files it changed."""
    rows: list[Row] = []
    for item, end in zip(summary.inputs, outcome.inputs, strict=True):
        first, last = (item.step_range[0], item.step_range[-1]) if item.step_range else (None, None)
        rows.append(
            {
                "input_ordinal": item.ordinal,
                "input_id": item.input_id,
                "first_step": first,
                "last_step": last,
                "ended": str(end.status),
                "stop_reason": end.stop_reason,
                "error_code": None if end.error is None else end.error.code,
                "error_message": None if end.error is None else end.error.message,
                "prompt": _text(item.prompt),
                "result": _json(item.result),
                "file_changes": len(item.file_changes),
                "changed_paths": _json([change.get("path") for change in item.file_changes]),
            }
        )
    return rows


def failure_rows(summary: Summary, outcome: Outcome) -> list[Row]:
    """One row a recorded failure, in recorded order."""
    same = ("code", "message", "step_id", "input_ordinal", "model", "tool_call_id", "http_status", "exit_code")
    return [
        {
            "position": position,
            "kind": str(one.kind),
            **{name: getattr(one, name) for name in (*same, "signal", "recovered", "pointer", "stack")},
            "agent_name": one.agent,
            "tool_name": one.tool,
            "records": _json(list(one.records)),
        }
        for position, one in enumerate(outcome.failures)
    ]


PARQUET_STEPS = ParquetTable("parquet-steps", "Parquet table of steps, one row each.", _STEPS, _step_rows)
PARQUET_TOOL_LOGS = ParquetTable("parquet-tool-logs", "Parquet table of tool logs.", _LOGS, _log_rows)
PARQUET_LINKS = ParquetTable("parquet-links", "Parquet table of links and inferences.", _LINKS, link_rows)
PARQUET_SOURCES = ParquetTable("parquet-sources", "Parquet table of sources.", _SOURCES, None, _source_rows)
PARQUET_INPUTS = ParquetTable("parquet-inputs", "Parquet table of Inputs.", _INPUTS, None, input_rows)
PARQUET_FAILURES = ParquetTable(
    "parquet-failures", "Parquet table of recorded failures.", _FAILURES, None, failure_rows
)
