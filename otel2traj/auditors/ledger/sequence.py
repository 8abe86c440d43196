"""A ledger is one sequence under one schema: declared on the first event, never mixed, steps strictly increasing."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.ledger import SCHEMA as NAME
from .base import Options, Report, Rule, shown

SCHEMA: Final = Rule("ledger.schema", "The first event declares the schema trajectory-ledger-v1.")
MIXED: Final = Rule("ledger.mixed-schema", "No later event declares another schema.")
STEP: Final = Rule("ledger.step", "A step is a whole number that is not negative; a boolean is no number.")
ORDER: Final = Rule("ledger.step-order", "Steps are strictly increasing across the file.")
RULES: Final = (SCHEMA, MIXED, STEP, ORDER)


class Sequence:
    def __init__(self, options: Options) -> None:
        self._last: int | None = None

    def event(self, event: JsonObject, report: Report) -> None:
        declared = event.get("schema")
        if report.index == 0:
            if declared is None:
                report.fail(SCHEMA, "missing 'schema'")
            elif declared != NAME:
                report.fail(SCHEMA, f"has schema {shown(declared)}, not '{NAME}'")
        elif declared is not None and declared != NAME:
            report.fail(MIXED, f"mixes schema {shown(declared)} with '{NAME}'")
        step = event.get("step")
        if step is None:
            return
        if type(step) is not int or step < 0:
            report.fail(STEP, f"has invalid step {shown(step)}")
            return
        if self._last is not None and step <= self._last:
            report.fail(ORDER, f"has step {step} after step {self._last}")
        self._last = step if self._last is None else max(self._last, step)

    def end(self, report: Report) -> None:
        pass
