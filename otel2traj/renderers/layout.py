"""One step into blocks, in one of the three modes."""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import emitted
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind, StepStatus, ToolLog
from ..outcome import step_failures
from .base import Mode
from .beside import beside_answer, beside_tool
from .blocks import Block, Head, Line, Quote, Say, Tone, Words
from .glance import exit_words
from .history import History
from .messages import Piece, PieceKind, media_words, pieces_of, read_said
from .safe import value_text
from .select import exit_failed
from .words import KEEP, clock, cost_of, cost_words, place_words, request_text, seconds, truncate_middle, usage_words

_STATUS = {
    ExecutionStatus.SUCCEEDED: ("✓ succeeded", Tone.GOOD),
    ExecutionStatus.ERROR: ("✗ error", Tone.BAD),
    ExecutionStatus.NOT_OBSERVED: ("? not observed", Tone.WARN),
}
_LINK = {
    LinkStatus.EXACT: ("= exact link", Tone.DIM),
    LinkStatus.AMBIGUOUS: ("~ ambiguous link", Tone.WARN),
    LinkStatus.NONE: ("- no link", Tone.DIM),
}
_SEP: Words = (" · ", Tone.DIM)


def joined(parts: list[Words]) -> list[Words]:
    out: list[Words] = []
    for part in parts:
        out += [_SEP, part] if out else [part]
    return out


def agent_of(step: Step) -> str:
    return step.agent_name if step.agent_name is not None else "(agent not recorded)"


class StepLayout:
    """Lays out steps in order; remembers digests of what it has shown, for folding."""

    def __init__(self, *, fold: bool, inference: bool) -> None:
        self._history = History() if fold else None
        self._inference = inference

    def blocks(self, step: Step, mode: Mode) -> list[Block]:
        if mode is Mode.RESPONSE_ONLY:
            return [Say(f"Step {step.step_id} - {agent_of(step)}: ", response_text(step))]
        request = self._request(step) if mode is Mode.FULL else _short_request(step)
        logs: list[Block] = []
        for log in step.tool_logs:
            logs += self._log(log, mode)
        places = [] if step.kind is StepKind.TOOL_ONLY and step.tool_logs else _places(step.evidence, 1)
        return [*_head(step, self._inference), *request, *_answer(step), *logs, *places]

    def _request(self, step: Step) -> list[Block]:
        out: list[Block] = []
        for what in ("system", "tools"):
            value = step.input.get(what)
            if value is None:
                continue
            count = f" ({len(value)})" if isinstance(value, list) else ""
            before = None if self._history is None else self._history.same_as(what, value, step.step_id)
            if before is not None:
                out.append(Line([(f"{what}{count} as in step {before}", Tone.DIM)], 1))
            elif what == "tools":
                names = (
                    [name for name in (_tool_name(tool) for tool in value) if name] if isinstance(value, list) else []
                )
                out.append(Line([("tools offered" + count, Tone.STRONG), (": " + ", ".join(names), Tone.PLAIN)], 1))
            else:
                out += [Line([(what, Tone.STRONG)], 1), Quote(value_text(value), 2)]
        parameters = step.input.get("parameters")
        if parameters:
            out.append(Line([("parameters ", Tone.DIM), (value_text(parameters), Tone.DIM)], 1))
        messages = step.input.get("messages")
        if isinstance(messages, list):
            out += self._messages(messages, step.step_id)
        elif messages is not None:
            out += [Line([("input", Tone.STRONG)], 1), Quote(value_text(messages), 2)]
        return out

    def _messages(self, messages: list[JsonValue], step_id: int) -> list[Block]:
        folds = [] if self._history is None else self._history.fold(messages, step_id)
        out: list[Block] = []
        at = 1
        for fold in folds:
            for n in range(at, fold.first):
                out += message_blocks(messages[n - 1], n)
            span = f"messages {fold.first}–{fold.last}" if fold.last > fold.first else f"message {fold.first}"
            moved = "" if fold.at == fold.first else f", there from message {fold.at}"
            out.append(Line([(f"{span} as in step {fold.step_id}{moved}", Tone.DIM)], 1))
            at = fold.last + 1
        for n in range(at, len(messages) + 1):
            out += message_blocks(messages[n - 1], n)
        return out

    def _log(self, log: ToolLog, mode: Mode) -> list[Block]:
        name = log.tool_name if log.tool_name is not None else "(no name recorded)"
        words: list[Words] = [_STATUS[log.execution_status], _LINK[log.link]]
        exit_status = exit_words(log)
        if exit_status is not None:
            words.append((("✗ " if exit_failed(log) else "") + exit_status, Tone.BAD if exit_failed(log) else Tone.DIM))
        inferred = log.evidence.get("inferred") if self._inference else None
        if isinstance(inferred, dict):
            where = f"i inferred, not linked: step {inferred.get('step_id')} by rule {inferred.get('rule')}"
            words.append((where, Tone.NOTE))
        if log.tool_call_id is not None:
            words.append((f"id {log.tool_call_id}", Tone.DIM))
        took = seconds(log.evidence.get("started_at"), log.evidence.get("ended_at"))
        if took is not None:
            words.append((took, Tone.DIM))
        out: list[Block] = [Line([("tool ", Tone.STRONG), (name, Tone.NAME), ("  ", Tone.PLAIN), *joined(words)], 1)]
        if log.input_arguments is not None:
            out.append(Line([("arguments", Tone.DIM)], 2))
            out.append(Quote(_value(log.input_arguments, mode), 3, _language(log.input_arguments)))
        if log.outputs is not None:
            out.append(Line([("output", Tone.DIM)], 2))
            out.append(Quote(_value(log.outputs, mode), 3, _language(log.outputs)))
        elif log.execution_status is ExecutionStatus.NOT_OBSERVED:
            out.append(Line([("the model asked for this; no execution of it was recorded", Tone.WARN)], 2))
        error = log.evidence.get("error")
        if error is not None:
            out += [Line([("error", Tone.DIM)], 2), Quote(_value(error, mode), 3, _language(error))]
        out += _stack(log.evidence, 2) + beside_tool(log)
        reported = log.evidence.get("reported_result")
        if isinstance(reported, dict) and log.execution_status is ExecutionStatus.NOT_OBSERVED:
            place = reported.get("position")
            where = f"step {reported['step_id']}" if "step_id" in reported else "a later request"
            which = f", tool result {place + 1} of its messages" if isinstance(place, int) else ""
            said = f"{where} reports a result for this call{which} (interaction {reported.get('interaction_id')})"
            out.append(Line([(said, Tone.DIM)], 2))
        candidates = log.evidence.get("candidates")
        if isinstance(candidates, list):
            emitters = log.evidence.get("emitters")
            out.append(Line([(f"emitted by {emitters} answers, candidates: {len(candidates)}", Tone.WARN)], 2))
            for candidate in candidates:
                out += _candidate(candidate)
        return out + _places(log.evidence, 2)


