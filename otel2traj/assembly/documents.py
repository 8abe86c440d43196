"""The small JSON files of an attempt to who ran what: identity, SDK Inputs and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..canonical import JsonObject, JsonValue, dumps
from ..model.evidence import Notice, SourceKind
from ..model.heads import SpanHead
from ..pairing.inputs import InputKeys
from ..readers.attempt import Attempt, InputFolder, Layout
from .archive import Archive
from .files import committed_changes, replay_changes
from .unsaid import beside

_RESULT: Final = ("status", "error", "exit_code", "signal")
_OF_RUN: Final = ("schema", "run_id", "agent_id", "source_revision", "profile", "binding", "runtime", *_RESULT)
_OF_INPUT: Final = ("run_id", "case_id", "input_id", "index", "payload_type", "payload", "schema_version")
_TOLD_BY_EVENTS: Final = ("initialize", "session", "prompt_completed")
_OF_REQUEST: Final = ("schema", "run_id", "observation_context", "session_id", "agent_id", "framework")


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
    recorded: JsonObject = field(default_factory=dict)
    """By file, what it holds beside these."""


@dataclass(slots=True)
class Documents:
    run_id: str | None = None
    agent_id: str | None = None
    case_id: str | None = None
    framework: str | None = None
    case: JsonObject = field(default_factory=dict)
    run: JsonObject = field(default_factory=dict)
    inputs: list[InputRecord] = field(default_factory=list)
    recorded: JsonObject = field(default_factory=dict)
    """What `run` and `case` hold beside these and the result of the run."""

    def run_result(self) -> JsonObject:
        """What `run.json` says of the end of the run, where it says anything."""
        return {key: self.run[key] for key in _RESULT if self.run.get(key) is not None}

    def keys(self) -> InputKeys:
        """The identifiers by which a wire call finds its Input."""
        keys = InputKeys(several=len(self.inputs) > 1)
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
    _keep(out)
    _otel_status(archive)
    return out


def _keep(out: Documents) -> None:
    """What run and Case say beside what has a place of its own; an output or an Input that stands below, only there."""
    run = beside(out.run, "input", *_OF_RUN)
    given = out.run.get("input")
    asked = beside(given, "case_id") if isinstance(given, dict) else given
    if asked:
        run["input"] = asked
    if any(item.result is not None and item.result.get("output") == run.get("output") for item in out.inputs):
        run.pop("output", None)
    case = beside(out.case, "schema_version", "case_id")
    listed = case.pop("inputs", None)
    there = [(item.input_id, item.prompt) for item in out.inputs]
    left = [one for one in listed if not _is_there(one, there)] if isinstance(listed, list) else listed
    if left:
        case["inputs"] = left
    out.recorded = {name: told for name, told in (("run", run), ("case", case)) if told}


def _is_there(listed: JsonValue, there: list[tuple[str | None, JsonValue]]) -> bool:
    """Whether an Input that the Case lists is one of those that ran, and nothing else is said of it."""
    if not isinstance(listed, dict) or beside(listed, *_OF_INPUT):
        return False
    return (listed.get("input_id"), listed.get("payload")) in there


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
    mapped = archive.document(f"{base}/mapped-input.json")
    if "payload" not in given and "input" not in request:
        record.prompt = mapped
    result = archive.document(f"{base}/result.json")
    record.result = result if isinstance(result, dict) else None
    record.session_id = _text(request.get("session_id"))
    record.agent_id = _text(request.get("agent_id"))
    record.framework = _text(request.get("framework"))
    said = ("input",) if request.get("input") == record.prompt else ()
    told = {
        "input": beside(given, *_OF_INPUT),
        "request": beside(request, *_OF_REQUEST, *said),
        "capture_status": _capture(archive, f"{base}/capture-status.json"),
        "file_evidence": beside(
            _object(archive, f"{base}/file-evidence.json"), "schema_version", "complete", "changes"
        ),
        "mapped_input": None if mapped == record.prompt else mapped,
        "submission": _submission(archive, base, record.result),
        "acp_summary": _acp_summary(archive, folder),
    }
    record.recorded = {name: members for name, members in told.items() if members}
    if result is None and attempt.layout is not Layout.BARE:
        archive.notices.append(
            Notice("missing_result", f"Input {folder.ordinal} has no readable result.json", base, lossy=True)
        )
    return record, _text(context.get("case_id")) or _text(given.get("case_id"))


def _submission(archive: Archive, base: str, result: JsonObject | None) -> JsonObject:
    """What the harness handed in for an Input, but for what its result and the state of its record say too."""
    handed = _object(archive, f"{base}/submission.json")
    status = handed.get("status")
    known = {"status": result.get("status"), "output": result.get("output")} if result is not None else {}
    known["capture_status"] = archive.document(f"{base}/capture-status.json")
    same = [key for key, value in known.items() if key in handed and handed[key] == value]
    if known.get("status") == "succeeded" and status == "completed":
        same.append("status")
    return beside(handed, *same)


def _acp_summary(archive: Archive, folder: InputFolder) -> JsonObject:
    """What an ACP client counted of an Input; the rest of its summary says again what its events tell, if there are."""
    events = any(source.ordinal == folder.ordinal for source in archive.attempt.of(SourceKind.ACP))
    return beside(_object(archive, f"{folder.path}/acp-summary.json"), *(_TOLD_BY_EVENTS if events else ()))


def _capture(archive: Archive, path: str) -> JsonObject:
    """The parts of an Input's record that the harness does not call complete; what it did not skip is a notice."""
    parts = _object(archive, path)
    out: JsonObject = {}
    for name, told in parts.items():
        status = told.get("status") if isinstance(told, dict) else told
        if isinstance(told, dict) and beside(told) == {"status": "complete"}:
            continue
        out[name] = told
        if status not in ("complete", "skipped"):
            message = f"the harness says that {name} is {_words(status)}"
            archive.notices.append(Notice("capture_incomplete", message, path, lossy=False))
    return out


def _otel_status(archive: Archive) -> None:
    """What an exporter or the receiver says of spans that are not here, beside an Input's spans or bare ones."""
    folders = dict.fromkeys([folder.path for folder in archive.attempt.inputs] + [""])
    for folder in folders:
        path = f"{folder}/otel-status.json" if folder else "otel-status.json"
        status = archive.document(path)
        if isinstance(status, dict) and status.get("status") not in (None, "complete"):
            words = ", ".join(f"{key} {_words(told)}" for key, told in beside(status, "status").items())
            message = f"the exporter says {_words(status['status'])}: {words or 'nothing more'}"
            archive.notices.append(Notice("otel_incomplete", message, path))


def _words(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value).decode("utf-8")


def _object(archive: Archive, path: str) -> JsonObject:
    value = archive.document(path)
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
