"""The tables of a data set: the one place where their columns are declared.

Every table but `texts` has `run`, which names one trajectory of one attempt, and is partitioned by `day`, the UTC day
of the run's first step. A column of kind `text` is three: the text where it is short (`INLINE_BYTES`), the SHA-256 of
its UTF-8 bytes, and their number; a longer text stands once in `texts`, under its digest. Times are UTC, costs US
dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..writers.tables import (
    FAILURE_COLUMNS,
    INPUT_COLUMNS,
    LINK_COLUMNS,
    LOG_COLUMNS,
    SOURCE_COLUMNS,
    STEP_COLUMNS,
    Columns,
)

SCHEMA: Final = "otel2traj.dataset.v1"
"""Raised with any change of a column; a data set of another version is not mixed with this one."""

INLINE_BYTES: Final = 1024
NO_DAY: Final = "__HIVE_DEFAULT_PARTITION__"
"""The partition of runs without a readable time, by the name that engines read as NULL."""

_ARROW_OF: Final = {"bool_": "bool"}
_TIMES: Final = {"started_at": "time", "ended_at": "time"}
_SPOKEN: Final = ("text", "reasoning")

RUNS: Final[Columns] = (
    ("root", "string"),
    ("attempt", "string"),
    ("conversation", "string"),
    ("run_id", "string"),
    ("case_id", "string"),
    ("agent_id", "string"),
    ("framework", "string"),
    ("status", "string"),
    ("error_type", "string"),
    ("error", "string"),
    ("ended", "string"),
    ("ended_said_by", "string"),
    ("started_at", "time"),
    ("ended_at", "time"),
    ("inputs", "int64"),
    ("model_calls", "int64"),
    ("tool_calls", "int64"),
    ("file_changes", "int64"),
    ("ambiguous_links", "int64"),
    ("unlinked_tool_calls", "int64"),
    ("unobserved_tool_executions", "int64"),
    ("inferred_links", "int64"),
    ("failures", "int64"),
    ("warnings", "int64"),
    ("evidence_sha256", "string"),
    ("evidence_bytes", "int64"),
    ("trajectory_sha256", "string"),
    ("trajectory_bytes", "int64"),
)
"""One row a trajectory. `status` is the trajectory's; `ended` is how the run ended, by what was recorded of its end.
`trajectory_sha256` is the digest of the file that `otel2traj build` writes for it."""

STEPS: Final[Columns] = (
    *((name, _TIMES.get(name, kind)) for name, kind in STEP_COLUMNS if name not in _SPOKEN),
    ("duration_s", "float64"),
    ("cost_usd", "float64"),
    ("cost_unknown", "string"),
    ("message_ids", "ids"),
    ("answer_id", "int32"),
    ("history_bytes", "int64"),
    ("trace_id", "string"),
)
"""One row a step. `message_ids` are the messages that the model received, in order, and `answer_id` what it answered,
as rows of `messages`; `history_bytes` is the text of all it received. `cost_unknown` says why there is no cost."""

MESSAGES: Final[Columns] = (
    ("message_id", "int32"),
    ("part", "int32"),
    ("step_id", "int64"),
    ("direction", "string"),
    ("role", "string"),
    ("kind", "string"),
    ("text", "text"),
    ("tool_call_id", "string"),
    ("tool_name", "string"),
    ("is_error", "bool"),
)
"""One row for each part of a message. A message that a run repeats stands once, with the step that has it first.
`direction` is `system`, `input` or `output`; `text` of a call are its arguments, of a result the answer, and of media
and unknown parts what was recorded."""

TOOL_CALLS: Final[Columns] = (
    *((name, "text" if name in ("input_arguments", "outputs") else kind) for name, kind in LOG_COLUMNS),
    ("agent_name", "string"),
    ("model", "string"),
    ("started_at", "time"),
    ("ended_at", "time"),
    ("duration_s", "float64"),
)
"""One row for each tool log of a step: an execution, or the fact that none was observed."""

_LONG: Final = frozenset({"message", "stack", "records", "error_message", "prompt", "result", "changed_paths"})
FAILURES: Final[Columns] = tuple(
    (name, "text" if name in _LONG else _ARROW_OF.get(kind, kind)) for name, kind in FAILURE_COLUMNS
)
"""Every recorded failure of a run in recorded order, as `otel2traj.outcome` reads it. `recovered`: whether the run went
on from it; null where that is not known."""

INPUTS: Final[Columns] = tuple((name, "text" if name in _LONG else kind) for name, kind in INPUT_COLUMNS)
"""One row for each prompt that was sent to the agent, and how it ended."""

TABLES: Final[Mapping[str, Columns]] = {
    "runs": RUNS,
    "steps": STEPS,
    "messages": MESSAGES,
    "tool_calls": TOOL_CALLS,
    "links": LINK_COLUMNS,
    "inputs": INPUTS,
    "failures": FAILURES,
    "warnings": (("position", "int64"), ("code", "string"), ("message", "text")),
    "sources": SOURCE_COLUMNS,
}
TEXTS: Final = "texts"
TEXT_COLUMNS: Final[Columns] = (("sha256", "string"), ("bytes", "int64"), ("text", "string"))

_ARROW: Final = {"time": "timestamp[us, tz=UTC]", "ids": "list<int32>"}


def columns(table: str) -> list[tuple[str, str]]:
    """The columns of a table as they are stored: (name, the name of its Arrow type)."""
    if table == TEXTS:
        return list(TEXT_COLUMNS)
    out = [("run", "string")]
    for name, kind in TABLES[table]:
        if kind == "text":
            out += [(name, "string"), (f"{name}_sha256", "string"), (f"{name}_bytes", "int64")]
        else:
            out.append((name, _ARROW.get(kind, kind)))
    return out


def text_columns(table: str) -> list[str]:
    """The columns of a table that are of kind `text`."""
    return [name for name, kind in TABLES[table] if kind == "text"]
