"""A task span around a tool to the tool call it was started with, where its recorded input is exactly one, and to the
call it answered, where its recorded output is exactly one tool message.

LangGraph starts one `tools` task for each call of a turn and gives it the whole call. A tool that raises has no
ToolMessage, so this is the only place where its call id is recorded. LlamaIndex starts one `call_tool` step for each
call and records the event as the repr of its class, with the id last.
"""

from __future__ import annotations

import re
from typing import Final

from ..canonical import JsonValue
from ..messages import Part, PartKind, ToolCall
from ..messages.nested import decode
from ..messages.reader import read_messages
from ..model.evidence import SpanRecord
from .tool_payload import call_input

_INPUTS: Final = ("input.value", "traceloop.entity.input", "gen_ai.task.input", "gen_ai.prompt", "mlflow.spanInputs")
_OUTPUTS: Final = (
    "output.value",
    "traceloop.entity.output",
    "gen_ai.task.output",
    "gen_ai.completion",
    "mlflow.spanOutputs",
)

_LLAMA_INDEX_EVENT: Final = re.compile(r"ToolCall\(tool_name='([^']*)', tool_kwargs=.*, tool_id='([^']+)'\)", re.DOTALL)


def started_with(given: JsonValue) -> ToolCall | None:
    """The one tool call in a task's input: bare, in a list of one, or under `input`, `inputs` or `request`."""
    value = decode(given, repair=False).value
    for key in ("inputs", "input", "request"):
        if isinstance(value, dict) and key in value and "type" not in value:
            value = value[key]
            break
    if isinstance(value, dict) and isinstance(value.get("ev"), str):
        event = _LLAMA_INDEX_EVENT.fullmatch(value["ev"])
        return None if event is None else ToolCall(event.group(2), event.group(1))
    return call_input(value)


def enclosed_call(span: SpanRecord) -> ToolCall | None:
    """The one tool call that a span was started with, or None."""
    for key in _INPUTS:
        given = span.attributes.get(key)
        if given is not None:
            return started_with(given)
    return None


def answered_with(given: JsonValue) -> Part | None:
    """The one tool result in a task's output: a tool message alone, in a list of one, or so under `outputs`, `output`,
    `messages`."""
    value = decode(given, repair=False).value
    for key in ("outputs", "output", "messages"):
        if isinstance(value, dict) and key in value and "type" not in value:
            value = value[key]
    if not isinstance(value, dict | list) or (isinstance(value, list) and len(value) != 1):
        return None
    parts = [part for message in read_messages(value) for part in message.parts]
    if len(parts) != 1 or parts[0].kind is not PartKind.TOOL_RESULT or parts[0].hosted:
        return None
    return parts[0]


def enclosed_answer(span: SpanRecord) -> Part | None:
    """The one tool result that a span ended with, or None."""
    given = next((span.attributes[key] for key in _OUTPUTS if span.attributes.get(key) is not None), None)
    return None if given is None else answered_with(given)
