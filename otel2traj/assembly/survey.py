"""Evidence to a survey of it: what was found, what is missing, and which switch would have recorded it."""

from __future__ import annotations

from collections import Counter

from .. import dialects
from ..canonical import JsonObject
from ..model.evidence import SpanRecord
from ..model.heads import Recorder, SpanHead
from ..model.link import LinkStatus
from ..model.reading import Role
from .session import BuildSession


def survey(session: BuildSession) -> JsonObject:
    """Files with their forms, dialects, spans by role, and per dialect what its calls lack."""
    index, archive = session.index, session.archive
    heads = list(index.span_heads())
    roles: Counter[str] = Counter()
    per_dialect: dict[str, Counter[str]] = {}
    for head in heads:
        roles[head.role] += 1
        for name in head.dialects[:1]:
            per_dialect.setdefault(name, Counter())[head.role] += 1
    scopes = Counter(head.scope for head in heads if head.scope)
    return {
        "layout": session.attempt.layout,
        "files": [
            {
                "path": source.path,
                "kind": source.kind,
                "form": archive.form(source),
                "bytes": source.size,
                "sha256": source.sha256,
            }
            for source in archive.sources()
        ],
        "conversations": [
            {
                "name": part.name,
                "wire_calls": len(part.wires),
                "model_spans": sum(head.role is Role.MODEL_CALL for head in part.heads),
                "tool_spans": sum(head.role is Role.TOOL_EXECUTION for head in part.heads),
                "inputs": len(part.documents.inputs),
            }
            for part in session.conversations
        ],
        "wire_calls": len(index.wires),
        "spans": index.counts["spans"],
        "logs": index.counts["logs"],
        "roles": dict(sorted(roles.items())),
        "dialects": {name: dict(sorted(found.items())) for name, found in sorted(per_dialect.items())},
        "scopes": dict(sorted(scopes.items())),
        "counts": dict(sorted(index.counts.items())),
        **_pairing(session),
        "unmapped_attributes": _unmapped(session, heads),
        "unknown_scopes": _unknown(session, heads),
        "missing": _missing(session, heads),
        "notices": sorted({notice.render() for notice in [*index.notices, *archive.notices]}),
    }


def _pairing(session: BuildSession) -> JsonObject:
    """Joins of wire calls with spans and links of tool calls with executions, counted by rule; what is not exact by
    its status, with the respects in which records contradict each other."""
    joins: Counter[str] = Counter()
    links: Counter[str] = Counter()
    contradicted: Counter[str] = Counter()
    for conversation in session.conversations:
        plan = session.plan(conversation)
        for call in plan.calls():
            joins[call.join or ("wire alone" if call.wire is not None else "span alone")] += 1
        for link in (link for found in plan.links.values() for link in found):
            links[link.rule or link.status] += 1
            if link.status is LinkStatus.AMBIGUOUS:
                contradicted.update({word for witness in link.witnesses for word in witness.contradictions()})
    counted = {"joins": joins, "links": links, "contradicted": contradicted}
    return {name: dict(sorted(found.items())) for name, found in counted.items()}


def _unmapped(session: BuildSession, heads: list[SpanHead]) -> JsonObject:
    """Attributes in known namespaces that no dialect reads, with how many model and tool spans carry each."""
    found: Counter[str] = Counter()
    for head in heads:
        if head.recorder is Recorder.OTEL and head.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION):
            span = session.archive.fetch(head.parts[0].ref)
            if isinstance(span, SpanRecord):
                found.update(dialects.unmapped_keys(span))
    return dict(sorted(found.items()))


def _unknown(session: BuildSession, heads: list[SpanHead]) -> list[JsonObject]:
    """Spans that no dialect recognises, by scope, with what a dialect for them would be told by: how often each span
    name, attribute name and event name stands there."""
    found: dict[tuple[str, str], tuple[Counter[str], Counter[str], Counter[str]]] = {}
    for head in heads:
        if head.recorder is not Recorder.OTEL or head.dialects:
            continue
        span = session.archive.fetch(head.parts[0].ref)
        if isinstance(span, SpanRecord):
            told = found.setdefault((span.scope_name, span.scope_version), (Counter(), Counter(), Counter()))
            told[0][span.name] += 1
            told[1].update(dict.fromkeys(map(dialects.fold, span.attributes), 1))
            told[2].update({event.name: 1 for event in span.events})
    return [
        {
            "scope": scope,
            "version": version,
            "spans": names.total(),
            "names": dict(sorted(names.items())),
            "attributes": dict(sorted(attributes.items())),
            "events": dict(sorted(events.items())),
        }
        for (scope, version), (names, attributes, events) in sorted(found.items())
    ]


def _missing(session: BuildSession, heads: list[SpanHead]) -> list[JsonObject]:
    """What calls and executions lack, grouped by dialect, with the switch that the dialect names for it."""
    lacks: dict[str, Counter[str]] = {}
    totals: dict[str, Counter[str]] = {}
    for head in heads:
        if head.role not in (Role.MODEL_CALL, Role.TOOL_EXECUTION) or not head.dialects:
            continue
        name = head.dialects[0]
        reading = session.readings.of(head)
        totals.setdefault(name, Counter())[head.role] += 1
        found = lacks.setdefault(name, Counter())
        if head.role is Role.MODEL_CALL:
            found["input messages"] += reading.messages is None
            found["output"] += not reading.has_output() and not head.failed
            found["usage"] += reading.usage is None
            found["response id"] += reading.response_id is None
        else:
            found["tool call id"] += reading.tool_call_id is None
            found["arguments"] += reading.arguments is None
            found["result"] += reading.result is None and not head.failed
    described = {dialect.name: dialect for dialect in dialects.known().all()}
    out: list[JsonObject] = []
    for name in sorted(lacks):
        for what, count in sorted(lacks[name].items()):
            if count:
                role = Role.MODEL_CALL if what in _OF_MODEL_CALLS else Role.TOOL_EXECUTION
                dialect = described.get(name)
                out.append(
                    {
                        "dialect": name,
                        "what": what,
                        "count": count,
                        "of": totals[name][role],
                        "switch_on": None if dialect is None else dialect.switch_on,
                        "leaves_out": None if dialect is None else dialect.leaves_out,
                    }
                )
    return out


_OF_MODEL_CALLS = frozenset({"input messages", "output", "usage", "response id"})
