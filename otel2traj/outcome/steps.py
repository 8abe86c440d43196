"""One step to the failures it records and to what it does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind, StepSource, StepStatus, ToolLog
from . import signs
from .failure import Failure, FailureKind, Gap, GapKind
from .offered import Offered, unparsable
from .words import exception_name, kept, told

_LENGTH: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "token_limit", "model_context_window_exceeded", "model_length"}
)
_FILTERED: Final = frozenset(
    {
        "content_filter", "content-filter", "contentfilter", "safety", "recitation", "blocklist", "prohibited_content",
        "spii", "image_safety", "guardrail_intervened", "content_filtered", "error_toxic", "language",
    }
)  # fmt: skip
_REFUSED: Final = frozenset({"refusal"})
_BROKEN_CALL: Final = frozenset({"malformed_function_call", "unexpected_tool_call", "error"})


def finish_kind(reason: JsonValue) -> FailureKind | None:
    """What a finish reason, in whatever provider's word, says went wrong."""
    if not isinstance(reason, str):
        return None
    word = reason.rpartition(".")[2].strip().lower()
    if word in _LENGTH:
        return FailureKind.LENGTH
    if word in _FILTERED:
        return FailureKind.CONTENT_FILTER
    if word in _REFUSED:
        return FailureKind.REFUSAL
    return FailureKind.MODEL if word in _BROKEN_CALL else None


def step_failures(step: Step) -> list[Failure]:
    """Every failure that one step records, in its order: the call, its answer, its calls, their executions."""
    found = [] if step.kind is StepKind.TOOL_ONLY else [*_call(step), *_answer(step)]
    offered = Offered(step.input.get("tools"))
    for number, log in enumerate(step.tool_logs):
        found += _emitted(step, number, log, offered)
        found += _executed(step, number, log)
    for failure in found:
        if step.status is StepStatus.COMPLETE and failure.kind in (FailureKind.WIRE, FailureKind.PROVIDER):
            failure.recovered = True  # another recorder has the answer
        failure.step_id, failure.input_ordinal, failure.agent = step.step_id, step.input_ordinal, step.agent_name
        failure.pointer = f"/steps/{step.step_id - 1}{failure.pointer}"
        failure.message, failure.stack = kept(failure.message), kept(failure.stack)
    return found


def records(evidence: JsonObject, *whats: str) -> list[JsonObject]:
    """The recorded bytes of a step or log, those of the named sorts alone where there are any."""
    everything: Any = evidence.get("records")
    everything = [item for item in everything if isinstance(item, dict)] if isinstance(everything, list) else []
    chosen = [item for item in everything if item.get("what") in whats]
    return chosen or everything


def _call(step: Step) -> Iterator[Failure]:
    """What kept the call from being answered: one failure, however many recorders tell of it."""
    output = step.output
    wire_error, error, http = output.get("wire_error"), output.get("error"), output.get("http_status")
    status = http if type(http) is int else None
    said: Any = step.evidence.get("exception")
    stack = said.get("stacktrace") if isinstance(said, dict) else None
    if wire_error is not None:
        fields = wire_error if isinstance(wire_error, dict) else {}
        also, message = told(wire_error)
        code = _text(fields.get("error_code")) or also
        upstream = fields.get("upstream_status")
        status = status if status is not None else upstream if type(upstream) is int else None
        named = exception_name(message)
        sign = signs.of_name(named) or signs.of_errno(message) or signs.of_name(code) or signs.of_http(status)
        yield Failure(
            FailureKind.WIRE,
            code if code is not None else named,
            message,
            model=step.model,
            pointer="/output/wire_error",
            records=records(step.evidence, "error"),
            http_status=status,
            sign=sign,
            stack=stack,
        )
        return
    if status is not None and status >= 400:
        code, message = told(error)
        words = f"{status} {code}" if code is not None and code != str(status) else str(status)
        yield Failure(
            FailureKind.PROVIDER,
            words,
            message,
            model=step.model,
            pointer="/output/error" if error is not None else "/output/http_status",
            records=records(step.evidence, "response", "span", "log"),
            http_status=status,
            sign=signs.of_name(code) or signs.of_http(status),
            stack=stack,
        )
        return
    if error is not None:
        yield _told_error(step, error, stack)
    elif step.status is StepStatus.FAILED:
        yield Failure(
            FailureKind.MODEL,
            None,
            None,
            model=step.model,
            pointer="/status",
            records=records(step.evidence, "span", "log"),
            stack=stack,
        )
    elif step.status is StepStatus.INCOMPLETE and _has_response(step):
        yield Failure(
            FailureKind.CUT,
            None,
            _text(output.get("text")),
            model=step.model,
            pointer="/status",
            records=records(step.evidence, "response"),
        )


