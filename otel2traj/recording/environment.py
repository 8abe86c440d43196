"""The variables that a recorded command gets. What the user set stays; base URLs alone are led through the proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SWITCHES: Final = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "TRACELOOP_TRACE_CONTENT": "true",
    "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED": "true",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": "true",
    "ENABLE_SENSITIVE_DATA": "true",
}
"""Content switches of instrumentations; without them spans hold lengths and names only."""


def telemetry(http: str, attempt: str, env: Mapping[str, str]) -> dict[str, str]:
    """The OpenTelemetry variables for an endpoint, but for those that `env` sets itself."""
    wanted = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "OTEL_BLRP_SCHEDULE_DELAY": "200",
        **SWITCHES,
    }
    out = {name: value for name, value in wanted.items() if name not in env}
    own = f"otel2traj.attempt.id={attempt}"
    given = env.get("OTEL_RESOURCE_ATTRIBUTES")
    if given is None or "otel2traj.attempt.id=" not in given:
        out["OTEL_RESOURCE_ATTRIBUTES"] = own if not given else f"{given},{own}"
    return out
