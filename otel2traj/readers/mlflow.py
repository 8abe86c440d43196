"""MLflow's trace JSON (`Trace.to_json`, search results, rows of its data frame; schema 2 and 3) into spans as MLflow
exports them by OTLP.

Attribute values stay the JSON texts they are. The OTLP kind and scope are lost in this form; session and user of the
trace go to its root span.
https://github.com/mlflow/mlflow/blob/v3.4.0/mlflow/entities/span.py
"""

from __future__ import annotations

from typing import Any, Final

from ..anyvalue import whole
from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, as_list, as_text
from .ids import plain_id
from .otlp_dict import STATUS_CODES, Repaired, enum, link, text, time_ns
from .outline import Head

_TRACE_KEYS: Final = ("mlflow.trace.session", "mlflow.trace.user", "mlflow.trace.tokenUsage")


class Mlflow(DocumentForm):
    name = "mlflow"
    writer = "MLflow"
    obtain = "`Trace.to_json()`, results of `search_traces` as JSON or as a data frame's records"
    tried = "mlflow-tracing 3.17.2; schema 2 built from MLflow's entities"
    loses = "no span kind, no scope, no resource"
    places = (
        Place((), ("data", "spans")),
        Place(("traces",), ("traces", "data", "spans")),
        Place(("trace",), ("trace", "data", "spans")),
        Place((), ("spans",)),
    )

    def recognises(self, head: Head) -> bool:
        if head.has("trace_id", "trace_metadata", "spans") or head.has("trace_id", "trace", "execution_duration"):
            return True  # a row of a data frame
        for place in self.places:
            info = (*place.container, "info")
            if {(*info, "trace_id"), (*info, "request_id")} & head.paths and (*place.container, "data") in head.paths:
                return True
            if head.has("attributes", "name", under=place.record) and head.has("spans", under=place.record[:-1]):
                keys = {path[-1] for path in head.paths if path[:-1] == (*place.record, "attributes")}
                if any(key.startswith("mlflow.") for key in keys):
                    return True
        return False

    def context(self, container: JsonObject) -> Context:
        info = container if "trace_metadata" in container else as_dict(container.get("info"))
        metadata = as_dict(info.get("trace_metadata")) or as_dict(info.get("request_metadata"))
        tags = info.get("tags")
        if isinstance(tags, list):
            tags = {text(one.get("key")): one.get("value") for one in map(as_dict, tags)}
        return {
            "trace": text(info.get("trace_id") or info.get("request_id")),
            "root": {key: as_text(metadata[key]) for key in _TRACE_KEYS if metadata.get(key) is not None},
            "resource": {key: value for key, value in as_dict(tags).items() if not key.startswith("mlflow.")},
        }

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        own = as_dict(data.get("context"))
        status = as_dict(data.get("status"))
        attributes = {text(key): as_text(value) for key, value in as_dict(data.get("attributes")).items()}
        trace = _id(data.get("trace_id", own.get("trace_id")), 32, repairs)
        recorded = context.get("trace", "").removeprefix("tr-")
        parent = _id(data.get("parent_span_id", data.get("parent_id")), 16, repairs) or None
        if parent is None:
            for key, value in context.get("root", {}).items():
                attributes.setdefault(key, value if value[:1] in ('"', "{", "[") else as_text([value])[1:-1])
        return SpanRecord(
            trace_id=trace or plain_id(recorded, 32)[0],
            span_id=_id(data.get("span_id", own.get("span_id")), 16, repairs),
            parent_span_id=parent,
            name=text(data.get("name")),
            attributes=attributes,
            ref=ref,
            start_ns=_time(data.get("start_time_unix_nano", data.get("start_time"))),
            end_ns=_time(data.get("end_time_unix_nano", data.get("end_time"))),
            events=[_event(one) for one in map(as_dict, as_list(data.get("events")))],
            links=[_link(one) for one in map(as_dict, as_list(data.get("links")))],
            status_code=enum(status.get("code", data.get("status_code")), STATUS_CODES, "STATUS_CODE_"),
            status_message=text(status.get("message", data.get("status_message"))) or None,
            resource=context.get("resource", {}),
        )


def _id(value: Any, digits: int, repairs: Repaired) -> str:
    found, repair = plain_id(text(value).removeprefix("tr-"), digits)
    if repair is not None and repair.endswith("of unusual length"):
        repairs.append(repair)
    return found


def _link(data: JsonObject) -> JsonObject:
    return link({**data, "trace_id": text(data.get("trace_id")).removeprefix("tr-")})


def _time(value: Any) -> int | None:
    if isinstance(value, str) and not value.isdigit():
        return parse_ns(value)
    return time_ns(value)


def _event(event: JsonObject) -> SpanEvent:
    """Schema 3 has `time_unix_nano`, schema 2 a `timestamp` in microseconds."""
    when = time_ns(event.get("time_unix_nano"))
    stamp = whole(event.get("timestamp"))
    if when is None and isinstance(stamp, int) and stamp > 0:
        when = stamp * 1000 if stamp < 10**17 else stamp
    return SpanEvent(text(event.get("name")), when, as_dict(event.get("attributes")))


MLFLOW = Mlflow()
