"""A trajectory against its published JSON Schema, whole or in the pieces in which it is written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..canonical import JsonObject, loads
from ..model.finding import Finding
from ..model.trajectory import SCHEMA

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_LONGEST = 300


def schema() -> JsonObject:
    """The published JSON Schema of `abb.agent-trajectory.v1`."""
    value = loads(files("otel2traj").joinpath(f"schemas/{SCHEMA}.schema.json").read_bytes())
    assert isinstance(value, dict)
    return value


def document_findings(document: Any) -> Iterator[Finding]:
    """Where a document breaks the schema."""
    return _findings(_validators()[0], document, "")


def step_findings(step: JsonObject, number: int) -> Iterator[Finding]:
    """The same of its step with this number, which counts from 0."""
    return _findings(_validators()[1], step, f"/steps/{number}")


@lru_cache(maxsize=1)
def _validators() -> tuple[Draft202012Validator, Draft202012Validator]:
    """Of a document, and of one step."""
    from jsonschema_rs import Draft202012Validator

    whole = schema()
    step = {"$schema": whole["$schema"], "$defs": whole["$defs"], "$ref": "#/$defs/step"}
    return Draft202012Validator(whole), Draft202012Validator(step)


def _findings(validator: Draft202012Validator, value: Any, where: str) -> Iterator[Finding]:
    try:
        if validator.is_valid(value):
            return
    except UnicodeEncodeError:
        value = _with_characters(value)
    for error in validator.iter_errors(value):
        place = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.instance_path)
        message = error.message if len(error.message) <= _LONGEST else f"{error.message[: _LONGEST - 3]}..."
        yield Finding("json-schema", message, pointer=where + place or "/")


def _with_characters(value: Any) -> Any:
    """A copy without lone surrogates, which the validator cannot read; no clause of the schema is about them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_with_characters(key): _with_characters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_characters(item) for item in value]
    return value
