"""The exporters that an OpenTelemetry SDK finds under the name `otel2traj`: spans and logs into local attempts."""

from __future__ import annotations

from pathlib import Path

from .capture.sdk import JournalLogExporter, JournalSpanExporter


def _build(path: Path) -> None:
    from .api.receive import build_attempt

    build_attempt(path)


class Otel2TrajSpanExporter(JournalSpanExporter):
    """`OTEL_TRACES_EXPORTER=otel2traj`. Keyword settings (`out`, `sync`, `build`, `attempt_id`) come from a declarative
    configuration; what is not given comes from `OTEL2TRAJ_OUT` and so on."""

    build = staticmethod(_build)


class Otel2TrajLogExporter(JournalLogExporter):
    """`OTEL_LOGS_EXPORTER=otel2traj`, with the same settings."""

    build = staticmethod(_build)
