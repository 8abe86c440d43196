"""AER records into yes or no: whether every value has the type that the rest of the room relies on."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject

_TEXT: Final = ("id", "kind", "class", "by")
_NAME: Final = frozenset(
    {
        *("response", "call", "agent", "model", "scope", "prompt", "result", "tools", "actor", "model_call"),
        *("message", "request", "extends", "system", "subject", "judge", "interaction_id", "execution", "schema"),
        *("path", "object", "digest"),
    }
)
"""Fields that hold one name. `scope.result` and others hold the name of a record, never the thing itself."""
_NAMES: Final = ("messages", "calls", "after")
_TABLES: Final = (
    *("candidates", "reported", "inferred_reported_result", "inferred_name_arguments", "inferred_name"),
    *("adapter", "kept", "unknown", "fields"),
)


def well_formed(record: JsonObject) -> bool:
    """Whether a decoded line has the types of an AER record. Says nothing about whether its values are right."""
    if record.get("kind") == "seal":
        return isinstance(record.get("digest"), str) and _texts(record.get("issues"))
    if not all(isinstance(record.get(name), str) for name in _TEXT):
        return False
    if not all(isinstance(record.get(name), dict) for name in ("unknown", "fields")):
        return False
    for name, value in record.items():
        if name in _NAME and not isinstance(value, str):
            return False
        if name in _NAMES and not _texts(value):
            return False
        if name in _TABLES and not (isinstance(value, dict)):
            return False
    return (
        all(isinstance(reason, str) for reason in record["unknown"].values())
        and all(isinstance(how, dict) for how in record["fields"].values())
        and isinstance(record.get("after"), list)
        and _objects(record.get("source"))
        and ("parts" not in record or (_objects(record["parts"]) and all(_part(one) for one in record["parts"])))
        and all(isinstance(one, dict) for one in (record.get("reported") or {}).values())
        and all(_texts(one) for one in (record.get("candidates") or {}).values())
    )


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _part(part: JsonObject) -> bool:
    return all(isinstance(part.get(name), str) for name in ("id", "type", "class"))