def _told_error(step: Step, error: JsonValue, stack: JsonValue) -> Failure:
    code, message = told(error)
    named = code or exception_name(message)
    own = error.get("stacktrace") if isinstance(error, dict) else None
    spoken = step.source is not StepSource.FRAMEWORK
    return Failure(
        FailureKind.PROVIDER if spoken else FailureKind.MODEL,
        named,
        message,
        model=step.model,
        pointer="/output/error",
        records=records(step.evidence, "response", "span", "log"),
        sign=signs.of_name(named) or signs.of_errno(message),
        stack=own if isinstance(own, str) else stack if isinstance(stack, str) else None,
    )


def _has_response(step: Step) -> bool:
    return any(record.get("what") == "response" for record in records(step.evidence))


def _answer(step: Step) -> Iterator[Failure]:
    """What the answer itself says went wrong: a refusal, a filter, a limit, nothing at all."""
    output = step.output
    reason = output.get("finish_reason")
    kind = finish_kind(reason)
    refusal = output.get("refusal")
    where = records(step.evidence, "response", "span", "log")
    if refusal is not None or kind is FailureKind.REFUSAL:
        said = refusal if isinstance(refusal, str) else told(refusal)[1] or _text(output.get("text"))
        pointer = "/output/refusal" if refusal is not None else "/output/finish_reason"
        yield Failure(
            FailureKind.REFUSAL,
            _text(reason) if kind is FailureKind.REFUSAL else "refusal",
            said,
            model=step.model,
            pointer=pointer,
            records=where,
            sign=signs.Sign.REFUSAL,
        )
        return
    if kind is not None and output.get("error") is None:
        sign = {FailureKind.LENGTH: None, FailureKind.CONTENT_FILTER: signs.Sign.CONTENT_FILTER}.get(kind)
        yield Failure(
            kind,
            f"finish_reason {reason}",
            _ending(output),
            model=step.model,
            pointer="/output/finish_reason",
            records=where,
            sign=sign,
        )
    elif _is_empty(step):
        yield Failure(
            FailureKind.EMPTY,
            f"finish_reason {reason}",
            None,
            model=step.model,
            pointer="/output/text",
            records=where,
        )


def _ending(output: JsonObject) -> str | None:
    """The last words before an answer was cut."""
    text = _text(output.get("text"))
    if text is None:
        return None
    text = text.strip()
    return f"the answer ends with “{text[-80:]}”" if len(text) > 80 else f"the answer is “{text}”" if text else None


def _is_empty(step: Step) -> bool:
    """An answer that was recorded, is over, and holds nothing."""
    output = step.output
    if step.status is not StepStatus.COMPLETE or output.get("finish_reason") is None:
        return False
    spoken = step.source is not StepSource.FRAMEWORK and output.get("output_source") is None
    choices: Any = output.get("choices")
    answers = [item for item in choices if isinstance(item, dict)] if isinstance(choices, list) else []
    return not output.get("other_parts") and all(_says_nothing(answer, spoken) for answer in answers or [output])


def _says_nothing(answer: JsonObject, spoken: bool) -> bool:
    if answer.get("tool_calls") or answer.get("refusal"):
        return False
    text = answer.get("text")
    return text == "" or (text is None and spoken)