def _candidate(candidate: JsonValue) -> list[Block]:
    """An execution that may be the one: what is recorded of it, and what it and the call say of each other."""
    if not isinstance(candidate, dict):
        return [Line([(value_text(candidate), Tone.WARN)], 3)]
    witness = candidate.get("witness")
    said = witness.items() if isinstance(witness, dict) else ()
    words: list[Words] = [(str(candidate.get("tool_name") or "(no name recorded)"), Tone.NAME)]
    words += [(f"{name} {word}", Tone.BAD if word == "contradicts" else Tone.DIM) for name, word in said]
    words.append((f"interaction {candidate.get('interaction_id')}", Tone.DIM))
    out: list[Block] = [Line([("candidate ", Tone.WARN), *joined(words)], 3)]
    for what, key in (("arguments", "input_arguments"), ("output", "outputs")):
        if candidate.get(key) is not None:
            out.append(Line([(f"its {what}: {value_text(candidate[key])}", Tone.DIM)], 4))
    return out


def _head(step: Step, inference: bool) -> list[Block]:
    words: list[Words] = [(f"step {step.step_id}", Tone.STRONG), (agent_of(step), Tone.NAME)]
    if step.kind is StepKind.TOOL_ONLY:
        words.append(("tool execution that no model call emitted", Tone.WARN))
    if step.status is StepStatus.FAILED:
        words.append(("✗ failed", Tone.BAD))
    elif step.status is StepStatus.INCOMPLETE:
        words.append(("? incomplete: no response recorded", Tone.WARN))
    cost, _ = cost_of(step)
    facts: list[str | None] = [
        step.model,
        step.source,
        None if step.purpose in (None, "unknown") else f"purpose {step.purpose}",
        None if step.started_at is None else clock(step.started_at),
        seconds(step.started_at, step.ended_at),
        usage_words(step.output.get("usage")),
        None if cost is None else cost_words(cost),
        None if step.output.get("finish_reason") is None else f"finish {step.output['finish_reason']}",
    ]
    out: list[Block] = [
        Head(3, joined(words)),
        Line(joined([(fact, Tone.DIM) for fact in facts if fact is not None]), 1),
    ]
    guess = step.evidence.get("inferred_call") if inference else None
    if isinstance(guess, dict):
        said = f"i inferred, not linked: call {guess.get('tool_call_id')} of step {guess.get('step_id')}"
        out.append(Line([(f"{said} by rule {guess.get('rule')}", Tone.NOTE)], 1))
    return out


def _short_request(step: Step) -> list[Block]:
    if not step.input:
        return []
    text, gone = truncate_middle(request_text(step))
    note = f"request, {len(text) if not gone else gone + 2 * KEEP} characters of JSON"
    if gone:
        note += f", {gone} of them left out of the middle"
    return [Line([(note, Tone.STRONG if not gone else Tone.WARN)], 1), Quote(text, 2)]


