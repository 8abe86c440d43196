"""The nouns of an outcome: how a run ended, what failed in it and where that stands, what is not known."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ..canonical import JsonObject
from .signs import Sign
from .words import reason_line


class FailureKind(StrEnum):
    """Which recorded field says that something failed; the words are those that people read."""

    BUILD = "no trajectory"
    INPUT = "input failed"
    RUN = "run failed"
    AGENT = "agent error"
    PROVIDER = "provider error"
    WIRE = "wire error"
    CUT = "response cut off"
    MODEL = "model call failed"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content filter"
    LENGTH = "answer cut at a length limit"
    EMPTY = "empty answer"
    ARGUMENTS = "arguments are not JSON"
    UNDECLARED = "arguments against the offered schema"
    UNKNOWN_TOOL = "tool was not offered"
    TOOL = "tool error"
    EXIT = "non-zero exit"
    SIGNAL = "ended by a signal"


class EndStatus(StrEnum):
    """How a run or an Input ended, by what was recorded of its end; NOT_RECORDED is not a success."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timed out"
    OTHER = "other"
    NOT_RECORDED = "not recorded"


@dataclass(slots=True)
class Failure:
    """One recorded failure. `message` is as recorded, its middle left out where it is very long.

    `code` is the shortest name the record itself gives: an exception type, a provider's error code, an HTTP status, a
    finish reason, an exit code or a signal.
    """

    kind: FailureKind
    code: str | None = None
    message: str | None = None
    step_id: int | None = None
    input_ordinal: str | None = None
    agent: str | None = None
    model: str | None = None
    tool: str | None = None
    tool_call_id: str | None = None
    pointer: str = ""
    """JSON pointer into the trajectory, at the value that says it."""
    records: list[JsonObject] = field(default_factory=list)
    """The recorded bytes behind it: `{"path", "line"?, "offset"?, "length"?, "sha256", "what"?}`."""
    http_status: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    stack: str | None = None
    sign: Sign | None = None
    """What a code, status, class name or errno of the record means; None where none of them is known."""
    recovered: bool | None = None
    """True: the run went on from it. False: nothing after it did, or the Input ended with it. None: not known."""

    @property
    def reason(self) -> str:
        """One line that holds the reason: `code: message`, of a long text its first and its last line that is not
        empty."""
        return reason_line(self.code, self.message)


class GapKind(StrEnum):
    """What is not known, and why it is not a failure."""

    NO_RESPONSE = "no response recorded"
    NOT_OBSERVED = "execution not observed"
    NEVER_ENDED = "execution never ended"
    AMBIGUOUS = "ambiguous link"
    NO_RESULT = "no result recorded"


@dataclass(slots=True)
class Gap:
    """One thing that the evidence does not tell."""

    kind: GapKind
    step_id: int | None = None
    input_ordinal: str | None = None
    agent: str | None = None
    what: str | None = None
    """The tool or model it is about."""
    detail: str | None = None
    inferred: bool = False
    """Whether `detail` tells of an inference, which is no fact."""
    pointer: str = ""


@dataclass(slots=True)
class InputEnd:
    """How one Input ended. `word` is the recorded status; `stop_reason` the one an ACP agent gave for the turn."""

    ordinal: str
    status: EndStatus
    word: str | None = None
    stop_reason: str | None = None
    error: Failure | None = None
    """The error that its result records."""


@dataclass(slots=True)
class Ended:
    """How the run ended. `reason` is the failure that its end records, else the last that nobody recovered from, also
    where the end itself was not recorded. A run that is recorded as succeeded has none, but may have a `caveat`: its
    very last answer was refused or cut."""

    status: EndStatus
    word: str | None = None
    said_by: str | None = None
    """`input_result`, `run`, `build`, or None where nothing says how it ended."""
    reason: Failure | None = None
    caveat: Failure | None = None


@dataclass(slots=True)
class Outcome:
    """What became of a run, by recorded facts alone. Failures and gaps are in recorded order."""

    ended: Ended
    inputs: list[InputEnd] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unknowns: list[Gap] = field(default_factory=list)

    @property
    def unrecovered(self) -> list[Failure]:
        """The failures that the run is not known to have gone on from."""
        return [failure for failure in self.failures if failure.recovered is not True]

    @property
    def is_clean(self) -> bool:
        """Whether nothing at all says that something failed."""
        clean = (EndStatus.SUCCEEDED, EndStatus.NOT_RECORDED)
        return not self.failures and self.ended.status in clean

    def of_step(self, step_id: int) -> list[Failure]:
        return [failure for failure in self.failures if failure.step_id == step_id]
