"""Every answer the receiver can give, in one table, and its body in the encoding of the request.

https://opentelemetry.io/docs/specs/otlp/#otlphttp-response and #failures: the body of an error is a google.rpc.Status;
only 429, 502, 503, 504 (gRPC: UNAVAILABLE, or RESOURCE_EXHAUSTED with RetryInfo) are sent again by clients.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from .. import canonical
from .check import Checked
from .segments import Content, Signal


class Answer(NamedTuple):
    """HTTP status, google.rpc code (the gRPC status too), and whether the client shall try again."""

    http: int
    rpc: int
    retry: bool


class Outcome(Enum):
    OK = Answer(200, 0, False)
    BAD_BODY = Answer(400, 3, False)
    NO_TOKEN = Answer(401, 16, False)
    WRONG_HOST = Answer(403, 7, False)
    NO_SUCH_PATH = Answer(404, 5, False)
    NOT_ALLOWED = Answer(405, 12, False)
    TOO_SLOW = Answer(408, 4, False)
    TOO_LARGE = Answer(413, 8, False)
    UNKNOWN_TYPE = Answer(415, 3, False)
    LARGE_HEAD = Answer(431, 8, False)
    TOO_MANY = Answer(429, 8, True)
    BUG = Answer(500, 13, False)
    BUSY = Answer(503, 14, True)


class Refusal(Exception):
    """A request that is not accepted, why, and when to try again (seconds)."""

    def __init__(self, outcome: Outcome, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.retry_after = retry_after if outcome.value.retry else None


MEDIA_TYPES: Final = {Content.PROTOBUF: b"application/x-protobuf", Content.JSON: b"application/json"}
_REJECTED: Final = {
    Signal.TRACES: "rejectedSpans",
    Signal.LOGS: "rejectedLogRecords",
    Signal.METRICS: "rejectedDataPoints",
}
_TYPE_URL: Final = "type.googleapis.com/google.rpc."
_MESSAGE_LIMIT: Final = 2000


def success_body(signal: Signal, content: Content, checked: Checked) -> bytes:
    """The Export response: partial_success is unset unless items were rejected."""
    if checked.rejected == 0:
        return b"" if content is Content.PROTOBUF else b"{}"
    if content is Content.JSON:
        partial = {_REJECTED[signal]: str(checked.rejected), "errorMessage": checked.message}
        return canonical.dumps({"partialSuccess": partial})
    # all three responses have the same layout: partial_success = 1 { rejected = 1, error_message = 2 }
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = checked.rejected
    response.partial_success.error_message = checked.message
    return response.SerializeToString()


def error_body(content: Content, refusal: Refusal) -> bytes:
    """google.rpc.Status with a BadRequest or RetryInfo detail."""
    if content is Content.PROTOBUF:
        return bytes(rpc_status(refusal).SerializeToString())
    status: dict[str, Any] = {"code": refusal.outcome.value.rpc, "message": refusal.message[:_MESSAGE_LIMIT]}
    if refusal.outcome is Outcome.BAD_BODY:
        violation = {"field": "body", "description": refusal.message[:_MESSAGE_LIMIT]}
        status["details"] = [{"@type": _TYPE_URL + "BadRequest", "fieldViolations": [violation]}]
    elif refusal.retry_after is not None:
        status["details"] = [{"@type": _TYPE_URL + "RetryInfo", "retryDelay": f"{refusal.retry_after}s"}]
    return canonical.dumps(status)


def rpc_status(refusal: Refusal) -> Any:
    """The google.rpc.Status message."""
    from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

    status = status_pb2.Status(code=refusal.outcome.value.rpc, message=refusal.message[:_MESSAGE_LIMIT])
    if refusal.outcome is Outcome.BAD_BODY:
        bad = error_details_pb2.BadRequest()
        bad.field_violations.add(field="body", description=refusal.message[:_MESSAGE_LIMIT])
        status.details.add().Pack(bad)
    elif refusal.retry_after is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.seconds = refusal.retry_after
        status.details.add().Pack(retry)
    return status
