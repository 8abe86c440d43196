"""Provenance of one attempt: AER, SEM and PROV written from its evidence, and the tiers that check them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from ..canonical import JsonObject, loads
from ..corpus.cases import fixtures
from ..errors import EvidenceError, UsageError
from ..files import whole
from ..prov import drawing
from ..prov.aer import AerProjector
from ..prov.constraints import check_document, read_provn
from ..prov.engine import Options, write_prov
from ..prov.prov_o import to_trig
from ..prov.sem import derive_sem
from ..prov.validate import TierResult, compare_records, is_ours, not_run, passed_or_failed, validate
from ..prov.why import Claim, explain
from ..readers.attempt import safe_join
from ..stored import is_stored
from .record_bytes import RecordBytes
from .source import drive

ORIGIN = "local"
"""The origin of evidence that lies on this machine: no path of the machine stands in what is derived."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the execution's id, the digest of its AER, and the issues its seal lists."""

    execution: str
    digest: str
    issues: list[str]


def export(
    path: Path,
    out: BinaryIO,
    *,
    aer: Path | None = None,
    sem: Path | None = None,
    profile: str = "default",
    emit_content: bool = False,
    inference: bool = True,
    evidence: Path | None = None,
) -> Exported:
    """Write the PROV-JSON of an attempt directory, a trace file or a saved trajectory; AER and SEM too where asked.

    A saved trajectory is a source of its own: what it says is derived, not observed, and it is the only file cited.
    With the `evidence` that it was made from, that is read instead, and has to give the same record.

    Each step is projected and forgotten; the AER lies in a file, never in memory. Raises `EvidenceError` where nothing
    can be read or a file cannot be written, `UsageError` for an unknown profile.
    """
    with _written(aer) as record:
        if evidence is None:
            projector = _project(path, record, ORIGIN, path.resolve().name, inference=inference)
        else:
            projector = _verified(path, evidence, record, inference=inference)
        with _written(sem) as semantics:
            for line in derive_sem(_lines(record), profile):
                semantics.write(line)
            options = Options(emit_content=emit_content)
            write_prov(out, _lines(record), [_lines(semantics)], options)
    return Exported(projector.execution_id, str(projector.digest), projector.issues)


def draw(file: Path, node: str) -> str:
    """The neighbourhood of one node of a document as SVG. Raises `EvidenceError` where it is not there."""
    document = loads(_bytes(file))
    if not isinstance(document, dict) or not is_ours(document):
        raise EvidenceError(f"{file.name} is no document of the apv namespace", code="prov.form")
    return drawing.draw(document, node)


def _project(
    path: Path,
    out: BinaryIO,
    origin: str,
    attempt: str,
    *,
    inference: bool = True,
    given: Path | None = None,
    naming: dict[str, list[JsonObject]] | None = None,
) -> AerProjector:
    """The projection of what lies at a path. Of a saved trajectory it cites nothing but the file, unless the evidence
    that it was made from is `given`: then that is cited and opened, with its own `naming` of the agents, which no
    trajectory has."""
    evidence = path if given is None else given
    saved = None
    if given is None and is_stored(path):
        digest = _digest(path.parent, path.name)
        saved = {"path": path.name, "length": path.stat().st_size, "sha256": digest}
    with RecordBytes(evidence if evidence.is_dir() else evidence.parent) as read:
        projector = AerProjector(
            out, origin, attempt, read=read, fixtures=fixtures(evidence), saved=saved, naming=naming
        )
        drive(path, projector, inference=inference)
    return projector


def _verified(path: Path, evidence: Path, record: BinaryIO, *, inference: bool) -> AerProjector:
    """The AER of the evidence, where the saved trajectory at `path` tells the same. Raises `EvidenceError` else."""
    if not is_stored(path):
        raise UsageError(f"{path.name} is no saved trajectory", hint="leave --evidence away: it is read itself")
    told = BytesIO()
    attempt = evidence.resolve().name
    projector = _project(evidence, record, ORIGIN, attempt, inference=inference)
    _project(path, told, ORIGIN, attempt, inference=inference, given=evidence, naming=projector.naming)
    found = compare_records("derivation.aer", told.getvalue().splitlines(keepends=True), list(_lines(record)))
    if found:
        first = f"{found[0].pointer}: {found[0].message}"
        raise EvidenceError(
            f"{path.name} is not what its evidence gives: {first}", hint="build it again, or export DIR"
        )
    return projector


def export_file(path: Path, target: Path, **options: Any) -> Exported:
    """As `export`, into a file that is whole or not there."""
    with _written(target) as out:
        return export(path, out, **options)


