"""A tool call is grounded by its name, its arguments and a result with an exit code."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.ledger import EventType, Outcome
from .base import Options, Report, Rule, shown

TOOL: Final = Rule("ledger.tool", "A tool event names its tool.")
ARGS: Final = Rule("ledger.args", "A tool event records the arguments of the call.")
RESULT: Final = Rule("ledger.result", "A tool event records a result with a whole number as exit_code.")
RULES: Final = (TOOL, ARGS, RESULT)


class Grounding:
    def __init__(self, options: Options) -> None:
        self._calls = 0
        self._succeeded = False

    def event(self, event: JsonObject, report: Report) -> None:
        if event.get("outcome") == Outcome.SUCCEEDED:
            self._succeeded = True
        if event.get("type") != EventType.TOOL:
            return
        self._calls += 1
        name = event.get("tool")
        if not isinstance(name, str) or not name:
            report.fail(TOOL, "tool call missing 'tool'")
        if event.get("args") is None:
            report.fail(ARGS, "tool call missing 'args'")
        result = event.get("result")
        code = result.get("exit_code") if isinstance(result, dict) else None
        if code is None:
            report.fail(RESULT, "tool call missing 'result.exit_code'")
        elif type(code) is not int:
            report.fail(RESULT, f"tool call has invalid 'result.exit_code' {shown(code)}")

    def end(self, report: Report) -> None:
        if self._succeeded and not self._calls:
            report.note(TOOL, "the outcome is 'succeeded' and no tool event grounds it")
