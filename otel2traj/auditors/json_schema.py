"""A value against a JSON Schema, with one validator for every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..canonical import JsonObject

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_LONGEST = 300


def compiled(schema: JsonObject) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema)


def violations(validator: Draft202012Validator, value: Any) -> Iterator[tuple[list[str | int], str]]:
    """Path and message of each clause that a value breaks, in the order of the schema."""
    try:
        if validator.is_valid(value):
            return
    except UnicodeEncodeError:
        value = _with_characters(value)
    for error in validator.iter_errors(value):
        message = error.message
        yield error.instance_path, message if len(message) <= _LONGEST else f"{message[: _LONGEST - 3]}..."


def pointer(path: list[str | int]) -> str:
    """A path as a JSON pointer."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _with_characters(value: Any) -> Any:
    """A copy without lone surrogates, which the validator cannot read; no clause of a schema is about them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_with_characters(key): _with_characters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_characters(item) for item in value]
    return value
