"""Forensic ledgers: export from a trajectory, triage, validate, explain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..auditors.triage import RULES, Custom, diagnose
from ..auditors.triage.custom import installed, load
from ..auditors.triage.validity import check, looks_forensic
from ..canonical import WRITTEN_DEPTH, JsonError, JsonObject, loads, loads_tolerant
from ..errors import EvidenceError, Otel2TrajError, UsageError
from ..files import whole
from ..model.evidence import Source, SourceKind
from ..model.finding import Finding
from ..model.forensic import FailureCategory, Observation, TriggerSeverity
from ..readers.attempt import safe_join
from ..readers.telemetry import Telemetry, read_telemetry, telemetry_files
from ..renderers.forensic import explain as render
from ..stored import is_stored
from ..writers.forensic import ForensicSink, write
from .record_bytes import RecordBytes
from .source import drive

__all__ = [
    "RULES",
    "FailureCategory",
    "Ledger",
    "Observation",
    "TriggerSeverity",
    "analyzers",
    "explain",
    "export",
    "is_forensic",
    "read",
    "triage",
    "validate",
]

_CASES = ("evaluation/case.json", "case.json")


class Ledger:
    """A forensic ledger in memory. `wrapped` is the evaluation run around it, where it stands under `task_result`."""

    def __init__(self, task_result: JsonObject, wrapped: JsonObject | None = None) -> None:
        self.task_result = task_result
        self.wrapped = wrapped

    @property
    def base(self) -> str:
        """The JSON pointer under which the ledger stands in its file."""
        return "" if self.wrapped is None else "/task_result"

    def write(self, out: BinaryIO) -> None:
        write(self.task_result if self.wrapped is None else {**self.wrapped, "task_result": self.task_result}, out)

    def save(self, target: Path) -> None:
        """Into a file that is whole or not there. Raises `EvidenceError`."""
        with whole(target) as out:
            self.write(out)


def export(
    path: Path,
    *,
    telemetry: Sequence[Path] = (),
    required: Sequence[str] | None = None,
    attempt: int = 1,
    inference: bool = True,
    verdict: str | None = None,
) -> tuple[Ledger, list[str]]:
    """The ledger of an attempt, a trace file or a saved trajectory with its diagnosis, and what an analyst should know.

    Telemetry comes from `telemetry`, else from the files of the attempt: nothing is measured. `required` is the
    sequence of protocol steps that the scenario demands, else the one that the attempt's case names. `verdict` is that
    of `judge`.
    """
    root = path if path.is_dir() else None
    with RecordBytes(root if root is not None else path.parent) as read_bytes:
        sink = ForensicSink(None if is_stored(path) else lambda records: _transport(records, read_bytes), attempt)
        drive(path, sink, inference=inference)
    result, warnings = sink.task_result, sink.warnings
    found = _telemetry(root, telemetry)
    result["resource_telemetry"] = found.samples
    if found.sources:
        result["provenance"]["telemetry"] = found.sources
    if not found.samples:
        warnings.append("no resource telemetry was recorded: resource_telemetry is empty")
    warnings += [notice.render() for notice in found.notices]
    steps = list(required) if required is not None else None if root is None else _required(root)
    if steps is not None:
        result["protocol_sequence_required"] = steps
    provenance = result.pop("provenance")
    judge(result, verdict)
    report, _ = diagnose(result)
    result["diagnostic_report"] = report
    result["provenance"] = {**provenance, "warnings": warnings}
    return Ledger(result), warnings


def _telemetry(root: Path | None, given: Sequence[Path]) -> Telemetry:
    if given:
        return read_telemetry([Source(file.name, SourceKind.DOCUMENT, file) for file in given])
    return Telemetry() if root is None else read_telemetry(telemetry_files(root))


def _required(root: Path) -> list[str] | None:
    """`protocol_sequence_required` of the recorded case, or None."""
    for name in _CASES:
        file = safe_join(root, name)
        if file is None:
            continue
        try:
            case, _ = loads_tolerant(file.read_bytes())
        except (JsonError, OSError):
            return None
        steps = case.get("protocol_sequence_required") if isinstance(case, dict) else None
        if isinstance(steps, list) and all(isinstance(step, str) for step in steps):
            return steps
    return None


def _transport(records: list[JsonObject], read_bytes: RecordBytes) -> str | None:
    """What the recorded request and response of a call say of how they travelled."""
    found = None
    for record in records:
        if record.get("what") not in ("request", "response"):
            continue
        raw = read_bytes(str(record.get("path")), record.get("offset", -1), record.get("length", -1))
        try:
            value: Any = None if raw is None else loads_tolerant(raw)[0]
        except JsonError:
            continue
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            continue
        if data.get("source_transport") == "grpc":
            return "grpc"
        kind = data.get("content_type")
        if data.get("streaming") is True or (isinstance(kind, str) and kind.startswith("text/event-stream")):
            found = "sse"
    return found


def is_forensic(path: Path) -> bool:
    """Whether a file is a forensic ledger, alone or under `task_result`, if perhaps a bad one."""
    try:
        document, _ = loads_tolerant(path.read_bytes(), WRITTEN_DEPTH)
    except (JsonError, OSError):
        return False
    return looks_forensic(document) or (isinstance(document, dict) and looks_forensic(document.get("task_result")))


def read(path: Path) -> Ledger:
    """A ledger, or the one in an evaluation run. Raises `EvidenceError` for what is neither."""
    try:
        document: Any = loads(path.read_bytes())
    except OSError as err:
        raise EvidenceError(f"cannot read {path.name}: {err.strerror}", hint="give the path of a ledger") from err
    except JsonError as err:
        raise EvidenceError(f"{path.name} is not JSON: {err}") from err
    if looks_forensic(document):
        return Ledger(document)
    if isinstance(document, dict) and looks_forensic(document.get("task_result")):
        return Ledger(document["task_result"], document)
    raise EvidenceError(
        f"{path.name} is no forensic ledger", hint="`otel2traj forensic export` makes one from an attempt"
    )


def ledger_of(path: Path, verdict: str | None = None) -> Ledger:
    """The ledger in a file, or the one that an attempt directory, a trace file or a saved trajectory gives."""
    if path.is_file() and is_forensic(path):
        found = read(path)
        judge(found.task_result, verdict)
        return found
    return export(path, verdict=verdict)[0]


def judge(task_result: JsonObject, verdict: str | None) -> None:
    """Let a verdict from outside say how the run ended: `passed`, `failed`, or a JSON file with `success`, `passed` or
    `status` in it. Raises `UsageError` for anything else."""
    if verdict is None:
        return
    passed = _VERDICTS.get(verdict.lower())
    if passed is None:
        passed = _verdict_of(Path(verdict))
    ended = {"status": "succeeded" if passed else "failed", "word": verdict, "said_by": "verdict"}
    outcome = task_result.get("outcome")
    known = outcome if isinstance(outcome, dict) else {"inputs": [], "failures": [], "unknowns": []}
    failures = known.get("failures")
    last = [one for one in failures if isinstance(one, dict)] if isinstance(failures, list) else []
    if not passed and last and known.get("ended", {}).get("status") == "succeeded":
        last = [{**one, "recovered": False if one.get("recovered") is None else one["recovered"]} for one in last]
    task_result["outcome"] = {**known, "ended": ended, "failures": last}
    task_result["status"] = "success" if passed else "failed"


_VERDICTS: Final = {"passed": True, "pass": True, "success": True, "failed": False, "fail": False, "failure": False}


def _verdict_of(file: Path) -> bool:
    hint = "give passed, failed, or a JSON file with `success`, `passed` or `status`"
    try:
        told: Any = loads(file.read_bytes())
    except (OSError, JsonError) as err:
        raise UsageError(f"{file.name!r} is no verdict: {err}", hint=hint) from err
    known = told if isinstance(told, dict) else {}
    for key in ("success", "passed", "resolved", "is_correct"):
        if isinstance(known.get(key), bool):
            return bool(known[key])
    status = _VERDICTS.get(str(known.get("status", known.get("verdict", ""))).lower())
    if status is None:
        raise UsageError(f"{file.name} holds no verdict", hint=hint)
    return status


def analyzers(named: Sequence[str] = (), *, plugins: bool = True) -> tuple[list[Custom], list[Finding]]:
    """The analyzers of installed packages, then those named `module:attribute`; findings for what cannot be loaded."""
    found, findings = installed() if plugins else ([], [])
    return [*found, *(load(name) for name in named)], findings


def triage(
    ledger: Ledger, custom: Sequence[Custom] = (), *, required: Sequence[str] | None = None
) -> tuple[JsonObject, list[Finding]]:
    """Adds or replaces the `diagnostic_report` of a ledger and returns it, with a finding for each analyzer that was
    skipped. Nothing else of the ledger changes but `protocol_sequence_required`, where it is given."""
    result = ledger.task_result
    if required is not None:
        result["protocol_sequence_required"] = list(required)
    report, findings = diagnose(result, custom)
    result["diagnostic_report"] = report
    return report, findings


def validate(path: Path) -> list[Finding]:
    """Findings on a ledger: its published JSON Schema, then what the schema cannot say. Empty for a good one."""
    ledger = read(path)
    return check(ledger.task_result, ledger.base)


class NoReport(Otel2TrajError):
    """A ledger that has no diagnosis yet."""

    exit_code = 1
    code = "forensic.no_report"


def explain(ledger: Ledger) -> str:
    """The diagnosis of a ledger as text. Raises `NoReport` where there is none."""
    if not isinstance(ledger.task_result.get("diagnostic_report"), dict):
        raise NoReport("the ledger has no diagnostic_report", hint="add one with `otel2traj forensic triage`")
    return render(ledger.task_result)


def protocol_steps(text: str) -> list[str]:
    """Step names between commas. Raises `UsageError` for an empty one."""
    steps = [step.strip() for step in text.split(",")]
    if not all(steps):
        raise UsageError(f"{text!r} has an empty protocol step", hint="give names between commas: init,auth,execute")
    return steps
