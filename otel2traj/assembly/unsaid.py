"""What a harness recorded beside the facts that are read of it is kept: one rule, and the list of what is left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..readers.abb import CARRIED

Said = Mapping[str, Collection[JsonValue]]
"""The values that say nothing new, by the member they stand under."""

_READ: Final = frozenset(("call_id", "truncated"))
"""Of what a wire record says of a call beside its bodies, what a trajectory always shows."""

LEFT_OUT: Final = (
    (".*", r".* /(schema|schema_version|run_id|source|event|timestamp|time_ms)$",
     "the envelope of a record: steps, calls and events have times and names of their own"),
    (".*", r".* /(data/|input/|observation_context/)?(case_id|input_id|agent_id|run_id)$",
     "identifiers of the attempt and its Inputs, which stand there"),
    (r"case\.json|input\.json", r".* /(inputs/\d+/)?(index|payload_type)$",
     "the place of an Input and the kind of its payload, which both show"),
    (r"request\.json", r".* /session_id$", "by which a wire call finds its Input"),
    (r"acp-summary\.json", r" /(initialize|session|prompt_completed)\b", "what the events of the client tell"),
    (r"baseline\.json", "", "the workspace before the run is not read: the events tell what changed"),
    (r"replay/manifest\.json", r".* /(?!status|warnings)", "how the recorder of the replay was set"),
    (r"replay/events\.jsonl", r".* /(sequence|reason)$", "the order of the events; their boundaries are Inputs"),
    (r"framework\.jsonl", r"chain ", "spans around calls say who acts; what they carry the calls themselves tell"),
    (r"framework\.jsonl", r".*span_\w+ /data/(parent_span_id|kind)$", "how spans nest, and which of them are calls"),
    (r"framework\.jsonl", r"tool span_\w+ /data/tool_call_id$", "what the end of the span says again"),
    (r"framework\.jsonl", r".*llm span_\w+ /data/name$", "the class of the model's client"),
    (r"framework\.jsonl", r"llm span_\w+ /data/input/.*/(type|id)$", "kinds and ids of LangChain's own objects"),
    (r"framework\.jsonl", r"llm span_\w+ /data/output/.*/tool_calls$", "an empty list of tool calls"),
    (r"framework\.jsonl", r"wired llm span_\w+ /data/(input|output)/",
     "bodies of a call that the interceptor saw: where they contradict it a warning says so"),
    (r"otel\.jsonl", r"span /data/(kind|parent_\w+|links|live|context|resource|dropped_\w+|events|status)\b",
     "how spans nest, and what the SDK says of itself and of an exception beside its type, message and stack"),
    (r"otel\.jsonl", r"span /data/(start|end)_time", "times, which are recorded twice"),
    (r"otel\.jsonl", r"span /data/attributes/(abb\.(kind|\w+_id)|gen_ai\.operation\.name)$",
     "the kind of the span and identifiers; `otel2traj info` counts the attributes that no dialect reads"),
    (r"network\.jsonl", rf"(llm_request|llm_response|llm_error) /data/({'|'.join(sorted(CARRIED - _READ))})\b",
     "how the interceptor carried a call: hosts, routes, sizes, latency, and its own copies of the bodies"),
    (r"network\.jsonl", r"(llm_response|llm_error) /data/purpose$", "said again by the request"),
    (r"network\.jsonl", r"(llm_chunk|interceptor_\w+|tool_\w+|model_auxiliary_\w+) ",
     "pieces of a body that the response has whole, and traffic that is no model call: counted"),
    (r"network\.jsonl", rf"observation_error /data/({'|'.join(sorted(CARRIED))})\b", "how the interceptor carried it"),
    (r"acp-events\.jsonl", r"session_update /data/update/sessionUpdate$", "which kind of update it is"),
)  # fmt: skip
"""What is left out: file and `event place` of the member, each as a pattern, and why."""


def unsaid(value: JsonValue, said: Said) -> JsonValue:
    """The members of a value at any depth but for what was said; None where nothing is left. Lists close up."""
    if isinstance(value, dict):
        kept: JsonObject = {}
        for key, item in value.items():
            left = None if key in said and item in said[key] else unsaid(item, said)
            if left is not None:
                kept[key] = left
        return kept or None
    if isinstance(value, list):
        return [left for item in value if (left := unsaid(item, said)) is not None] or None
    return None if value == "" else value


def beside(holder: JsonObject, *named: str) -> JsonObject:
    """The members of an object but for those that are named and those that hold nothing."""
    return {key: value for key, value in holder.items() if key not in named and value not in (None, [], {})}
