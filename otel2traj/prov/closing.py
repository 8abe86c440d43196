"""What is known only after the last step into AER records: scopes, results, changes, judgements, fixtures, sources."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..model.trajectory import Header, SdkInput, Summary
from ..model.unknown import UnknownReason
from .records import Record
from .state import State

_JUDGEMENTS: Final = ("judgement", "judgements")


_HARNESS_FILES: Final = frozenset(
    {"run.json", "case.json", "input.json", "request.json", "context.json", "mapped-input.json", "result.json"}
)
"""What a harness writes of an Input (see docs/reference: the attempt layouts). Without one of them nobody names one."""


def is_harness_file(path: str) -> bool:
    """Whether a source is one that the harness around the agent wrote."""
    return path.rpartition("/")[2] in _HARNESS_FILES


class Closing:
    """Writes the records of a summary, in the order of its Inputs and then of its sources."""

    def __init__(self, state: State, header: Header, harness: str | None) -> None:
        self._new, self._writer = state.new, state.writer
        self._header, self._scopes, self._harness = header, state.scopes, harness

    def write(self, summary: Summary) -> None:
        for item in summary.inputs:
            self._input(item)
        for ordinal in sorted(self._scopes - {item.ordinal for item in summary.inputs}):
            record = Record("scope", f"s{ordinal}", "adapter", rule="scope_of_record")
            record.say("ordinal", ordinal, "adapter", "scope_of_record")
            record.miss("prompt", UnknownReason.NOT_RECORDED)
            self._writer.write(record)
        self._judgements("ex", self._header.extra)
        for source in summary.sources:
            self._source(source)

    def _artefact(self, role: str, content: Any, by: str, rule: str | None = None) -> str:
        record = Record("generic_artefact", self._new("ga"), by, rule=rule)
        record.say("role", role, by, rule)
        record.say("content", content, by, rule)
        self._writer.write(record)
        return record.id

    def _input(self, item: SdkInput) -> None:
        scope = f"s{item.ordinal}"
        if self._harness is None:
            self._traced(scope, item)
            return
        prompt = None if item.prompt is None else self._prompt(item)
        result = None if item.result is None else self._artefact("input_result", item.result, "harness")
        record = Record("scope", scope, "harness")
        record.say("ordinal", item.ordinal, "harness")
        record.say_or_miss("input_id", item.input_id, "harness")
        record.say_or_miss("prompt", prompt, "harness")
        record.say_or_miss("result", result, "harness")
        record.say_or_miss("steps", item.step_range, "adapter", "scope_of_record", UnknownReason.NOT_APPLICABLE)
        self._writer.write(record)
        handling = Record("generic_activity", self._new("act"), "adapter", rule="input_handling")
        handling.say("type", "input_handling", "adapter", "input_handling")
        handling.say("scope", scope, "adapter", "input_handling")
        handling.say_or_miss("prompt", prompt, "harness")
        handling.say_or_miss("result", result, "harness")
        if self._harness is not None:
            handling.say("actor", self._harness, "config")
        for name in ("started", "ended"):
            value = (item.result or {}).get(f"{name}_at")
            handling.say_or_miss(name, value if isinstance(value, str) else None, "harness")
        self._writer.write(handling)
        for change in item.file_changes:
            self._change(scope, change)
        self._judgements(scope, item.extra)
        self._judgements(scope, item.result or {})

    def _traced(self, scope: str, item: SdkInput) -> None:
        """An Input that no harness recorded: it is derived from the spans, and nobody is said to have handled it."""
        rule = "scope_of_record"
        prompt = None if item.prompt is None else self._prompt(item, "source", "prompt_of_spans")
        record = Record("scope", scope, "adapter", rule=rule)
        record.say("ordinal", item.ordinal, "adapter", rule)
        record.say_or_miss("input_id", item.input_id, "adapter", rule)
        record.say_or_miss("prompt", prompt, "adapter", "prompt_of_spans")
        result = None if item.result is None else self._artefact("input_result", item.result, "source", "end_of_spans")
        record.say_or_miss("result", result, "adapter", "end_of_spans")
        record.say_or_miss("steps", item.step_range, "adapter", rule, UnknownReason.NOT_APPLICABLE)
        self._writer.write(record)
        for change in item.file_changes:
            self._change(scope, change)
        self._judgements(scope, item.extra)

    def _prompt(self, item: SdkInput, by: str = "harness", rule: str | None = None) -> str:
        record = Record("message", self._new("m"), by, rule=rule)
        record.say("role", "user", by, rule)
        record.say("direction", "prompt", by, rule)
        record.say("content", item.prompt, by, rule)
        self._writer.write(record)
        return record.id

    def _change(self, scope: str, change: JsonObject) -> None:
        record = Record("state_change", self._new("sc"), "harness", rule="change_of_file")
        kind = change.get("change_type", change.get("type", change.get("operation")))
        record.say_or_miss("path", change.get("path"), "harness")
        record.say_or_miss("change", kind if isinstance(kind, str) else None, "harness")
        for side in ("before", "after"):
            digest = change.get(f"{side}_hash", change.get(f"{side}_sha256"))
            absent = kind == ("created" if side == "before" else "deleted")
            reason = UnknownReason.NOT_APPLICABLE if absent else UnknownReason.NOT_RECORDED
            record.say_or_miss(f"{side}_state", digest if isinstance(digest, str) else None, "harness", reason=reason)
        record.say("details", change, "harness")
        record.say("scope", scope, "adapter", "scope_of_record")
        record.miss("actor", UnknownReason.NOT_RECORDED)
        record.miss("started", UnknownReason.NOT_RECORDED)
        record.miss("ended", UnknownReason.NOT_RECORDED)
        self._writer.write(record)

    def _judgements(self, subject: str, holder: JsonObject) -> None:
        """Judgements that the harness or a benchmark wrote down; none is made here."""
        for key in _JUDGEMENTS:
            value = holder.get(key)
            for one in value if isinstance(value, list) else [] if value is None else [value]:
                record = Record("judgement", self._new("j"), "benchmark")
                known = one if isinstance(one, dict) else {"verdict": one}
                record.say("subject", subject, "benchmark")
                record.say_or_miss("verdict", known.get("verdict", known.get("score")), "benchmark")
                judge = known.get("judge")
                record.say_or_miss("judge", judge if isinstance(judge, str) else None, "benchmark")
                record.say("details", known, "benchmark")
                self._writer.write(record)

    def _source(self, source: JsonObject) -> None:
        path, digest = str(source.get("path")), source.get("sha256")
        record = Record("generic_artefact", self._new("raw"), "adapter", rule="source_digest")
        record.say("role", "raw", "adapter", "source_digest")
        record.say("path", path, "adapter", "source_digest")
        record.say_or_miss("object", digest, "adapter", "source_digest")
        self._writer.write(record)
