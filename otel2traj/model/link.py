"""How two records are related: by recorded identifiers, or not at all."""

from __future__ import annotations

from enum import StrEnum


class LinkStatus(StrEnum):
    EXACT = "exact"
    AMBIGUOUS = "ambiguous"
    NONE = "none"


class ExecutionStatus(StrEnum):
    SUCCEEDED = "succeeded"
    ERROR = "error"
    NOT_OBSERVED = "not_observed"


class JoinRule(StrEnum):
    """The rule that joined wire and framework sides of one model call, in order of precedence."""

    FRAMEWORK_SPAN_ID = "framework_span_id"
    TRACEPARENT = "traceparent"
    RESPONSE_ID = "response_id"
    TOOL_CALL_IDS = "tool_call_ids"
    ENCLOSING_SPAN = "enclosing_span"


class InferenceRule(StrEnum):
    """The rule of a class-I inference between a call and an execution. Never a link."""

    REPORTED_RESULT = "reported_result"
    NAME_ARGUMENTS = "name_arguments"
    NAME = "name"