def _emitted(step: Step, number: int, log: ToolLog, offered: Offered) -> Iterator[Failure]:
    """What is wrong with a call as the model wrote it, where it was not carried out all the same."""
    if step.kind is StepKind.TOOL_ONLY or log.execution_status is ExecutionStatus.SUCCEEDED:
        return
    where = records(step.evidence, "response", "span", "log")
    name = log.tool_name
    calls = step.output.get("tool_calls")
    call: Any = calls[number] if isinstance(calls, list) and number < len(calls) else None
    arguments = call.get("arguments") if isinstance(call, dict) else log.input_arguments
    base = Failure(
        FailureKind.UNKNOWN_TOOL,
        model=step.model,
        tool=name,
        tool_call_id=log.tool_call_id,
        pointer=f"/output/tool_calls/{number}",
        records=where,
    )
    if name is not None and offered.known and not offered.has(name):
        base.code, base.message = name, f"{name} is not among the tools that the model was offered"
        yield base
    elif unparsable(arguments) and not offered.takes_text(name):
        base.kind, base.code, base.message = FailureKind.ARGUMENTS, name, _text(arguments)
        base.pointer += "/arguments"
        yield base
    elif (
        log.execution_status is ExecutionStatus.ERROR and (departure := offered.departure(name, arguments)) is not None
    ):
        base.kind, base.code, base.message = FailureKind.UNDECLARED, name, departure
        base.pointer += "/arguments"
        yield base


def _executed(step: Step, number: int, log: ToolLog) -> Iterator[Failure]:
    code, signal = exit_of(log)
    failed = log.execution_status is ExecutionStatus.ERROR
    bad_exit = signal is not None or (code is not None and code != 0)
    if not failed and not bad_exit:
        return
    said: Any = log.evidence.get("exception")
    said = said if isinstance(said, dict) else {}
    name, message = told(log.evidence.get("error"))
    pointer = "evidence/error"
    if message is None or " " not in message:  # no error, or the name of one: the tool's output says more
        more, output = told(log.outputs)
        name = name or message or more
        message, pointer = (output, "outputs") if output is not None else (message, pointer)
    named = _text(said.get("type")) or name or exception_name(message)
    kind = FailureKind.SIGNAL if signal is not None else FailureKind.EXIT if bad_exit else FailureKind.TOOL
    words = f"signal {signal}" if signal is not None else f"exit {code}" if bad_exit else named
    pointer = "exit_status" if bad_exit else pointer if message is not None else "execution_status"
    yield Failure(
        kind,
        words,
        message if message is not None else _text(said.get("message")),
        tool=log.tool_name,
        tool_call_id=log.tool_call_id,
        pointer=f"/tool_logs/{number}/{pointer}",
        records=records(log.evidence),
        exit_code=code,
        signal=signal,
        stack=_text(said.get("stacktrace")),
        sign=signs.of_signal(signal) or signs.of_name(named) or signs.of_errno(message),
    )


def exit_of(log: ToolLog) -> tuple[int | None, str | None]:
    """Exit code and signal of an execution, as recorded."""
    status = log.exit_status or {}
    code, signal = status.get("exitCode"), status.get("signal")
    return code if type(code) is int else None, signal if isinstance(signal, str) else None


def step_gaps(step: Step) -> list[Gap]:
    """What one step does not tell."""
    out: list[Gap] = []
    if step.kind is StepKind.MODEL and step.status is StepStatus.INCOMPLETE and not any(_call(step)):
        out.append(Gap(GapKind.NO_RESPONSE, what=step.model, pointer="/output"))
    for number, log in enumerate(step.tool_logs):
        pointer = f"/tool_logs/{number}"
        if log.link is LinkStatus.AMBIGUOUS:
            found = log.evidence.get("candidates")
            count = len(found) if isinstance(found, list) else 0
            out.append(Gap(GapKind.AMBIGUOUS, what=log.tool_name, detail=f"{count} candidates", pointer=pointer))
        elif log.execution_status is ExecutionStatus.NOT_OBSERVED:
            begun = log.link is LinkStatus.EXACT or step.kind is StepKind.TOOL_ONLY
            kind = GapKind.NEVER_ENDED if begun else GapKind.NOT_OBSERVED
            guess: Any = log.evidence.get("inferred")
            detail = f"inferred, not linked: step {guess.get('step_id')}" if isinstance(guess, dict) else None
            out.append(Gap(kind, what=log.tool_name, detail=detail, inferred=detail is not None, pointer=pointer))
    for gap in out:
        gap.step_id, gap.input_ordinal, gap.agent = step.step_id, step.input_ordinal, step.agent_name
        gap.pointer = f"/steps/{step.step_id - 1}{gap.pointer}"
    return out


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
