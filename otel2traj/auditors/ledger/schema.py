"""Lines to findings of the published JSON Schema, for those who have the schema and not the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from ...model.ledger import SCHEMA
from ..json_schema import compiled, violations
from .base import Report, Rule
from .lines import events

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

CONFORMS: Final = Rule("ledger.json-schema", "Every line conforms to the published JSON Schema.")


@cache
def _validators() -> tuple[Draft202012Validator, Draft202012Validator]:
    """For the first line, and for every other one."""
    schema = cast(JsonObject, loads(files("otel2traj").joinpath(f"schemas/{SCHEMA}.schema.json").read_bytes()))
    return compiled({**schema, "required": [*schema["required"], "schema"]}), compiled(schema)


def check(lines: Iterable[bytes], tell: Callable[[Finding], None], name: str = "ledger") -> int:
    """Tells every violation of the JSON Schema, with the place inside the event; returns how many there are. Lines
    that hold no event are left to the audit."""
    first, other = _validators()
    report = Report(tell, name)
    silent = Report(lambda finding: None)
    for event in events(lines, silent):
        if event is None:
            continue
        report.index, report.line = silent.index, silent.line
        validator = first if silent.index == 0 else other
        for path, message in sorted(violations(validator, event), key=lambda found: list(map(str, found[0]))):
            report.fail(CONFORMS, f"{'/'.join(map(str, path)) or 'as a whole'}: {message[:200]}")
    return report.problems
