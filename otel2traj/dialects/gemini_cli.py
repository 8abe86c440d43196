"""Gemini CLI and Qwen Code: spans (off by default) and log events; identifiers are few.

https://github.com/google-gemini/gemini-cli/tree/v0.61.0/packages/core/src/telemetry
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from ..canonical import JsonObject, JsonValue
from ..messages.answer import output_of
from ..messages.nested import decode, decode_arguments, ident, is_cut, string
from ..messages.parts import Part, PartKind
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role
from .base import Declaration, LogClassified, Marks
from .bodies import read_response
from .draft import Draft
from .kit import SpanDialect
from .otel_genai_1_37 import read_carrier
from .table import AttributeTable, UsageKeys, count, finish, make_usage

NAME: Final = "gemini_cli"
TITLE: Final = "Gemini CLI and Qwen Code"
SOURCE: Final = "https://github.com/google-gemini/gemini-cli/tree/v0.61.0/packages/core/src/telemetry"
SWITCH_ON: Final = (
    "telemetry.enabled=true with telemetry.logPrompts (default true); spans: GEMINI_TELEMETRY_TRACES_ENABLED"
)
LEAVES_OUT: Final = "Tool results and tool call ids in log events; span values beyond 10 000 characters."
DETAILS: Final = "gen_ai.client.inference.operation.details"
_SCOPES: Final = ("gemini-cli", "qwen-code")
_EVENTS: Final = ("gemini_cli.", "qwen-code.")


class GeminiCli(SpanDialect):
    name = NAME
    title = TITLE
    source = SOURCE
    switch_on = SWITCH_ON
    leaves_out = LEAVES_OUT
    marks = Marks(scopes=_SCOPES, keys=("gen_ai.tool.call_id", "gen_ai.prompt.name"))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "llm_call": Role.MODEL_CALL,
        "tool_call": Role.TOOL_EXECUTION,
        "agent_call": Role.AGENT,
        "user_prompt": Role.AGENT,
        "schedule_tool_calls": Role.CHAIN,
        "system_prompt": Role.CHAIN,
    }
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call_id", "gen_ai.tool.call.id"),
        conversation_id=("gen_ai.conversation.id", "session.id"),
        agent_name=("gen_ai.agent.name",),
        usage=UsageKeys(input=("gen_ai.usage.input_tokens",), output=("gen_ai.usage.output_tokens",)),
        known=("gen_ai.input.", "gen_ai.output.", "gen_ai.tool.", "gen_ai.agent.", "gen_ai.prompt."),
    )
    hides = ("gen_ai.input.messages", "gen_ai.output.messages")
    """On tool and agent spans they are the arguments and the result; on all they may be Gemini contents."""

    def confirms(self, span: SpanRecord) -> bool:
        operation = span.attributes.get(self.role_key)
        return span.scope_name.startswith(_SCOPES) or (isinstance(operation, str) and operation in self.roles)

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        prompt = span.attributes.get("gen_ai.prompt.name")
        given = span.attributes.get("gen_ai.input.messages")
        if not isinstance(prompt, str) and isinstance(given, str):  # the scheduler's request names its prompt
            named = _PROMPT.search(given)
            prompt = None if named is None else named.group(1)
        found.turn = ident(prompt)
        return found

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        given, answer = draft.attributes.get("gen_ai.input.messages"), draft.attributes.get("gen_ai.output.messages")
        for value, names in ((given, ("messages", "arguments")), (answer, ("text", "tool_calls", "result"))):
            if isinstance(value, str) and is_cut(value):
                draft.cut(*(name for name in names if (name in ("arguments", "result")) == (draft.role is _TOOL)))
        if draft.role is _TOOL:
            _tool(draft, given, answer)
        elif draft.role is Role.MODEL_CALL:
            asked = read_messages(_unwrap(given))
            draft.put_messages(asked)
            if [message.role for message in asked] == ["user"] and len(asked[0].texts()) > 1:
                draft.put("input_text", "\n".join(asked[0].texts()[1:]))  # its own account of the surroundings is first
            answers = _unwrap(answer)
            if isinstance(answers, dict):
                read_response(draft, answers)
            else:
                draft.put_output(output_of(read_messages(answers, "assistant")))
            _plain_ids(draft)
        elif draft.role is Role.AGENT:
            draft.put("input_text", string(_unwrap(given)))
            draft.put("output_text", string(_unwrap(answer)))


_PROMPT: Final = re.compile(r'"prompt_id": ?"([^"\\]+)"')
_TOOL: Final = Role.TOOL_EXECUTION


def _unwrap(value: JsonValue) -> JsonValue:
    return decode(value, quoted=True).value


def _tool(draft: Draft, given: JsonValue, answer: JsonValue) -> None:
    asked = _unwrap(given)
    name = string(draft.attributes.get("gen_ai.tool.name"))
    own = draft.attributes.get("gen_ai.tool.call_id", draft.attributes.get("gen_ai.tool.call.id"))
    draft.put("tool_call_id", ident(plain_id(own, name)))
    if isinstance(asked, dict) and "args" in asked and "name" in asked:  # the scheduler's request
        draft.put("tool_call_id", ident(plain_id(asked.get("callId"), string(asked.get("name")))))
        draft.put("tool_name", string(asked.get("name")))
        if ident(asked.get("traceId")) is not None:
            draft.reading.extra["asked_by_response"] = asked["traceId"]
        asked = asked["args"]
    draft.put("arguments", asked)
    told = _unwrap(answer)
    if isinstance(told, dict) and "request" in told and "status" in told:  # the scheduler's own record of the call
        _completed(draft, told)
        return
    draft.put("result", told)


def _completed(draft: Draft, told: JsonObject) -> None:
    """What came of a call: its status, and what the model was given. The span's own status is OK either way."""
    status = told["status"]
    if status in ("success", "error", "cancelled"):
        draft.put("is_error", status != "success")
    response = told.get("response")
    response = response if isinstance(response, dict) else {}
    parts = response.get("responseParts")
    answers = [
        part["functionResponse"].get("response")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)
    ]
    draft.put("result", answers[0] if len(answers) == 1 else parts)
    if status == "error":
        draft.put("error", string(response.get("resultDisplay")))