def check(
    file: Path,
    *,
    aer: Path | None = None,
    sems: tuple[Path, ...] = (),
    evidence: Path | None = None,
    roundtrip: bool = True,
) -> list[TierResult]:
    """Every tier over a PROV-JSON document, or the tiers that apply to a PROV-N document, an AER or a SEM.

    `evidence` is the attempt directory (or the trace file) that the AER was made from. Raises `EvidenceError` for a
    file that cannot be read or is none of these.
    """
    data = _bytes(file)
    kind = _kind(data)
    if kind == "provn":
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as err:
            raise EvidenceError(f"{file.name} is not UTF-8", code="prov.provn") from err
        why = "a PROV-N document"
        read = [passed_or_failed("3a", []), passed_or_failed("3b", check_document(read_provn(text)))]
        return [*(not_run(t, why) for t in ("1", "2")), *read, *(not_run(t, why) for t in ("3c", "3d", "4", "5", "6"))]
    if kind == "aer":
        given = data.splitlines(keepends=True)
        if evidence is None:
            return validate(aer=given, roundtrip=False)
        return validate(aer=given, roundtrip=False, again=lambda aer: _again(evidence, aer))
    records = None if aer is None else _bytes(aer).splitlines(keepends=True)
    lines = [_bytes(sem).splitlines(keepends=True) for sem in sems]
    if kind == "sem":
        return validate(aer=records, sems=[data.splitlines(keepends=True), *lines], roundtrip=False)
    if evidence is None:
        return validate(prov=data, aer=records, sems=lines, roundtrip=roundtrip)
    root = evidence if evidence.is_dir() else evidence.parent
    with RecordBytes(root) as source:
        return validate(
            prov=data,
            aer=records,
            sems=lines,
            read=source,
            digest_of=lambda path: _digest(root, path),
            roundtrip=roundtrip,
            again=lambda aer: _again(evidence, aer),
        )


def why(file: Path, query: str, *, aer: Path | None = None, evidence: Path | None = None) -> Iterator[Claim]:
    """The claims of a document that a statement's id, a pointer or a text means, each with its chain to the bytes.

    Without an AER it is made again from the evidence. Raises `UsageError` without either, `EvidenceError` where
    something cannot be read or nothing is meant.
    """
    document = loads(_bytes(file))
    if not isinstance(document, dict):
        raise EvidenceError(f"{file.name} is no PROV-JSON document", code="prov.form")
    if aer is None and evidence is None:
        raise UsageError("no AER and no evidence", hint="give --aer, --evidence or both")
    lines = _again(evidence, []) if aer is None and evidence is not None else _bytes(cast(Path, aer)).splitlines(True)
    if evidence is None:
        yield from explain(document, lines, query)
        return
    with RecordBytes(evidence if evidence.is_dir() else evidence.parent) as source:
        yield from explain(document, lines, query, source)


def rdf(file: Path) -> Iterator[str]:
    """The lines of a document in TriG. Raises `EvidenceError` for one that was not written here."""
    document = loads(_bytes(file))
    if not isinstance(document, dict) or not is_ours(document):
        raise EvidenceError(f"{file.name} is no document of the apv namespace", code="prov.form")
    try:
        yield from to_trig(document)
    except (KeyError, TypeError, ValueError) as err:
        raise EvidenceError(f"{file.name} is malformed", code="prov.form", hint="otel2traj prov validate it") from err


def _again(path: Path, aer: Sequence[bytes]) -> list[bytes]:
    """The AER of the evidence, projected again under the names that the given one has."""
    head = loads(aer[0]) if aer else None
    named = head if isinstance(head, dict) else {}
    out = BytesIO()
    origin, attempt = named.get("origin"), named.get("attempt")
    origin = origin if isinstance(origin, str) else ORIGIN
    _project(path, out, origin, attempt if isinstance(attempt, str) else path.resolve().name)
    return out.getvalue().splitlines(keepends=True)


def _kind(data: bytes) -> str:
    if data.lstrip()[:8] == b"document":
        return "provn"
    first = data.split(b"\n", 1)[0]
    try:
        record = loads(first)
    except ValueError:
        record = None
    if isinstance(record, dict) and record.get("kind") in ("execution", "sem"):
        return "aer" if record["kind"] == "execution" else "sem"
    if not data.lstrip().startswith(b"{"):
        raise EvidenceError(
            "neither PROV-JSON, PROV-N, an AER nor a SEM", code="prov.form", hint="see docs/how-to/provenance.md"
        )
    return "json"


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as err:
        raise EvidenceError(f"cannot read {file.name}: {err.strerror}", hint="check the path") from err


def _digest(root: Path, path: str) -> str | None:
    try:
        file = safe_join(root, path)
        if file is None:
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EvidenceError, OSError):
        return None


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    stream.seek(0)
    yield from stream


@contextmanager
def _written(target: Path | None) -> Iterator[BinaryIO]:
    """A file that is whole or not there, or one without a name that is gone afterwards."""
    if target is None:
        with TemporaryFile() as nameless:
            yield cast(BinaryIO, nameless)
        return
    with whole(target) as out:
        yield out
