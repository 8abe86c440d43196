"""A trajectory against its published JSON Schema, whole or in the pieces in which it is written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..canonical import JsonObject, loads
from ..model.finding import Finding
from ..model.trajectory import SCHEMA
from .json_schema import compiled, pointer, violations

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator


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
    whole = schema()
    return compiled(whole), compiled({"$schema": whole["$schema"], "$defs": whole["$defs"], "$ref": "#/$defs/step"})


def _findings(validator: Draft202012Validator, value: Any, where: str) -> Iterator[Finding]:
    for path, message in violations(validator, value):
        yield Finding("json-schema", message, pointer=where + pointer(path) or "/")
