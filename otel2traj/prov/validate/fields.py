"""What each kind of AER record has: ids, fields that are there or declared unknown, references, words, and the rules by
which a field that nobody records is made."""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonObject
from ...model.trajectory import StepStatus, TrajectoryStatus

PREFIX: Final = {
    "execution": "ex",
    "actor": "a",
    "scope": "s",
    "message": "m",
    "model_call": "mc",
    "tool_execution": "te",
    "decision": "d",
    "state_change": "sc",
    "fixture": "f",
    "judgement": "j",
    "generic_activity": "act",
    "generic_artefact": "(?:ga|raw|rq)",
    "seal": "seal",
}
REQUIRED: Final = {
    "execution": (
        *("schema", "execution", "origin", "attempt", "adapter", "started", "ended"),
        *("run_id", "agent_id", "case_id", "framework", "architecture"),
    ),
    "actor": ("role", "name"),
    "scope": ("ordinal", "input_id", "prompt", "result", "steps"),
    "message": ("role", "direction"),
    "model_call": (
        *("model", "agent", "scope", "request", "response", "status", "order", "started", "ended", "usage"),
        *("parameters", "finish_reason", "purpose"),
    ),
    "tool_execution": (
        *("name", "arguments", "result", "call", "status", "agent", "scope"),
        *("started", "ended", "exit_status", "tool_call_id"),
    ),
    "decision": ("outcome", "model_call", "message", "calls"),
    "state_change": ("path", "change", "before_state", "after_state", "details", "scope", "actor", "started", "ended"),
    "fixture": ("role", "path", "injections"),
    "judgement": ("subject", "verdict", "judge", "details"),
    "generic_activity": ("type", "scope", "prompt", "result", "actor", "started", "ended"),
    "generic_artefact": ("role",),
    "generic_artefact request": ("messages",),
    "generic_artefact raw": ("path", "object"),
    "generic_artefact tool_result": ("content",),
    "generic_artefact tool_definitions": ("content",),
    "generic_artefact input_result": ("content",),
    "message request": ("content", "position"),
    "message prompt": ("content",),
    "message response": ("parts",),
}
"""Kind, or kind and sort (see `sort_of`) -> fields that are there, or declared unknown."""
KNOWN: Final = {
    "execution": ("schema", "execution", "origin", "attempt", "adapter"),
    "actor": ("role", "name"),
    "scope": ("ordinal",),
    "message": ("direction", "position", "content", "parts"),
    "message response": ("role",),
    "message prompt": ("role",),
    "model_call": ("status", "order"),
    "decision": ("model_call", "message", "calls"),
    "state_change": ("details", "scope"),
    "fixture": ("role",),
    "judgement": ("subject", "details"),
    "generic_activity": ("type", "scope", "actor"),
    "generic_artefact": ("role", "path", "content", "length"),
}
"""Fields that are never unknown: the record would say nothing without them."""
REFERENCES: Final = {
    ("model_call", "model"): ("actor",),
    ("model_call", "agent"): ("actor",),
    ("model_call", "scope"): ("scope",),
    ("model_call", "request"): ("generic_artefact",),
    ("generic_artefact", "messages"): ("message",),
    ("generic_artefact", "system"): ("message",),
    ("generic_artefact", "tools"): ("generic_artefact",),
    ("generic_artefact", "extends"): ("generic_artefact",),
    ("model_call", "response"): ("message",),
    ("tool_execution", "agent"): ("actor",),
    ("tool_execution", "scope"): ("scope",),
    ("tool_execution", "result"): ("generic_artefact",),
    ("tool_execution", "call"): ("part",),
    ("decision", "model_call"): ("model_call",),
    ("decision", "message"): ("message",),
    ("decision", "calls"): ("part",),
    ("scope", "prompt"): ("message",),
    ("scope", "result"): ("generic_artefact",),
    ("state_change", "scope"): ("scope",),
    ("judgement", "subject"): ("execution", "scope", "model_call", "tool_execution", "message"),
    ("generic_activity", "scope"): ("scope",),
    ("generic_activity", "prompt"): ("message",),
    ("generic_activity", "result"): ("generic_artefact",),
    ("generic_activity", "actor"): ("actor",),
}
WORDS: Final = {
    ("actor", "role"): frozenset({"agent", "model", "harness"}),
    ("message", "direction"): frozenset({"request", "response", "prompt"}),
    ("message response", "role"): frozenset({"assistant"}),
    ("message prompt", "role"): frozenset({"user"}),
    ("generic_artefact", "role"): frozenset({"request", "raw", "tool_result", "tool_definitions", "input_result"}),
    ("generic_activity", "type"): frozenset({"input_handling"}),
    ("decision", "outcome"): frozenset({"call_tools", "refuse", "answer"}),
    ("model_call", "status"): frozenset(StepStatus),
    ("tool_execution", "status"): frozenset({"succeeded", "error"}),
    ("seal", "status"): frozenset(TrajectoryStatus),
}
"""Closed lists of words."""
MADE: Final = {
    **{("execution", name): ("execution_identity",) for name in KNOWN["execution"]},
    ("actor", "role"): ("place_in_record", "agent_name", "harness_of_files"),
    ("scope", "ordinal"): ("scope_of_record",),
    ("scope", "steps"): ("scope_of_record",),
    ("message", "direction"): ("place_in_record", "prompt_of_spans"),
    ("message", "position"): ("place_in_record",),
    ("message response", "role"): ("place_in_record",),
    ("message prompt", "role"): ("place_in_record", "prompt_of_spans"),
    ("message", "candidates"): ("tool_call_id_ambiguous",),
    ("message", "reported"): ("reported_by_request",),
    **{
        ("message", f"inferred_{name}"): (f"inferred_{name}",) for name in ("reported_result", "name_arguments", "name")
    },
    ("generic_artefact", "role"): ("place_in_record", "source_digest", "end_of_spans"),
    ("generic_artefact", "length"): ("place_in_record",),
    ("generic_artefact", "extends"): ("request_extends",),
    ("generic_artefact", "kept"): ("request_extends",),
    ("generic_artefact", "object"): ("source_digest",),
    ("generic_artefact", "path"): ("source_digest",),
    ("model_call", "status"): ("status_of_records",),
    ("model_call", "usage"): ("usage_names",),
    ("model_call", "after"): ("history_names_call",),
    ("model_call", "join"): (
        *("join_framework_span_id", "join_traceparent", "join_response_id", "join_history_ids", "join_unlisted"),
    ),
    ("model_call", "request_sha256"): ("payload_digest",),
    ("model_call", "response_sha256"): ("payload_digest",),
    ("tool_execution", "call"): ("tool_call_id_unique", "tool_call_id_unique_unverified"),
    ("tool_execution", "status"): ("execution_status",),
    ("tool_execution", "after"): ("call_before_execution",),
    **{
        (kind, name): (rule,)
        for kind in ("model_call", "tool_execution")
        for name, rule in (
            ("agent", "agent_name"),
            ("scope", "scope_of_record"),
            ("order", "order_of_start"),
            ("interaction_id", "interaction_identity"),
            ("said_by", "dialect_reading"),
        )
    },
    **{("decision", name): ("decision_of_output",) for name in REQUIRED["decision"]},
    ("state_change", "scope"): ("scope_of_record",),
    ("fixture", "role"): ("given_file",),
    ("fixture", "path"): ("given_file",),
    ("judgement", "subject"): ("place_in_record",),
    ("generic_activity", "type"): ("input_handling",),
    ("generic_activity", "scope"): ("input_handling",),
    ("generic_activity", "actor"): ("harness_of_files",),
}
"""Fields that nobody records -> the rules of the adapter that make them. All others are recorded, or put together."""
NAMED: Final = {
    "message": ("messages", "system", "response", "prompt"),
    "actor": ("model", "agent", "actor"),
    "generic_artefact": ("request", "tools", "result"),
}
"""Kinds of records that belong to another one, and the fields by which those name them; sources belong to none."""
SEAL: Final = frozenset({"id", "kind", "class", "by", "rule", "records", "digest", "seal_digest", "status", "issues"})


def sort_of(record: JsonObject) -> str:
    """A finer kind: of messages by direction, of artefacts by role."""
    kind = str(record.get("kind"))
    finer = {"message": "direction", "generic_artefact": "role"}.get(kind)
    return kind if finer is None else f"{kind} {record.get(finer)}"


def of_kind(table: dict[Any, Any], record: JsonObject, name: str) -> Any:
    """What a table says of a field, under the finer kind before the kind."""
    found = table.get((sort_of(record), name))
    return found if found is not None else table.get((str(record.get("kind")), name))
