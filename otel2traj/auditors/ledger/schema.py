"""Lines to findings of the published JSON Schema, for those who have the schema and not the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from ...model.ledger import SCHEMA
from .base import Report, Rule
from .lines import events

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

CONFORMS: Final = Rule("ledger.json-schema", "Every line conforms to the published JSON Schema.")


@cache
def _validators() -> tuple[Validator, Validator]:
    """For the first line, and for every other one."""
    from jsonschema import Draft202012Validator

    schema: JsonObject = loads(  # type: ignore[assignment]
        files("otel2traj").joinpath(f"schemas/{SCHEMA}.schema.json").read_bytes()
    )
    whole = Draft202012Validator(schema)
    return whole.evolve(schema={**schema, "required": [*schema["required"], "schema"]}), whole


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
        for error in sorted(validator.iter_errors(event), key=lambda error: list(map(str, error.absolute_path))):
            where = "/".join(str(part) for part in error.absolute_path)
            report.fail(CONFORMS, f"{where or 'as a whole'}: {error.message[:200]}")
    return report.problems
