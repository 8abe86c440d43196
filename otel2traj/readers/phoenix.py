"""Phoenix's span export (`GET /v1/projects/…/spans`, `…/spans/otlpv1`) into spans with flat OpenInference attributes.

https://github.com/Arize-ai/phoenix/blob/arize-phoenix-v12.0.0/schemas/openapi.json
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from . import otlp_dict
from .context import EMPTY
from .documents import Context, DocumentForm, Place, as_dict, as_list, as_text
from .ids import plain_id
from .otlp_dict import STATUS_CODES, Repaired, enum, text
from .outline import Head

_JSON_TEXT: Final = (
    "metadata",
    "llm.invocation_parameters",
    "llm.prompt_template.variables",
    "tool.parameters",
    "tool.json_schema",
    "tool_call.function.arguments",
    "embedding.invocation_parameters",
)
"""Attributes whose value is JSON text in OpenInference, though it is an object here."""


class Phoenix(DocumentForm):
    name = "phoenix"
    writer = "Arize Phoenix"
    obtain = "`GET /v1/projects/<project>/spans` and `…/spans/otlpv1`"
    tried = "built from Phoenix's OpenAPI description"
    loses = "no span kind, no scope, no resource; times end at microseconds"
    places = (Place((), ("data",)), Place((), ()))

    def recognises(self, head: Head) -> bool:
        return any(
            head.has("span_kind", "parent_id", "context", under=place.record)
            or (place.record and head.has("trace_id", "span_id", "attributes", under=place.record))
            for place in self.places
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if isinstance(data.get("attributes"), list) or "start_time_unix_nano" in data:
            ignored = Repaired()
            record = otlp_dict.span(data, EMPTY, ref, ignored)
            repairs.extend(one for one in ignored if one != "snake_case keys")
            return record
        own = as_dict(data.get("context"))
        if not own:
            return None
        attributes = dict(flat("", data.get("attributes")))
        kind = data.get("span_kind")
        if kind is not None:
            attributes.setdefault("openinference.span.kind", kind)
        return SpanRecord(
            trace_id=plain_id(own.get("trace_id"), 32)[0],
            span_id=plain_id(own.get("span_id"), 16)[0],
            parent_span_id=plain_id(data.get("parent_id"), 16)[0] or None,
            name=text(data.get("name")),
            attributes=attributes,
            ref=ref,
            start_ns=parse_ns(data.get("start_time")),
            end_ns=parse_ns(data.get("end_time")),
            events=[
                SpanEvent(text(one.get("name")), parse_ns(one.get("timestamp")), as_dict(one.get("attributes")))
                for one in map(as_dict, as_list(data.get("events")))
            ],
            status_code=enum(data.get("status_code"), STATUS_CODES, "STATUS_CODE_"),
            status_message=text(data.get("status_message")) or None,
        )


def flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Nested attributes as OpenInference flattens them: `llm.input_messages.0.message.content`."""
    if prefix.endswith(_JSON_TEXT) and isinstance(value, (dict, list)):
        yield prefix, as_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from flat(f"{prefix}.{key}" if prefix else key, item)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from flat(f"{prefix}.{index}", item)
    elif prefix:
        yield prefix, value


PHOENIX = Phoenix()