def plain_id(value: JsonValue, name: str | None) -> JsonValue:
    """The id of a call as the model's answer had it: the CLI puts the tool's name and two underscores before it."""
    return value.removeprefix(f"{name}__") if isinstance(value, str) and name else value


def _model_messages(draft: Draft) -> None:
    """The event gives the model's own messages the role `system`; the instructions stand apart."""
    draft.reading.messages = [
        replace(message, role="assistant") if message.role == "system" else message
        for message in draft.reading.messages or ()
    ] or None


def _plain_ids(draft: Draft) -> None:
    if draft.reading.messages is not None:
        draft.reading.messages = [
            replace(message, parts=[_with_plain_id(part) for part in message.parts])
            for message in draft.reading.messages
        ]
    for call in draft.reading.tool_calls or ():
        call.id = ident(plain_id(call.id, call.name))


def _with_plain_id(part: Part) -> Part:
    if part.kind not in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT):
        return part
    own = plain_id(part.id, part.name)
    return part if own == part.id or not isinstance(own, str) else replace(part, id=own)


class GeminiCliLogs(Declaration):
    """Log events. One response is told twice, by the CLI's own event and by the conventions' one: both are written
    from one event object and carry its `event.timestamp`, which with the session is the name they share."""

    name = NAME
    title = TITLE
    source = SOURCE
    switch_on = SWITCH_ON
    leaves_out = LEAVES_OUT

    def recognises(self, log: LogRecord) -> bool:
        if log.event_name is None:
            return False
        if log.event_name.startswith(_EVENTS):
            return True
        return log.event_name == DETAILS and (
            log.scope_name.startswith(_SCOPES)
            or str(log.resource.get("service.name", "")).startswith(_SCOPES)
            or ("session.id" in log.attributes and "event.timestamp" in log.attributes)
        )

    def classify(self, log: LogRecord) -> LogClassified | None:
        attributes = log.attributes
        session = ident(attributes.get("session.id"))
        event = _event(log)
        stamp = string(attributes.get("event.timestamp"))
        unique = f"{log.ref.source}:{log.ref.offset}:{log.ref.line}"
        turn = ident(attributes.get("prompt_id"))
        name = unique if stamp is None else f"{session}:{stamp}"
        if event in ("api_response", "api_error") or (event == DETAILS and _answers(attributes)):
            key = f"gemini_cli.model:{name}"
            return LogClassified(Role.MODEL_CALL, key, session, turn=turn, fallback_only=True, own_span=True)
        if event == "tool_call":
            key = ident(attributes.get("gen_ai.tool.call_id")) or ident(attributes.get("call_id")) or unique
            return LogClassified(Role.TOOL_EXECUTION, f"gemini_cli.tool:{key}", session, turn=turn, fallback_only=True)
        if event == "user_prompt":
            prompt = ident(attributes.get("prompt_id")) or unique
            return LogClassified(Role.AGENT, f"gemini_cli.prompt:{prompt}", session, turn=turn)
        return None

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        events = {_event(log) for log in logs}
        role = _TOOL if "tool_call" in events else Role.AGENT if "user_prompt" in events else Role.MODEL_CALL
        draft = Draft(self.name, {}, role)
        for log in sorted(logs, key=lambda log: log.event_name != DETAILS):
            attributes = log.attributes
            draft.put("conversation_id", ident(attributes.get("session.id")), "log")
            if attributes.get("prompt_id") is not None:
                draft.reading.extra.setdefault("prompt_id", attributes["prompt_id"])
            if role is Role.MODEL_CALL:
                if log.event_name == DETAILS:
                    read_carrier(draft, attributes, "log")
                    _details(draft, attributes)
                    _model_messages(draft)
                _response_event(draft, attributes)
                _plain_ids(draft)
            elif role is _TOOL:
                _tool_event(draft, attributes)
            else:
                draft.put("input_text", string(attributes.get("prompt")), "log")
        return draft.reading


