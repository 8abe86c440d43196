"""Log records with a model call's messages that carry no recorded span's id: tied by another identifier, or told of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .. import dialects
from ..evidence import Index
from ..model.evidence import LogRecord, Notice
from ..model.heads import Part, SpanHead
from ..model.reading import Role
from .archive import Archive


def place_loose_logs(archive: Archive, index: Index) -> dict[str, int]:
    """Gives each such record to the one call that it can be of; how many are left over, by source.

    A record is of the call whose response id it bears, or of the only call of its own instrumentor in its trace, where
    the records of that trace hold one answer. What several calls could have said is given to none.
    """
    groups: dict[tuple[str, str], list[LogRecord]] = {}
    left: Counter[str] = Counter()
    loose = list(_loose(archive, index))
    if not loose:
        return left
    answers, models = _heads(index)
    for log in loose:
        response_id = log.attributes.get("gen_ai.response.id")
        named = answers.get(response_id, []) if isinstance(response_id, str) else []
        if len(named) == 1:
            _give(index, log, named[0])
        elif log.trace_id is None:
            left[log.ref.source] += 1
        else:
            groups.setdefault((log.trace_id, log.scope_name), []).append(log)
    for key, logs in groups.items():
        found = models.get(key, [])
        if len(found) == 1 and not found[0].has_output and dialects.one_answer(logs):
            for log in logs:
                _give(index, log, found[0])
        else:
            left.update(log.ref.source for log in logs)
    return left


def notices_of(left: dict[str, int], index: Index) -> Iterator[Notice]:
    """What was left over. Content was lost only where a call is without it: the wire, or a span, may tell it all."""
    calls = [head for head in index.span_heads() if head.role is Role.MODEL_CALL]
    lossy = not index.wires and not all(map(_told_whole, calls))
    for source, count in left.items():
        message = f"{count} log records hold messages of model calls and bear no id of a recorded call: in no step"
        yield Notice("unplaced_log_records", message, source, lossy=lossy)


def _loose(archive: Archive, index: Index) -> Iterator[LogRecord]:
    """Records with a call's messages that name no span, or one that is not recorded or is no part of a trajectory."""
    recorded = {(head.trace_id or "", head.span_id): head.role for head in index.otel.values()}
    for key, parts in list(index.span_logs.items()):
        if recorded.get(key, Role.NONE) not in (Role.NONE, Role.CHAIN):
            continue
        logs = [log for part in parts if isinstance(log := archive.fetch(part.ref), LogRecord)]
        found = [log for log in logs if dialects.holds_messages(log)]
        if found:
            refs = {log.ref for log in found}
            index.span_logs[key] = [part for part in parts if part.ref not in refs]
            yield from found
    for part in index.loose_logs:
        log = archive.fetch(part.ref)
        if isinstance(log, LogRecord):
            yield log


def _heads(index: Index) -> tuple[dict[str, list[SpanHead]], dict[tuple[str, str], list[SpanHead]]]:
    """Model spans by their response id, and by their trace and scope."""
    answers: dict[str, list[SpanHead]] = {}
    models: dict[tuple[str, str], list[SpanHead]] = {}
    for head in index.otel.values():
        if head.role is Role.MODEL_CALL:
            if head.response_id is not None:
                answers.setdefault(head.response_id, []).append(head)
            if head.trace_id is not None:
                models.setdefault((head.trace_id, head.scope), []).append(head)
    return answers, models


def _told_whole(head: SpanHead) -> bool:
    """Whether a call has its answer and the messages it was sent."""
    return head.has_output and head.said is not None and head.said.history is not None


def _give(index: Index, log: LogRecord, head: SpanHead) -> None:
    index.span_logs.setdefault((head.trace_id or "", head.span_id), []).append(Part("log", log.ref))
