"""Log records that tell of a span's own call fill what its attributes and events left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Reading, Role
from .base import LogDialect
from .bedrock_agentcore_adot import content, read_moved_content
from .front import merge
from .otel_genai_1_37 import DETAILS, MESSAGE_KEYS
from .otel_genai_events import CHOICE, EVENTS, index_of, log_events


def fill_from_logs(
    reading: Reading, span: SpanRecord, logs: Sequence[LogRecord], dialects: Iterable[LogDialect]
) -> None:
    """Merges what log dialects say of the same call, and content that a distribution moved off the span.

    `logs` are the records that carry the span's ids, and those whose own key is the span's `log_key`.
    """
    if not logs or reading.role not in (Role.MODEL_CALL, Role.TOOL_EXECUTION, Role.AGENT, Role.CHAIN):
        return
    for dialect in dialects:
        own = [log for log in logs if _tells_of(dialect, log, reading.role)]
        if own:
            merge(reading, dialect.read(own), span)
    moved = [body for body in map(content, logs) if body is not None]
    if moved:
        merge(reading, read_moved_content(reading.role, moved), span)


def holds_messages(log: LogRecord) -> bool:
    """Whether a record holds messages of a model call under the conventions' names, whoever wrote it."""
    if log.event_name in EVENTS:
        return bool(log.body) or any(not key.startswith("gen_ai.") for key in log.attributes)
    if log.event_name in DETAILS:
        return any(log.attributes.get(key) is not None for key in MESSAGE_KEYS)
    return content(log) is not None


def one_answer(logs: Sequence[LogRecord]) -> bool:
    """Whether records can all be of one call: one record of the whole call, or no choice told twice."""
    whole = sum(log.event_name not in EVENTS for log in logs)
    choices = [index_of(event.said, 0) for event in log_events(logs) if event.name == CHOICE]
    return (whole == 1 and len(logs) == 1) or (whole == 0 and len(choices) == len(set(choices)))


def _tells_of(dialect: LogDialect, log: LogRecord, role: Role) -> bool:
    if not dialect.recognises(log):
        return False
    found = dialect.classify(log)
    return found is not None and found.role is role
