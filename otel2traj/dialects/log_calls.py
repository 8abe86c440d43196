"""Log records that tell of a span's own call fill what its attributes and events left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Reading, Role
from .base import LogDialect
from .bedrock_agentcore_adot import content, read_moved_content
from .front import merge


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


def _tells_of(dialect: LogDialect, log: LogRecord, role: Role) -> bool:
    if not dialect.recognises(log):
        return False
    found = dialect.classify(log)
    return found is not None and found.role is role
