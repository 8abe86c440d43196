"""Steps to files: the trajectory itself and the formats other tools read."""

from __future__ import annotations

from ..registry import Registry
from .atif import Atif
from .base import Writer
from .chat_rows import OpenAIChatRows, TrlRows
from .forensic import AgentVForensic
from .inspect_log import InspectLog
from .ledger import TrajectoryLedger
from .otlp import OtlpJson
from .steps_jsonl import StepsJsonl
from .tables import (
    PARQUET_FAILURES,
    PARQUET_INPUTS,
    PARQUET_LINKS,
    PARQUET_SOURCES,
    PARQUET_STEPS,
    PARQUET_TOOL_LOGS,
)
from .traceelephant import TraceElephantMetadata, TraceElephantSteps
from .trajectory import TrajectoryWriter

WRITERS: Registry[Writer] = Registry(
    "writer",
    TrajectoryWriter(),
    StepsJsonl(),
    TrajectoryLedger(),
    AgentVForensic(),
    Atif(),
    OpenAIChatRows(),
    TrlRows(),
    InspectLog(),
    TraceElephantSteps(),
    TraceElephantMetadata(),
    PARQUET_STEPS,
    PARQUET_TOOL_LOGS,
    PARQUET_LINKS,
    PARQUET_SOURCES,
    PARQUET_INPUTS,
    PARQUET_FAILURES,
    OtlpJson(),
)

FOLDERS: dict[str, dict[str, str]] = {
    "traceelephant": {"step_records.json": "traceelephant-steps", "trace_metadata.json": "traceelephant-metadata"},
    "parquet": {
        "steps.parquet": "parquet-steps",
        "tool_logs.parquet": "parquet-tool-logs",
        "links.parquet": "parquet-links",
        "sources.parquet": "parquet-sources",
        "inputs.parquet": "parquet-inputs",
        "failures.parquet": "parquet-failures",
    },
}
"""Formats that are several files: file name -> writer, all fed in one pass."""
