"""How two records are related: by recorded identifiers, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    HISTORY_IDS = "history_ids"


class InferenceRule(StrEnum):
    """The rule of a class-I inference between a call and an execution. Never a link."""

    REPORTED_RESULT = "reported_result"
    NAME_ARGUMENTS = "name_arguments"
    NAME = "name"


class Word(StrEnum):
    """What two records say of each other in one respect."""

    AGREES = "agrees"
    SILENT = "silent"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Witness:
    """What two records that a rule would join say of each other, respect by respect. One contradiction demotes."""

    words: tuple[tuple[str, Word], ...] = ()

    def contradictions(self) -> tuple[str, ...]:
        return tuple(respect for respect, word in self.words if word is Word.CONTRADICTS)

    def holds(self) -> bool:
        return not self.contradictions()

    def word(self, respect: str) -> Word:
        return next((word for name, word in self.words if name == respect), Word.SILENT)

    def to_json(self) -> dict[str, str]:
        return {respect: word.value for respect, word in self.words}


def compare(one: object, other: object) -> Word:
    """Silent where either says nothing, else whether the two are equal."""
    if one is None or other is None:
        return Word.SILENT
    return Word.AGREES if one == other else Word.CONTRADICTS


def together(words: Iterable[Word]) -> Word:
    """One word of several in the same respect: a contradiction outweighs, then an agreement."""
    found = set(words)
    return next((word for word in (Word.CONTRADICTS, Word.AGREES) if word in found), Word.SILENT)
