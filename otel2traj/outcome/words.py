"""Recorded error values to a code and a message, and to the one line of them that holds the reason."""

from __future__ import annotations

import re
from typing import Final

from ..canonical import JsonError, JsonObject, JsonValue, dumps, loads

KEPT: Final = 8192
"""Characters of a message that a failure keeps; the pointer leads to the whole."""
_LINE: Final = 200
_CODES: Final = ("code", "type", "error_type", "error_code", "name", "exception", "__type", "status", "reason")
_MESSAGES: Final = (
    "message", "error_message", "msg", "detail", "details", "description", "error_description", "title", "stderr",
    "text", "content", "output", "value", "stdout", "body",
)  # fmt: skip
_WRAPPERS: Final = ("error", "errors", "exception", "cause", "data", "lastError")
_GENERIC: Final = frozenset({"error", "text", "tool_result", "exception", "tool_message", "none", "null", "content"})


def kept(text: str | None) -> str | None:
    """`text`, without its middle where it is longer than a failure keeps."""
    if text is None or len(text) <= KEPT:
        return text
    half = KEPT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"


def told(value: JsonValue, depth: int = 0) -> tuple[str | None, str | None]:
    """`(code, message)` of an error value: an object's own code and message, or the text of anything else."""
    if value is None or depth > 6:
        return None, None
    if isinstance(value, str):
        opened = _opened(value)
        if opened is None:
            return None, value
        code, message = told(opened, depth + 1)
        return code, value if message is None and not _elsewhere(opened) else message
    if isinstance(value, dict):
        return _object(value, depth)
    if isinstance(value, list):
        pairs = [told(item, depth + 1) for item in value[:64]]
        code = next((code for code, _ in pairs if code is not None), None)
        texts = [text for _, text in pairs if text is not None]
        return code, "\n".join(texts) if texts else None
    return None, dumps(value).decode("utf-8")


def _elsewhere(value: JsonValue) -> bool:
    """Whether a value is nothing but references to ACP terminals, whose output stands elsewhere."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, dict) and item.get("type") == "terminal" for item in items)


def _object(value: JsonObject, depth: int) -> tuple[str | None, str | None]:
    if value.get("truncated") is True and isinstance(value.get("head"), str):
        return None, value["head"]
    if value.get("type") == "terminal":
        return None, None  # ACP: its output stands elsewhere
    code, message = None, None
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, (dict, list)) or (isinstance(inner, str) and inner):
            code, message = told(inner, depth + 1)
            if message is not None:
                break
    if code is None:
        code = next((found for key in _CODES if (found := _code(value.get(key))) is not None), None)
    if message is None:
        for key in _MESSAGES:
            inner = value.get(key)
            if inner is None or inner == "" or inner == []:
                continue
            also, message = told(inner, depth + 1)
            code = code if code is not None else also
            if message is not None:
                break
    if message is None:
        message = dumps(value).decode("utf-8")
    return code, message


def _code(value: JsonValue) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and value and value.lower() not in _GENERIC and len(value) <= 120 and "\n" not in value:
        return value
    return None


def _opened(text: str) -> JsonValue:
    """The object or list that a text is, or None."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > 1 << 20:
        return None
    try:
        value = loads(text)
    except JsonError:
        return None
    return value if isinstance(value, (dict, list)) else None


_NAME: Final = re.compile(
    r"\A\s*(?:<class ')?([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Exit|Interrupt|Warning|Refused|Reset|Overflow"
    r"|Exceeded|Violation|Failure|Behavior|Retry))(?:'>)?(?=[\s:({,]|\Z)"
)
_LAST: Final = re.compile(
    r"^([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Exit|Interrupt|Exceeded))(?::|\Z)", re.MULTILINE
)


def exception_name(text: str | None) -> str | None:
    """The class that a text is the printed exception of (`ReadTimeout('…')`, `RuntimeError: …`, the last line of a
    traceback), or None. Words about errors are no name."""
    if text is None:
        return None
    match = _NAME.match(text)
    if match is not None:
        return match[1]
    if "Traceback (most recent call last)" in text:
        found = _LAST.findall(text)
        return found[-1] if found else None
    return None


def reason_line(code: str | None, message: str | None, limit: int = _LINE) -> str:
    """`code: message` on one line; of a text of many lines the first and the last that are not empty."""
    lines = [] if message is None else [line.strip() for line in message.split("\n") if line.strip()]
    if not lines:
        return code or ""
    text = " ".join(_cut(lines[0], limit).split())
    if len(lines) > 1:
        text = f"{text} … {' '.join(_cut(lines[-1], limit).split())}"
    if code is None or code in text:
        return text
    return f"{code}: {text}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
