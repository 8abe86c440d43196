"""Rows of Phoenix's span dataframe (`get_spans_dataframe`, written with `to_json`): columns with dots in their names.

https://github.com/Arize-ai/phoenix/blob/arize-phoenix-client-v1.20.0/packages/phoenix-client/src/phoenix/client/resources/spans/__init__.py
"""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from .documents import Context, DocumentForm, Place, as_dict, as_list, parsed
from .ids import plain_id
from .otlp_dict import STATUS_CODES, Repaired, enum, text
from .outline import Head
from .phoenix import flat
from .span_rows import when

_COLUMN = "attributes."


class PhoenixRows(DocumentForm):
    name = "phoenix-dataframe"
    writer = "Arize Phoenix's client"
    obtain = '`get_spans_dataframe().to_json(orient="records")`'
    tried = "built after the client's columns"
    loses = "no span kind, no scope, no resource; times as the table was written, often milliseconds"
    places = (Place((), ()), Place((), ("data",)))

    def recognises(self, head: Head) -> bool:
        return any(head.has("context.span_id", "context.trace_id", under=place.record) for place in self.places)

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if data.get("context.span_id") is None:
            return None
        attributes: dict[str, Any] = {}
        for column, value in data.items():
            if column.startswith(_COLUMN) and value is not None:
                attributes.update((key, one) for key, one in flat(column.removeprefix(_COLUMN), value))
        if data.get("span_kind") is not None:
            attributes.setdefault("openinference.span.kind", data["span_kind"])
        return SpanRecord(
            trace_id=plain_id(data.get("context.trace_id"), 32)[0],
            span_id=plain_id(data["context.span_id"], 16)[0],
            parent_span_id=plain_id(data.get("parent_id"), 16)[0] or None,
            name=text(data.get("name")),
            attributes=attributes,
            ref=ref,
            start_ns=when(data.get("start_time")),
            end_ns=when(data.get("end_time")),
            events=[
                SpanEvent(text(one.get("name")), when(one.get("timestamp")), as_dict(one.get("attributes")))
                for one in map(as_dict, as_list(parsed(data.get("events"))))
            ],
            status_code=enum(data.get("status_code"), STATUS_CODES, "STATUS_CODE_"),
            status_message=text(data.get("status_message")) or None,
        )


PHOENIX_ROWS = PhoenixRows()
