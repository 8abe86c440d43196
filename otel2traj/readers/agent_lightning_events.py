"""Events of Agent Lightning's gateway (1.0 and later), each request to a model with its bodies, into session records.

https://github.com/microsoft/agent-lightning/blob/v1.0.2/agentlightning/schemas.py
"""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State
from .span_rows import when

_REQUEST: Final = "model_request"
_NO_PARAMETER: Final = frozenset({"messages", "input", "model", "tools"})


class _State(State):
    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if data.get("event_type") != _REQUEST:
            return None
        conversation = f"{text(data.get('rollout_id'))}:{text(data.get('attempt_id'))}"
        return Placed("call", (f"call:{ref.offset}",), conversation_id=conversation, turn="attempt")


class AgentLightningEvents(SessionForm):
    name = "agent-lightning-events"
    writer = "Agent Lightning's gateway, 1.0 and later"
    obtain = "the events of a rollout as the server lists them, as one list or a line each"
    tried = "built after agentlightning 1.0.2"
    loses = (
        "the agent, and what its tools did; a call's time is when the store wrote it; rewards and events of one's own"
        " are no steps; a request that the server was told to trim has no bodies"
    )
    paths = frozenset((LINE, ("events",), ("data",)))

    def recognises(self, head: Head) -> bool:
        return any(head.has("event_type", "rollout_id", "attempt_id", "data", under=at) for at in self.paths)

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, when(data.get("timestamp")))
        record.told = (Told(placed.keys[0], Role.MODEL_CALL, _call(as_dict(data.get("data")))),)
        return record


def _call(data: JsonObject) -> JsonObject:
    request, response = as_dict(data.get("request")), as_dict(data.get("response"))
    choices = [as_dict(one) for one in as_list(response.get("choices"))]
    answers = [one["message"] for one in choices if isinstance(one.get("message"), dict)]
    facts: JsonObject = {
        "request_model": request.get("model") or data.get("model"),
        "response_model": response.get("model"),
        "response_id": response.get("id"),
        "messages": request.get("messages") or request.get("input"),
        "tools": request.get("tools"),
        "parameters": {key: value for key, value in request.items() if key not in _NO_PARAMETER and value is not None}
        or None,
        "answers": answers or as_list(response.get("output")) or None,
        "finish_reason": data.get("finish_reason") or (choices[0].get("finish_reason") if choices else None),
        "counts": as_dict(response.get("usage") or data.get("usage")) or None,
    }
    status = data.get("http_status")
    if data.get("status") == "error" or (isinstance(status, int) and status >= 400):
        facts["is_error"], facts["http_status"] = True, status
        told = response.get("error") or response.get("detail") or data.get("error")
        facts["error"] = text(as_dict(told).get("message") or told) or None
    return facts


AGENT_LIGHTNING_EVENTS = AgentLightningEvents()
