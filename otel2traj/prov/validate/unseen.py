"""What no check can find without the evidence: edits of an AER that contradict nothing in it.

Each passes where the AER is sealed again, and SEM and document are derived again from it; with the evidence every one
of them is found. Of documents and SEMs beside their AER nothing passes. A test makes every kind of edit on every field
of every kind of record and holds this list to be exactly what passes.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Unseen(NamedTuple):
    """One kind of edit: why it cannot be seen, and the fields of each sort of record that it passes on; none where it
    is the whole record."""

    edit: str
    why: str
    of: dict[str, tuple[str, ...]]


_PLACED: Final[dict[str, tuple[str, ...]]] = {
    "actor": ("name",),
    "execution": ("agent_id", "case_id", "framework", "run_id"),
    "fixture": ("injections",),
    "generic_activity": ("result",),
    "generic_artefact input_result": ("content",),
    "generic_artefact request": ("messages", "system", "tools"),
    "generic_artefact tool_definitions": ("content",),
    "generic_artefact tool_result": ("content",),
    "judgement": ("details", "judge", "verdict"),
    "message request": ("content", "role"),
    "message response": ("parts",),
    "model_call": ("ended", "finish_reason", "model", "request", "response", "started"),
    "scope": ("input_id", "result"),
    "state_change": ("after_state", "before_state", "change", "details", "path"),
    "tool_execution": ("arguments", "name", "result", "started", "tool_call_id"),
}
"""Fields that stand at a place."""
_CITED: Final[dict[str, tuple[str, ...]]] = dict.fromkeys(
    (
        "actor",
        "decision",
        "execution",
        "fixture",
        "generic_activity",
        "generic_artefact input_result",
        "generic_artefact request",
        "generic_artefact tool_definitions",
        "generic_artefact tool_result",
        "judgement",
        "message prompt",
        "message request",
        "message response",
        "model_call",
        "scope",
        "state_change",
        "tool_execution",
    ),
    ("source",),
)
"""Records that cite ranges."""

UNSEEN: Final = (
    Unseen(
        "another value",
        "What was recorded stands in the evidence and nowhere else; ids of records are not recorded.",
        {
            "actor": ("name",),
            "decision": ("source",),
            "execution": ("agent_id", "framework"),
            "fixture": ("id", "injections", "path", "role"),
            "generic_activity": ("id",),
            "generic_artefact input_result": ("content",),
            "generic_artefact tool_definitions": ("content",),
            "generic_artefact tool_result": ("content",),
            "judgement": ("details", "id", "judge", "verdict"),
            "message prompt": ("content", "source"),
            "message request": ("content", "role"),
            "message response": ("inferred_name",),
            "model_call": ("agent", "ended", "finish_reason", "interaction_id", "model", "started"),
            "scope": ("input_id",),
            "seal": ("issues",),
            "state_change": ("after_state", "before_state", "change", "details", "id", "path"),
            "tool_execution": ("agent", "arguments", "ended", "interaction_id", "name", "said_by", "started"),
        },
    ),
    Unseen(
        "declared unknown",
        "Whether something was recorded is seen in the evidence alone.",
        {
            "execution": ("agent_id", "framework"),
            "fixture": ("injections", "path"),
            "generic_artefact raw": ("object",),
            "judgement": ("judge", "verdict"),
            "message request": ("role",),
            "model_call": ("agent", "ended", "finish_reason", "model", "started"),
            "scope": ("input_id", "steps"),
            "state_change": ("after_state", "before_state", "change", "path"),
            "tool_execution": ("agent", "arguments", "ended", "name", "scope", "started", "status", "tool_call_id"),
        },
    ),
    Unseen(
        "left out",
        "A note that a record may have or not: only the evidence tells whether there is one.",
        {
            "message response": ("candidates", "inferred_name", "reported"),
            "model_call": ("interaction_id", "join"),
            "tool_execution": ("interaction_id", "said_by"),
        },
    ),
    Unseen(
        "said to be derived",
        "A better claim is withdrawn: the weaker one contradicts nothing.",
        _PLACED,
    ),
    Unseen(
        "said to be observed",
        "A place is only believed until the range is opened.",
        {
            "actor": ("name",),
            "generic_activity": ("prompt",),
            "message prompt": ("content",),
            "message request": ("role",),
            "scope": ("prompt",),
            "tool_execution": ("ended",),
        },
    ),
    Unseen(
        "another rule",
        "Each of the rules may give such a field; which one did depends on the recording.",
        {
            "actor": ("name",),
            "message request": ("role",),
            "tool_execution": ("ended",),
        },
    ),
    Unseen(
        "another place",
        "A place is only believed until the range is opened.",
        _PLACED,
    ),
    Unseen(
        "another offset",
        "A range is only believed until it is opened.",
        _CITED,
    ),
    Unseen(
        "another digest",
        "A digest is only believed until its bytes are at hand.",
        _CITED,
    ),
    Unseen(
        "another file",
        "The other file is a source too; that the range lies in it is only believed until it is opened.",
        {
            "actor": ("source",),
            "decision": ("source",),
            "execution": ("source",),
            "fixture": ("source",),
            "generic_activity": ("source",),
            "generic_artefact request": ("source",),
            "generic_artefact tool_definitions": ("source",),
            "generic_artefact tool_result": ("source",),
            "message prompt": ("source",),
            "message request": ("source",),
            "message response": ("source",),
            "model_call": ("source",),
            "scope": ("source",),
            "tool_execution": ("source",),
        },
    ),
    Unseen(
        "no source",
        "What rests on other records alone may cite nothing.",
        {
            "decision": ("source",),
            "message prompt": ("source",),
        },
    ),
    Unseen(
        "another reason",
        "Why a value is missing depends on the recording.",
        {
            "execution": ("architecture", "ended", "started"),
            "generic_activity": ("ended", "started"),
            "generic_artefact request": ("system", "tools"),
            "message response": ("execution",),
            "model_call": ("parameters", "purpose", "usage"),
            "state_change": ("actor", "ended", "started"),
            "tool_execution": (
                "agent",
                "arguments",
                "call",
                "ended",
                "exit_status",
                "name",
                "result",
                "started",
                "status",
                "tool_call_id",
            ),
        },
    ),
    Unseen(
        "made up",
        "That something was not recorded is seen in the evidence alone.",
        {
            "execution": ("architecture", "ended", "started"),
            "generic_activity": ("ended", "started"),
            "model_call": ("parameters", "purpose"),
            "state_change": ("actor", "ended", "started"),
            "tool_execution": ("arguments", "ended", "name", "started", "tool_call_id"),
        },
    ),
    Unseen(
        "order forgotten",
        "Order is stated where identifiers prove it, and may be left unsaid.",
        {
            "model_call": ("after",),
            "tool_execution": ("after",),
        },
    ),
    Unseen(
        "record gone",
        "What no other record speaks of leaves no gap.",
        {
            "fixture": (),
            "judgement": (),
            "state_change": (),
        },
    ),
    Unseen(
        "record more",
        "What may be there any number of times may be there once more.",
        {
            "generic_artefact raw": (),
            "state_change": (),
        },
    ),
)
