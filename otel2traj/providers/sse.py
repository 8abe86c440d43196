"""A streamed body to its frames, however the recorder kept it."""

from __future__ import annotations

from ..canonical import JsonError, JsonObject, JsonValue, loads
from .eventstream import frames_of

DONE = "[DONE]"


def frames(payload: JsonValue) -> list[JsonValue] | None:
    """The decoded frames of a stream in order, or None when the payload is no stream.

    Accepts `{"events": [...]}`, a bare list (Gemini without `alt=sse`), the raw text of an event stream or of JSON
    Lines, alone or as `{"text": ...}`, and Amazon's binary event stream as `{"encoding": "base64", "data": ...}`. A
    frame that is not JSON stays a string, so that a cut last frame can be told.
    """
    if isinstance(payload, dict):
        events = payload.get("events")
        if isinstance(events, list):
            return [event for event in events if event != DONE]
        if payload.get("encoding") == "base64" and isinstance(payload.get("data"), str):
            return frames_of(payload["data"])
        text = payload.get("text") if len(payload) == 1 else None
        return _of_text(text) if isinstance(text, str) else None
    if isinstance(payload, str):
        return _of_text(payload)
    return payload if isinstance(payload, list) else None


def _of_text(text: str) -> list[JsonValue] | None:
    return _parse(text) if _looks_streamed(text) else _json_lines(text)


def _json_lines(text: str) -> list[JsonValue] | None:
    """The objects of JSON Lines (`application/x-ndjson`), the last of which may be cut; None for any other text."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
        return None
    out: list[JsonValue] = []
    for number, line in enumerate(lines, 1):
        try:
            out.append(loads(line))
        except JsonError:
            if number < len(lines):
                return None
            out.append(line)
    return out


def objects(events: list[JsonValue]) -> list[JsonObject]:
    return [event for event in events if isinstance(event, dict)]


def _looks_streamed(text: str) -> bool:
    head = text.lstrip("\ufeff\r\n")[:6]
    return head.startswith(("data:", "event:", "id:", ": ", ":\n", "retry:"))


def _parse(text: str) -> list[JsonValue]:
    """`data:` lines of one block are joined by a line feed, as the event stream format says
    (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)."""
    out: list[JsonValue] = []
    data: list[str] = []

    def flush() -> None:
        if not data:
            return
        whole = "\n".join(data)
        data.clear()
        if whole == DONE:
            return
        try:
            out.append(loads(whole))
        except JsonError:
            out.append(whole)

    for line in text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            flush()
        elif line.startswith("data:"):
            data.append(line[6:] if line.startswith("data: ") else line[5:])
    flush()
    return out
