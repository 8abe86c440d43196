"""What a framework recorder says of one model call or tool execution: in its own records, or in spans with payload
files."""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject, JsonValue, dumps
from ..dialects import langchain_dump
from ..messages.nested import decode
from ..model.heads import SpanHead
from ..model.reading import Reading, Role
from .acp import CONTEXT, accumulate
from .archive import Archive
from .unsaid import beside, unsaid

_BODIES: Final = ("input", "output", "metadata", "error")
_NAMED: Final = CONTEXT | {"span_id", "parent_span_id", "kind", "name", "tool_call_id", "tool_status"}
_KINDS: Final = (
    "tool", "ai", "AIMessageChunk", "constructor", "ChatGeneration", "ChatGenerationChunk", "Generation", "LLMResult"
)  # fmt: skip
"""What LangChain calls its own objects."""


def read_framework(archive: Archive, head: SpanHead) -> Reading:
    """The last value of each member stands; what it replaced and what has no field of a reading is kept beside."""
    call_id: str | None = None
    status: str | None = None
    name: str | None = None
    told: list[JsonObject] = []
    for part in head.parts:
        if not part.what.startswith(("span_", "tool_outcome")):
            continue
        data = archive.fetch_abb(part.ref).data
        call_id = data["tool_call_id"] if isinstance(data.get("tool_call_id"), str) else call_id
        if part.what == "tool_outcome" and isinstance(data.get("status"), str):
            status = status or ("succeeded" if data["status"] == "succeeded" else "error")
        status = data["tool_status"] if isinstance(data.get("tool_status"), str) else status
        name = data["name"] if isinstance(data.get("name"), str) else name
        told.append({key: value for key, value in data.items() if key not in _NAMED})
    bodies, replaced = accumulate(told)
    reading = read_dump(head, bodies, call_id, status, name)
    reading.extra.update(beside(bodies, *_BODIES))
    if replaced:
        reading.extra["replaced"] = replaced
    return reading


def read_dump(head: SpanHead, bodies: JsonObject, call_id: str | None, status: str | None, name: str | None) -> Reading:
    """The reading of LangChain's dumps of a span's input, output, metadata and error."""
    error, metadata = bodies.get("error"), bodies.get("metadata")
    failure = None if error is None else error if isinstance(error, str) else dumps(error).decode("utf-8")
    known = metadata if isinstance(metadata, dict) else {}
    given, taken = bodies.get("input"), bodies.get("output")
    if head.role is Role.TOOL_EXECUTION:
        reading = langchain_dump.read_tool(given, taken, call_id, status, failure, known)
        reading.tool_name = name if name is not None else reading.tool_name
    else:
        reading = langchain_dump.read_llm(given, taken, known, failure)
    left = _left(taken, reading)
    if left is not None:
        reading.extra["output"] = left
    if metadata:
        reading.extra["metadata"] = metadata
    return reading


def _left(output: JsonValue, reading: Reading) -> JsonValue:
    """What an output holds beside what is read of it; a tool's output that is no message is its result as it is."""
    value = decode(output, repair=False).value
    of_tool = reading.role is Role.TOOL_EXECUTION
    answers = langchain_dump.answers_in(value, reading.tool_call_id, of_tool=of_tool)
    if not isinstance(value, dict | list) or (of_tool and not answers):
        return None
    said: dict[str, list[JsonValue]] = {
        "lc": [1],
        "type": list(_KINDS),
        "role": ["assistant", "tool"],
        "status": ["success", "error"],
        "name": [reading.tool_name],
        "tool_call_id": [reading.tool_call_id],
        "text": [reading.text],
        "reasoning_content": [reading.reasoning],
        "finish_reason": [reading.finish_reason],
        "model_name": [reading.response_model],
        "model": [reading.response_model],
        "id": [reading.response_id],
        "content": [],
        "tool_calls": [],
        "tool_call_chunks": [],
    }
    for answer in answers:
        for key in ("content", "tool_calls", "tool_call_chunks"):
            said[key].append(answer.get(key))
    return unsaid(value, said)
