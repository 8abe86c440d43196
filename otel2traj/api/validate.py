"""What a saved file is, told by its content, and the checker that it is handed to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from ..canonical import WRITTEN_DEPTH, JsonError, loads, loads_tolerant
from ..errors import EvidenceError, UsageError
from ..model.finding import Finding, Severity
from ..model.trajectory import SCHEMA as TRAJECTORY
from ..stored import is_stored

_LINE: Final = 1 << 26
_LINES: Final = 8
"""How many lines are asked what they are: a ledger that lost its first line is still a ledger, and a bad one."""
_PROV: Final = frozenset(("prefix", "entity", "activity", "agent", "bundle", "wasGeneratedBy", "used"))


class FileKind(StrEnum):
    TRAJECTORY = "trajectory"
    LEDGER = "ledger"
    FORENSIC = "forensic ledger"
    AER = "AER"
    SEM = "SEM"
    PROV = "PROV"


def kind_of(path: Path) -> FileKind:
    """What a file is, if perhaps a bad one. Raises `EvidenceError` for what is none of these, or cannot be read."""
    try:
        with path.open("rb") as stream:
            lines = [line for line in (stream.readline(_LINE) for _ in range(_LINES)) if line.strip()]
        found = _by_lines(lines)
        if found is None and is_stored(path):  # told by its head alone: the rest may be damaged
            found = FileKind.TRAJECTORY
        if found is None:
            found = _by_document(loads_tolerant(path.read_bytes(), WRITTEN_DEPTH)[0])
    except OSError as err:
        raise EvidenceError(f"cannot read {path.name}: {err.strerror}", hint="give a saved file") from err
    except JsonError:
        found = None
    if found is None:
        raise EvidenceError(
            f"{path.name} is no trajectory, ledger, forensic ledger, AER, SEM or PROV document",
            hint="evidence is built with `otel2traj build`, corpora have `otel2traj corpus validate`",
        )
    return found


def _by_lines(lines: list[bytes]) -> FileKind | None:
    if lines and lines[0].lstrip().startswith(b"document"):
        return FileKind.PROV
    for number, line in enumerate(lines):
        try:
            value: Any = loads(line.strip())
        except JsonError:
            continue
        if not isinstance(value, dict):
            continue
        if str(value.get("schema")).startswith("trajectory-ledger") or {"step", "state_hash"} <= value.keys():
            return FileKind.LEDGER
        if number == 0 and value.get("kind") in ("execution", "sem"):
            return FileKind.AER if value["kind"] == "execution" else FileKind.SEM
    return None


def _by_document(value: Any) -> FileKind | None:
    from ..auditors.triage.validity import looks_forensic

    if not isinstance(value, dict):
        return None
    if value.get("schema") == TRAJECTORY or {"steps", "coverage"} <= value.keys():
        return FileKind.TRAJECTORY
    if looks_forensic(value) or looks_forensic(value.get("task_result")):
        return FileKind.FORENSIC
    return FileKind.PROV if _PROV & value.keys() else None


def validate(path: Path, *, evidence: Path | None = None, aer: Path | None = None) -> list[Finding]:
    """Findings of the checker that the file is handed to. Only those of severity `error` say that it is not good.

    `evidence` is the attempt that a trajectory, a ledger or the AER of a PROV document was made from: what they took
    from it is then derived again. `aer` is the AER of a SEM or a PROV document. Raises `EvidenceError` for a file that
    is none of `FileKind`, `UsageError` for an option that its checker has no use for.
    """
    kind = kind_of(path)
    _refuse(kind, path.name, evidence, aer)
    if kind is FileKind.TRAJECTORY:
        from .validate_trajectory import validate as trajectory

        return trajectory(path, evidence)
    if kind is FileKind.LEDGER:
        from .ledger import validate as ledger

        return ledger(path, evidence)
    if kind is FileKind.FORENSIC:
        from .forensic import validate as forensic

        return forensic(path)
    return _tiers(path, evidence, aer)


def _refuse(kind: FileKind, name: str, evidence: Path | None, aer: Path | None) -> None:
    if aer is not None and kind not in (FileKind.SEM, FileKind.PROV):
        raise UsageError(f"--aer is for a SEM or a PROV document, and {name} is a {kind}")
    derived = (FileKind.TRAJECTORY, FileKind.LEDGER)
    if evidence is not None and kind not in derived and not (kind is FileKind.PROV and aer is not None):
        what = "a trajectory, a ledger, or a PROV document with its --aer"
        raise UsageError(f"--evidence is for {what}, and {name} is a {kind}")
    if kind is FileKind.SEM and aer is None:
        raise UsageError(f"{name} is a SEM, which says nothing without its AER", hint="name it with --aer")


def _tiers(path: Path, evidence: Path | None, aer: Path | None) -> list[Finding]:
    """The tiers of `prov validate`; one that did not run is a note, never a pass."""
    from .prov import check

    found: list[Finding] = []
    for tier in check(path, aer=aer, evidence=evidence):
        found += tier.findings
        if tier.status == "not_run":
            found.append(Finding(f"tier-{tier.tier}", f"not run: {'; '.join(tier.remarks)}", Severity.NOTE))
    return found
