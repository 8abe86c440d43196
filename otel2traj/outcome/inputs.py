"""The recorded end of an Input, or of the whole run, to a status and the error that it names."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.trajectory import SdkInput
from . import signs
from .failure import EndStatus, Failure, FailureKind, InputEnd
from .steps import finish_kind
from .words import exception_name, kept, told

_STATUSES: Final = {
    "succeeded": EndStatus.SUCCEEDED, "success": EndStatus.SUCCEEDED, "completed": EndStatus.SUCCEEDED,
    "ok": EndStatus.SUCCEEDED, "passed": EndStatus.SUCCEEDED, "complete": EndStatus.SUCCEEDED,
    "failed": EndStatus.FAILED, "failure": EndStatus.FAILED, "error": EndStatus.FAILED, "errored": EndStatus.FAILED,
    "timeout": EndStatus.TIMEOUT, "timed_out": EndStatus.TIMEOUT,
    "cancelled": EndStatus.CANCELLED, "canceled": EndStatus.CANCELLED, "interrupted": EndStatus.CANCELLED,
    "aborted": EndStatus.CANCELLED,
}  # fmt: skip
_STOPPED: Final = {
    "max_turn_requests": EndStatus.FAILED,
    "max_tokens": EndStatus.FAILED,
    "cancelled": EndStatus.CANCELLED,
}


def end_status(word: JsonValue) -> EndStatus:
    """A recorded status word. A word that is none of those known is OTHER, never a success."""
    if not isinstance(word, str) or not word:
        return EndStatus.NOT_RECORDED
    return _STATUSES.get(word.strip().lower(), EndStatus.OTHER)


def error_of(result: JsonObject, kind: FailureKind, pointer: str) -> Failure | None:
    """The error that a result object names, or None."""
    error = result.get("error")
    key = "error"
    if error is None or error == "" or error == {}:
        key = next((name for name in ("error_message", "exception", "reason") if result.get(name)), "")
        error = result.get(key) if key else None
    if error is None:
        return _stopped(result, kind, pointer)
    code, message = told(error)
    typed: Any = error.get("type") if isinstance(error, dict) else result.get("error_type")
    named = typed if isinstance(typed, str) and typed else code or exception_name(message)
    stack: Any = error.get("stacktrace", error.get("stack")) if isinstance(error, dict) else None
    status: Any = error.get("http_status", error.get("status_code")) if isinstance(error, dict) else None
    return Failure(
        kind,
        named,
        kept(message),
        pointer=f"{pointer}/{key}",
        http_status=status if type(status) is int else None,
        stack=kept(stack) if isinstance(stack, str) else None,
        sign=signs.of_name(named) or signs.of_name(code) or signs.of_errno(message) or signs.of_http(_int(status)),
    )


def _stopped(result: JsonObject, kind: FailureKind, pointer: str) -> Failure | None:
    """A process that ended badly, or a turn that an ACP agent stopped for another reason than its end."""
    code = _int(result.get("exit_code", result.get("exitCode")))
    signal = result.get("signal")
    if isinstance(signal, str) and signal:
        words = f"signal {signal}"
        return Failure(kind, words, pointer=f"{pointer}/signal", signal=signal, sign=signs.of_signal(signal))
    if code is not None and code != 0:
        return Failure(kind, f"exit {code}", pointer=f"{pointer}/exit_code", exit_code=code)
    word = stop_reason(result)
    if word is None or (word not in _STOPPED and finish_kind(word) is None):
        return None
    key = "stop_reason" if "stop_reason" in result else "stopReason"
    return Failure(
        finish_kind(word) or kind, f"stop_reason {word}", pointer=f"{pointer}/{key}", sign=signs.of_name(word)
    )


def stop_reason(result: JsonObject) -> str | None:
    word = result.get("stop_reason", result.get("stopReason"))
    return word if isinstance(word, str) and word else None


def input_end(item: SdkInput, number: int) -> InputEnd:
    """How one Input ended. An error without a status is a failure; nothing at all is NOT_RECORDED."""
    result = item.result or {}
    pointer = f"/inputs/{number}/result"
    word = result.get("status")
    status = end_status(word)
    error = error_of(result, FailureKind.INPUT, pointer)
    stop = stop_reason(result)
    if status is EndStatus.NOT_RECORDED and error is not None:
        status = _STOPPED.get(stop or "", EndStatus.FAILED)
    if error is not None:
        error.input_ordinal = item.ordinal
        error.records = _records(item.extra.get("evidence"))
    return InputEnd(item.ordinal, status, word if isinstance(word, str) else None, stop, error)


def span_errors(item: SdkInput, number: int) -> list[Failure]:
    """The errors that agent spans of an Input record, in their order."""
    evidence: Any = item.extra.get("evidence")
    found: Any = evidence.get("errors") if isinstance(evidence, dict) else None
    out: list[Failure] = []
    for place, error in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(error, dict):
            continue
        said = {key: error[key] for key in ("type", "message") if error.get(key)}
        code, message = told(said) if said else (None, None)
        named = error.get("type") if isinstance(error.get("type"), str) else code
        agent = error.get("agent_name")
        stack = error.get("stacktrace")
        out.append(
            Failure(
                FailureKind.AGENT,
                named,
                kept(error.get("message") if isinstance(error.get("message"), str) else message),
                input_ordinal=item.ordinal,
                agent=agent if isinstance(agent, str) else None,
                pointer=f"/inputs/{number}/evidence/errors/{place}",
                records=_records(error),
                stack=kept(stack) if isinstance(stack, str) else None,
                sign=signs.of_name(named) or signs.of_errno(message),
            )
        )
    return out


def _records(evidence: Any) -> list[JsonObject]:
    found = evidence.get("records") if isinstance(evidence, dict) else None
    return [record for record in found if isinstance(record, dict)] if isinstance(found, list) else []


def _int(value: Any) -> int | None:
    return value if type(value) is int else None