def message_blocks(message: JsonValue, number: int) -> list[Block]:
    out: list[Block] = []
    for said in read_said(message):
        name = "" if said.name is None else f" {said.name}"
        out.append(Line([(f"{number} ", Tone.DIM), (said.role + name, Tone.STRONG)], 1))
        if not said.pieces:
            out.append(Line([("(empty)", Tone.DIM)], 2))
        for piece in said.pieces:
            out += _piece(piece)
    return out or [Line([(f"{number} ", Tone.DIM), ("(empty)", Tone.DIM)], 1)]


def _piece(piece: Piece) -> list[Block]:
    if piece.kind is PieceKind.TEXT:
        return [Quote(value_text(piece.value), 2)]
    media = media_words(piece.value) if piece.kind is PieceKind.OTHER else None
    if media is not None:
        return [Line([(media, Tone.NOTE)], 2)]
    words: list[Words] = [(str(piece.kind), Tone.DIM)]
    if piece.name is not None:
        words += [(" ", Tone.PLAIN), (piece.name, Tone.NAME)]
    if piece.id is not None:
        words.append((f" id {piece.id}", Tone.DIM))
    quote: list[Block] = [] if piece.value is None else [Quote(value_text(piece.value), 3, _language(piece.value))]
    return [Line(words, 2), *quote]


def _answer(step: Step) -> list[Block]:
    output = step.output
    out: list[Block] = []
    for key, label in (("reasoning", "reasoning"), ("text", "answer"), ("refusal", "refusal")):
        value = output.get(key)
        if value is not None and value != "":
            source = (
                " (from the framework span)" if key == "text" and output.get("output_source") == "framework" else ""
            )
            out += [Line([(label + source, Tone.STRONG)], 1), Quote(value_text(value), 2)]
    for failure in step_failures(step):
        if failure.tool is None:
            out.append(Line([(f"✗ {failure.kind}", Tone.BAD), (f"  {failure.reason}", Tone.PLAIN)], 1))
    for key in ("wire_error", "error"):
        if output.get(key) is not None:
            out += [Line([(key.replace("_", " "), Tone.STRONG)], 1), Quote(value_text(output[key]), 2, "json")]
    out += _stack(step.evidence, 1)
    logged = {log.tool_call_id for log in step.tool_logs}
    for call in emitted(output):
        if call.id not in logged:
            out += [block for piece in pieces_of(call) for block in _piece(piece)]
    others = output.get("other_parts")
    for part in others if isinstance(others, list) else []:
        out += [Line([("other part of the answer", Tone.DIM)], 1), Quote(value_text(part), 2, "json")]
    choices = output.get("choices")
    if isinstance(choices, list) and len(choices) > 1:
        out += [Line([(f"all {len(choices)} choices", Tone.STRONG)], 1), Quote(value_text(choices), 2, "json")]
    return out + beside_answer(step)


def _stack(evidence: JsonObject, depth: int) -> list[Block]:
    told = evidence.get("exception")
    stack = told.get("stacktrace") if isinstance(told, dict) else None
    if not isinstance(stack, str):
        return []
    return [Line([("stack", Tone.DIM)], depth), Quote(stack, depth + 1)]


def response_text(step: Step) -> str:
    """The response alone: text, reasoning where there is no text, calls; a tool-only step answers with its output."""
    output, said = step.output, []
    for key in ("text", "refusal"):
        if output.get(key) not in (None, ""):
            said.append(value_text(output[key]))
    if not said and output.get("reasoning") not in (None, ""):
        said.append(value_text(output["reasoning"]))
    said += [f"call {call.name} {value_text(call.value)}" for call in emitted(output)]
    if output.get("wire_error") is not None:
        said.append(f"[wire error] {value_text(output['wire_error'])}")
    if step.kind is StepKind.TOOL_ONLY:
        said += [f"tool {log.tool_name}: {value_text(log.outputs)}" for log in step.tool_logs]
    return (
        "\n".join(said) if said else "[no response recorded]" if step.status is not StepStatus.COMPLETE else "[empty]"
    )


def _tool_name(tool: JsonValue) -> str | None:
    if not isinstance(tool, dict):
        return None
    function = tool.get("function")
    inner: JsonObject = function if isinstance(function, dict) else tool
    name = inner.get("name")
    return name if isinstance(name, str) else value_text(tool.get("type"))


def _value(value: JsonValue, mode: Mode) -> str:
    text = value_text(value)
    return truncate_middle(text)[0] if mode is Mode.TRUNCATE_MIDDLE else text


def _language(value: JsonValue) -> str:
    return "" if isinstance(value, str) else "json"


def _places(evidence: JsonObject, depth: int) -> list[Block]:
    places = place_words(evidence.get("records"))
    return [Line([("bytes ", Tone.DIM), (place, Tone.DIM)], depth) for place in places]