def _event(log: LogRecord) -> str:
    name = log.event_name or ""
    for prefix in _EVENTS:
        name = name.removeprefix(prefix)
    return name


def _answers(attributes: Mapping[str, Any]) -> bool:
    return any(key in attributes for key in ("gen_ai.output.messages", "gen_ai.response.id", "gen_ai.response.model"))


def _details(draft: Draft, attributes: Mapping[str, Any]) -> None:
    draft.put("request_model", string(attributes.get("gen_ai.request.model")), "log")
    draft.put("response_model", string(attributes.get("gen_ai.response.model")), "log")
    draft.put("provider", string(attributes.get("gen_ai.provider.name")), "log")


def _response_event(draft: Draft, attributes: Mapping[str, Any]) -> None:
    """`api_response` and `api_error`: the candidates leave the thoughts out, the prompt has the cached tokens in."""
    draft.put("request_model", string(attributes.get("model")), "log")
    if "input_token_count" in attributes or "output_token_count" in attributes:
        draft.put_usage(
            make_usage(
                count(attributes.get("input_token_count")),
                count(attributes.get("output_token_count")),
                count(attributes.get("cached_content_token_count")),
                None,
                count(attributes.get("thoughts_token_count")),
                output_excludes_reasoning=True,
            ),
            "log",
        )
    draft.put("finish_reason", finish(attributes.get("finish_reasons")), "log")
    if not draft.reading.has_output() and attributes.get("response_text") is not None:
        answer = decode(attributes["response_text"]).value
        if isinstance(answer, list) and answer and all(isinstance(a, dict) and "candidates" in a for a in answer):
            for chunk in answer[:1]:
                read_response(draft, chunk, "log")
        else:
            read_response(draft, answer, "log")
    failed = string(attributes.get("error.message")) or string(attributes.get("error"))
    if failed is not None:
        draft.put("is_error", True, "log")
        draft.put("error", failed, "log")


def _tool_event(draft: Draft, attributes: Mapping[str, Any]) -> None:
    draft.put("tool_name", string(attributes.get("function_name")), "log")
    call_id = attributes.get("gen_ai.tool.call_id", attributes.get("call_id"))
    draft.put("tool_call_id", ident(plain_id(call_id, string(attributes.get("function_name")))), "log")
    draft.put("arguments", decode_arguments(attributes.get("function_args")), "log")
    success = attributes.get("success")
    if success in (True, "true", False, "false"):
        draft.put("is_error", success in (False, "false"), "log")
    draft.put("error", string(attributes.get("error.message")) or string(attributes.get("error")), "log")


GEMINI_CLI = GeminiCli()
GEMINI_CLI_LOGS = GeminiCliLogs()
