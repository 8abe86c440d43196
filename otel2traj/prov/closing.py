"""What is known only after the last step into AER records: scopes, results, changes, judgements, fixtures, sources."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..model.trajectory import Header, SdkInput, Summary
from ..model.unknown import UnknownReason
from .cited import Cited
from .records import Record
from .state import State

_JUDGEMENTS: Final = ("judgement", "judgements")


_HARNESS_FILES: Final = frozenset(
    {
        *("run.json", "case.json", "input.json", "request.json", "context.json", "mapped-input.json", "result.json"),
        *("file-evidence.json", "submission.json"),
    }
)
"""What a harness writes of an Input (see docs/reference: the attempt layouts). Without one of them nobody names one."""


def is_harness_file(path: str) -> bool:
    """Whether a source is one that the harness around the agent wrote."""
    return path.rpartition("/")[2] in _HARNESS_FILES


class Closing:
    """Writes the records of a summary, in the order of its Inputs and then of its sources. `papers` are the harness's
    files, whole; `harness` says whether there is one that handled the Inputs."""

    def __init__(self, state: State, header: Header, papers: list[JsonObject], *, harness: bool) -> None:
        self._state, self._new, self._writer = state, state.new, state.writer
        self._header, self._papers, self._told = header, papers, harness

    def write(self, summary: Summary) -> None:
        run = self._state.cited(self._papers)
        self._harness = self._state.actor("harness", "harness", run, "harness_of_files") if self._told else None
        for item in summary.inputs:
            self._input(item)
        for ordinal in sorted(self._state.scopes.keys() - {item.ordinal for item in summary.inputs}):
            cited = self._state.cited(self._state.scopes[ordinal])
            record = Record("scope", f"s{ordinal}", cited, rule="scope_of_record")
            record.derive("ordinal", ordinal, "scope_of_record")
            for name in ("input_id", "prompt", "result", "steps"):
                record.miss(name, UnknownReason.NOT_RECORDED)
            self._writer.write(record)
        self._judgements("ex", self._header.extra, run)
        read = {str(source.get("path")) for source in summary.sources}
        more = [{"path": path, "sha256": digest} for path, digest in sorted(self._state.cited_papers.items())]
        for source in (*summary.sources, *(one for one in more if one["path"] not in read)):
            self._source(source)

    def _of(self, item: SdkInput) -> Cited:
        """The harness's files of one Input; where there is none, the records of its first step."""
        own = [one for one in self._papers if f"/{item.ordinal}/" in f"/{one['path']}"]
        return self._state.cited(own or self._state.scopes.get(item.ordinal, []))

    def _artefact(self, role: str, content: Any, cited: Cited, rule: str | None = None) -> Record:
        record = Record("generic_artefact", self._new("ga"), cited, rule=rule, narrow=True)
        record.derive("role", role, "place_in_record" if rule is None else rule)
        record.say("content", content, rule=rule)
        self._writer.write(record)
        return record

    def _refer_or_miss(self, record: Record, name: str, other: Record | None) -> None:
        if other is None:
            record.miss(name, UnknownReason.NOT_RECORDED)
        else:
            record.refer(name, other)

    def _input(self, item: SdkInput) -> None:
        scope, cited = f"s{item.ordinal}", self._of(item)
        if self._harness is None:
            self._traced(scope, item, cited)
            return
        prompt = None if item.prompt is None else self._prompt(item, cited)
        result = None if item.result is None else self._artefact("input_result", item.result, cited)
        record = Record("scope", scope, cited, key=("input_id", "prompt", "result"))
        record.derive("ordinal", item.ordinal, "scope_of_record")
        record.say_or_miss("input_id", item.input_id)
        self._refer_or_miss(record, "prompt", prompt)
        self._refer_or_miss(record, "result", result)
        record.derive_or_miss("steps", item.step_range, "scope_of_record", UnknownReason.NOT_APPLICABLE)
        self._writer.write(record)
        handling = Record("generic_activity", self._new("act"), cited, rule="input_handling")
        handling.derive("type", "input_handling", "input_handling")
        handling.derive("scope", scope, "input_handling")
        self._refer_or_miss(handling, "prompt", prompt)
        self._refer_or_miss(handling, "result", result)
        handling.derive("actor", self._harness, "harness_of_files")
        for name in ("started", "ended"):
            value = (item.result or {}).get(f"{name}_at")
            handling.time_or_miss(name, value if isinstance(value, str) else None)
        self._writer.write(handling)
        for change in item.file_changes:
            self._change(scope, change, cited)
        self._judgements(scope, item.extra, cited)
        self._judgements(scope, item.result or {}, cited)

    def _traced(self, scope: str, item: SdkInput, cited: Cited) -> None:
        """An Input that no harness recorded: it is derived from the spans, and nobody is said to have handled it."""
        rule = "scope_of_record"
        prompt = None if item.prompt is None else self._prompt(item, cited, "prompt_of_spans")
        result = None if item.result is None else self._artefact("input_result", item.result, cited, "end_of_spans")
        record = Record("scope", scope, cited, rule=rule)
        record.derive("ordinal", item.ordinal, rule)
        record.derive_or_miss("input_id", item.input_id, rule)
        record.derive_or_miss("prompt", None if prompt is None else prompt.id, "prompt_of_spans")
        record.derive_or_miss("result", None if result is None else result.id, "end_of_spans")
        record.derive_or_miss("steps", item.step_range, rule, UnknownReason.NOT_APPLICABLE)
        self._writer.write(record)
        for change in item.file_changes:
            self._change(scope, change, cited)
        self._judgements(scope, item.extra, cited)

    def _prompt(self, item: SdkInput, cited: Cited, rule: str | None = None) -> Record:
        record = Record("message", self._new("m"), cited, rule=rule, narrow=True)
        made = "place_in_record" if rule is None else rule
        record.derive("role", "user", made)
        record.derive("direction", "prompt", made)
        record.say("content", item.prompt, rule=rule)
        self._writer.write(record)
        return record

    def _change(self, scope: str, change: JsonObject, cited: Cited) -> None:
        if change.get("source") == "replay":
            cited = self._state.cited(self._state.papers(["replay/events.jsonl"]))
        record = Record("state_change", self._new("sc"), cited, rule="change_of_file", narrow=True)
        kind = change.get("change_type", change.get("type", change.get("operation")))
        record.say_or_miss("path", change.get("path"))
        record.say_or_miss("change", kind if isinstance(kind, str) else None)
        for side in ("before", "after"):
            digest = change.get(f"{side}_hash", change.get(f"{side}_sha256"))
            absent = kind == ("created" if side == "before" else "deleted")
            reason = UnknownReason.NOT_APPLICABLE if absent else UnknownReason.NOT_RECORDED
            record.say_or_miss(f"{side}_state", digest if isinstance(digest, str) else None, reason)
        record.say("details", change)
        record.derive("scope", scope, "scope_of_record")
        record.miss("actor", UnknownReason.NOT_RECORDED)
        record.miss("started", UnknownReason.NOT_RECORDED)
        record.miss("ended", UnknownReason.NOT_RECORDED)
        self._writer.write(record)

    def _judgements(self, subject: str, holder: JsonObject, cited: Cited) -> None:
        """Judgements that the harness or a benchmark wrote down; none is made here."""
        for key in _JUDGEMENTS:
            value = holder.get(key)
            for one in value if isinstance(value, list) else [] if value is None else [value]:
                record = Record("judgement", self._new("j"), cited, key=("details", "verdict"), narrow=True)
                known = one if isinstance(one, dict) else {"verdict": one}
                record.derive("subject", subject, "place_in_record")
                record.say_or_miss("verdict", known.get("verdict", known.get("score")))
                judge = known.get("judge")
                record.say_or_miss("judge", judge if isinstance(judge, str) else None)
                record.say("details", known, stands=one)
                self._writer.write(record)

    def _source(self, source: JsonObject) -> None:
        path, digest = str(source.get("path")), source.get("sha256")
        record = Record("generic_artefact", self._new("raw"), self._state.nothing, rule="source_digest")
        record.derive("role", "raw", "source_digest")
        record.derive("path", path, "source_digest")
        record.derive_or_miss("object", digest, "source_digest")
        self._writer.write(record)
