"""The small JSON files of an attempt to who ran what: identity, SDK Inputs and their results."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonObject, JsonValue
from ..model.evidence import Notice
from ..model.heads import SpanHead
from ..pairing.inputs import InputKeys
from ..readers.attempt import Attempt, InputFolder, Layout
from .archive import Archive
from .files import committed_changes, replay_changes


@dataclass(slots=True)
class InputRecord:
    """What the files of one Input say."""

    ordinal: str
    input_id: str | None = None
    prompt: JsonValue = None
    result: JsonObject | None = None
    file_changes: list[JsonObject] = field(default_factory=list)
    session_id: str | None = None
    agent_id: str | None = None
    framework: str | None = None
    told_by: dict[str, SpanHead] = field(default_factory=dict)
    """Whose words `prompt` and `output` are, where a record that is no step told them."""


@dataclass(slots=True)
class Documents:
    run_id: str | None = None
    agent_id: str | None = None
    case_id: str | None = None
    framework: str | None = None
    case: JsonObject = field(default_factory=dict)
    run: JsonObject = field(default_factory=dict)
    inputs: list[InputRecord] = field(default_factory=list)

    def run_result(self) -> JsonObject:
        """What `run.json` says of the end of the run, where it says anything."""
        keys = ("status", "error", "exit_code", "signal")
        return {key: self.run[key] for key in keys if self.run.get(key) is not None}

    def keys(self) -> InputKeys:
        """The identifiers by which a wire call finds its Input."""
        keys = InputKeys()
        for item in self.inputs:
            if item.input_id is not None:
                keys.by_input_id[item.input_id] = item.ordinal
            if item.session_id is not None:
                keys.by_session.setdefault(item.session_id, []).append(item.ordinal)
        return keys


def read_documents(archive: Archive) -> Documents:
    """Run, case and Input files, whatever of them is there."""
    attempt = archive.attempt
    out = Documents()
    out.run = _object(archive, "run.json")
    for path in ("evaluation/case.json", "case.json"):
        out.case = out.case or _object(archive, path)
    replay = None
    committed: list[list[JsonObject] | None] = []
    for folder in attempt.inputs:
        record, found_case = _input(archive, attempt, folder)
        out.inputs.append(record)
        out.case_id = out.case_id or found_case
        out.agent_id = out.agent_id or record.agent_id
        out.framework = out.framework or record.framework
        committed.append(committed_changes(archive, folder.path))
    if attempt.layout is not Layout.BARE and attempt.inputs and all(changes is None for changes in committed):
        known = {record.input_id for record in out.inputs if record.input_id is not None}
        replay = replay_changes(archive, known)
    for record, changes in zip(out.inputs, committed, strict=True):
        if changes is not None:
            record.file_changes = changes
        elif replay is not None and record.input_id is not None:
            record.file_changes = replay.get(record.input_id, [])
    run_input = out.run.get("input")
    run_case = run_input.get("case_id") if isinstance(run_input, dict) else None
    out.run_id = _text(out.run.get("run_id"))
    out.agent_id = _text(out.run.get("agent_id")) or out.agent_id
    out.case_id = _text(out.case.get("case_id")) or _text(run_case) or out.case_id
    _otel_status(archive)
    return out


def _input(archive: Archive, attempt: Attempt, folder: InputFolder) -> tuple[InputRecord, str | None]:
    base = folder.path
    given = _object(archive, f"{base}/input.json")
    request = _object(archive, f"{base}/request.json")
    context = request.get("observation_context")
    context = context if isinstance(context, dict) else _object(archive, f"{base}/context.json")
    record = InputRecord(folder.ordinal)
    record.input_id = _text(given.get("input_id")) or _text(context.get("input_id"))
    if "payload" in given:
        record.prompt = given["payload"]
    elif "input" in request:
        record.prompt = request["input"]
    else:
        record.prompt = archive.document(f"{base}/mapped-input.json")
    result = archive.document(f"{base}/result.json")
    record.result = result if isinstance(result, dict) else None
    record.session_id = _text(request.get("session_id"))
    record.agent_id = _text(request.get("agent_id"))
    record.framework = _text(request.get("framework"))
    if result is None and attempt.layout is not Layout.BARE:
        archive.notices.append(
            Notice("missing_result", f"Input {folder.ordinal} has no readable result.json", base, lossy=True)
        )
    return record, _text(context.get("case_id")) or _text(given.get("case_id"))


def _otel_status(archive: Archive) -> None:
    """What an exporter or the receiver says of spans that are not here, beside an Input's spans or bare ones."""
    folders = dict.fromkeys([folder.path for folder in archive.attempt.inputs] + [""])
    for folder in folders:
        path = f"{folder}/otel-status.json" if folder else "otel-status.json"
        status = archive.document(path)
        if isinstance(status, dict) and status.get("status") not in (None, "complete"):
            unfinished, error = status.get("unfinished_spans"), status.get("error")
            why = f": {error}" if isinstance(error, str) and error else ""
            archive.notices.append(
                Notice("otel_incomplete", f"the exporter says incomplete, {unfinished} unfinished spans{why}", path)
            )


def _object(archive: Archive, path: str) -> JsonObject:
    value = archive.document(path)
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
