"""Spans as Agent Lightning stores and dumps them: rows with the rollout and the attempt they belong to.

https://github.com/microsoft/agent-lightning/blob/v0.3.0/agentlightning/types/tracer.py
"""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from .documents import Context, DocumentForm, Place
from .otlp_dict import Repaired, text
from .outline import Head
from .span_rows import row


class AgentLightning(DocumentForm):
    name = "agent-lightning"
    writer = "Agent Lightning's store, before 1.0"
    obtain = "the rows of `query_spans`, dumped a line each"
    tried = "built after agentlightning 0.3.0"
    loses = "no scope, no span kind; times are seconds as floating numbers, exact to about a microsecond"
    places = (Place((), ()), Place((), ("spans",)), Place((), ("data",)))

    def recognises(self, head: Head) -> bool:
        return any(head.has("rollout_id", "attempt_id", "span_id", under=place.record) for place in self.places)

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "span_id" not in data or "rollout_id" not in data:
            return None
        record = row(data, ref, repairs)
        own = dict(record.attributes)
        for name in ("rollout_id", "attempt_id"):
            if data.get(name) is not None:
                own.setdefault(f"agentlightning.{name}", text(data[name]))
        own.setdefault("gen_ai.conversation.id", f"{text(data['rollout_id'])}:{text(data.get('attempt_id'))}")
        record.attributes = own
        return record


AGENT_LIGHTNING = AgentLightning()
