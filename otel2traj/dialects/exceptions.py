"""What any span may say of its own failure, whatever its dialect: exception type, stack, HTTP status.

https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/exceptions/exceptions-spans.md and
https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/general/recording-errors.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..messages.nested import decode
from ..model.evidence import SpanEvent, SpanRecord
from ..model.reading import Reading

STATUS_ERROR: Final = 2
_HTTP: Final = ("http.response.status_code", "http.status_code", "status_code")
EXPORTED: Final = "otel2traj.failure"
"""JSON: the failure of a step or an execution, or `{"result"}` of an Input, as the trajectory has it that was written
as OTLP."""
CONTROL_FLOW: Final = frozenset(
    {"ParentCommand", "GraphInterrupt", "NodeInterrupt", "GraphBubbleUp", "GraphDelegate", "GeneratorExit"}
)
"""Classes that a framework raises to hand control on: https://github.com/langchain-ai/langgraph/blob/1.0.4/libs/langgraph/langgraph/errors.py."""


def put_exception(reading: Reading, span: SpanRecord) -> None:
    """Fills `error_type`, `stack` and `http_status` of a reading of a span that failed, and `failure` of one that was
    exported from a trajectory."""
    attributes = span.attributes
    if EXPORTED in attributes:
        told_whole = decode(attributes[EXPORTED], repair=False).value
        reading.failure = told_whole if isinstance(told_whole, dict) else None
    if span.status_code != STATUS_ERROR and not span.events and "error.type" not in attributes:
        return
    event = exception_event(span)
    if event is None and span.status_code != STATUS_ERROR and "error.type" not in attributes:
        return
    told = event.attributes if event is not None else {}
    if reading.error_type is None:
        reading.error_type = _text(told, "exception.type") or _text(attributes, "error.type")
    if reading.stack is None:
        reading.stack = _text(told, "exception.stacktrace")
    if reading.http_status is None:
        statuses = (attributes.get(key) for key in _HTTP)
        reading.http_status = next((code for code in statuses if type(code) is int and code >= 400), None)


def exception_event(span: SpanRecord) -> SpanEvent | None:
    """The last exception that a span recorded: an SDK writes it once more where it leaves the span."""
    return next((event for event in reversed(span.events) if event.name == "exception"), None)


def is_control_flow(error_type: str | None) -> bool:
    """Whether what a span ended in is no error but a hand-over, an interrupt, or a generator that was let go."""
    return error_type is not None and error_type.rpartition(".")[2] in CONTROL_FLOW


def _text(attributes: Mapping[str, Any], key: str) -> str | None:
    value = attributes.get(key)
    return value if isinstance(value, str) and value else None
