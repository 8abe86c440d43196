"""Python representations of what a client library answered (`Response(id='resp_1', output=[...])`): read, or known to
be no text. Instrumentations write them where a value has no JSON form of its own.

Only classes of known libraries count, and only with named fields: a model may answer with code, or with calls in
Python's writing.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Final

from ..canonical import JsonObject, JsonValue

_MOST: Final = 1 << 18
"""Characters of a representation that is read; a longer one is kept as it is."""
_CLASS: Final = re.compile(
    r"\s*\[?\s*(?:[A-Za-z_]\w*\.)*"
    r"(?:Parsed)?(?:Response(?:[A-Z]\w*)?|ChatCompletion\w*|Completion|Choice|ModelResponse|GenerateContentResponse"
    r"|(?:AI|Chat)?Message(?:Chunk)?|LLMResult|ChatGeneration|ChatResponse|CompletionResponse|TextBlock|ToolUseBlock"
    r"|RunResult\w*)(?:\[[\w.\[\], ]*\])?\([A-Za-z_]\w*="
)
_OBJECT: Final = re.compile(r"\s*<[A-Za-z_][\w.]* object (?:[\w.<>]+ )?at 0x[0-9a-fA-F]+>\s*")
_TEXT: Final = r"""'(?:[^'\\]|\\.)*(?:'|\\?\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)"""
"""A text, to the end where its closing mark is cut off: a text that is cut is looked for once, not at every mark."""
_WRITTEN: Final = re.compile(
    rf"({_TEXT})|<[A-Za-z_][\w.]{{0,99}}: ({_TEXT}|-?[0-9]+)>|(\b[A-Z]\w{{0,99}})\[[\w.\[\], ]{{0,99}}\](?=\()",
    re.DOTALL,
)
"""A text as it stands; a member of an enumeration, of which the value counts; a class with the types that it is of."""


def is_represented(text: str) -> bool:
    """Whether a text is the representation of an object of a client library, whole or cut."""
    return _CLASS.match(text) is not None or _OBJECT.fullmatch(text) is not None


def represented(text: str) -> JsonObject | list[JsonValue] | None:
    """The fields of a representation, objects by their fields; None where it is cut, or in another writing."""
    if len(text) > _MOST or _CLASS.match(text) is None:
        return None
    plain = _WRITTEN.sub(lambda found: found[1] or found[2] or found[3], text)
    try:
        found = _value(ast.parse(plain.strip(), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _value(node: ast.expr) -> JsonValue:
    match node:
        case ast.Constant(value=float() as number) if not math.isfinite(number):
            return ast.unparse(node)
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {str(_value(key)): _value(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(func=func, args=[], keywords=fields):
            out: JsonObject = {field.arg: _value(field.value) for field in fields if field.arg is not None}
            name = ast.unparse(func).rpartition(".")[2]
            return {"type": name, **out} if "Message" in name and not out.keys() & {"type", "role"} else out
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if math.isfinite(number):
            return -number
    return ast.unparse(node)
