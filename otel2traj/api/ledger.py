"""Ledgers: export from a trajectory, append, audit, cost, replay, and the record of a divergence."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from .. import prices
from ..auditors.ledger import Options, Replay, Report, Verdict, Walk, replay
from ..auditors.ledger import audit as audit_lines
from ..auditors.ledger.chain import LINK, OWN
from ..auditors.ledger.cost import RATES, over_budget
from ..auditors.ledger.lines import JSON, events
from ..auditors.ledger.sequence import ORDER
from ..canonical import JsonError, JsonObject, canonical_bytes, loads
from ..errors import EvidenceError
from ..files import whole
from ..model.finding import Finding, Severity
from ..model.ledger import CHAIN, EventType, seal, state_hash
from ..model.ledger_cost import Totals
from ..model.statement import statement
from ..writers.ledger import LedgerSink
from ..writers.ledger_append import Tail, append_line
from .source import drive

SEAL = "urn:otel2traj:ledger-seal:0.1"
"""Type of the predicate of a sealed ledger: `run_id`, number of `events`, the declared `chain`, its `end`."""
Tell = Callable[[Finding], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """`end_hash`: the event_hash in which the chain ends. `warnings`: what an auditor should know."""

    end_hash: str | None
    warnings: list[str]


def export(path: Path, out: BinaryIO, *, inference: bool = True, pinned: JsonObject | None = None) -> Exported:
    """Writes the ledger of an attempt, a trace file or a saved trajectory. `pinned` is the header of another ledger,
    whose rates are taken over."""
    sink = LedgerSink(out, pinned)
    drive(path, sink, inference=inference)
    return Exported(sink.end_hash, sink.warnings)


def export_file(path: Path, target: Path) -> Exported:
    """As `export`, into a file that is whole or not there."""
    with whole(target) as out:
        return export(path, out)


def audit(path: Path, tell: Tell, options: Options | None = None, evidence: Path | None = None) -> Verdict:
    """Every rule over every line. Findings are told as they come: errors are failures, notes are remarks.

    `evidence` is what the ledger was exported from: every value is then derived from it again and compared. Rates are
    looked up again where the price table is the one that the ledger names; else they are taken over, and that is told.
    """
    if evidence is None:
        with _lines(path) as lines:
            return audit_lines(lines, tell, options, path.name)
    with tempfile.TemporaryFile() as derived, _lines(path) as lines:
        export(evidence, cast(BinaryIO, derived), pinned=_pinned(path, tell))
        derived.seek(0)
        return audit_lines(lines, tell, options, path.name, derived)


def seal_file(path: Path, tell: Tell) -> tuple[Verdict, bytes | None]:
    """The verdict over a ledger, and for a clean one with a chain an in-toto Statement v1, not signed: the file with
    its digest, and the end of the chain with what leads to it."""
    verdict = audit(path, tell)
    whole_file = hashlib.sha256()
    first, last = None, None
    with _lines(path) as lines:
        for event in events(_hashed(lines, whole_file.update), Report(lambda finding: None)):
            first, last = event if first is None else first, event
    if not verdict.clean or first is None or last is None or last.get("event_hash") is None:
        return verdict, None
    predicate: JsonObject = {
        "run_id": first.get("run_id"),
        "events": verdict.events,
        "chain": first.get("chain"),
        "end": last["event_hash"],
    }
    return verdict, statement([(path.name, whole_file.hexdigest())], SEAL, predicate)


def _hashed(lines: Iterable[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    for line in lines:
        update(line)
        yield line


def save(target: Path, data: bytes) -> None:
    """Into a file that is whole or not there."""
    with whole(target) as out:
        out.write(data)


def _pinned(path: Path, tell: Tell) -> JsonObject | None:
    """The header of a ledger whose rates come from a price table that is not installed here, or None."""
    with _lines(path) as lines:
        first = next(events(lines, Report(lambda finding: None)), None)
    here = prices.source()
    if first is None or first.get("rate_source") == here:
        return None
    what = f"rates are taken over as pinned: they are not from {here['package']} {here['version']}, installed here"
    tell(Finding(RATES.name, what, Severity.NOTE, path.name))
    return first


def validate(path: Path, evidence: Path | None = None) -> list[Finding]:
    """The published JSON Schema, then the audit, as one list; for `otel2traj validate`."""
    from ..auditors.ledger.schema import check

    found: list[Finding] = []
    with _lines(path) as lines:
        check(lines, found.append, path.name)
    audit(path, found.append, evidence=evidence)
    return [finding for finding in found if finding.severity is not Severity.NOTE]


def cost(path: Path, tell: Tell, options: Options | None = None) -> Totals:
    """Sums of all costs. Broken lines and budgets that do not hold are told as errors."""
    totals = Totals()
    report = Report(tell, path.name)
    with _lines(path) as lines:
        for event in events(lines, report):
            if event is not None and isinstance(event.get("cost"), dict):
                totals.add(event["cost"])
    report.line = 0
    over_budget(totals, options if options is not None else Options(), report)
    return totals


def replay_files(first: Path, second: Path | None = None) -> Replay:
    """The states of a ledger derived from its events, beside the recorded ones and those of a second run."""
    if second is None:
        with _lines(first) as one:
            return replay(one)
    with _lines(first) as one, _lines(second) as other:
        return replay(one, other)


class Refused(ValueError):
    """An event that cannot be appended; `findings` say why. Nothing was written."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(findings[0].message)
        self.findings = findings


def append(path: Path, text: str) -> int:
    """Appends one event, and returns its step. A missing step is 0; a missing state_hash comes from the state; the
    chain goes on where the ledger has one, and begins with a new ledger. Raises `Refused`."""
    try:
        event = loads(text)
    except JsonError as err:
        raise _refused(JSON.name, f"the event is not valid JSON: {err}") from err
    if not isinstance(event, dict):
        raise _refused(JSON.name, "the event is not a JSON object")
    for _ in events([text.encode()], Report(_raise_first)):
        pass
    event.setdefault("step", 0)
    if event.get("state_hash") is None and "state" in event:
        event["state_hash"] = state_hash(event["state"])
    append_line(path, lambda tail: _checked(path, event, tail))
    return cast(int, event["step"])


def record_non_determinism(
    path: Path, step: int, timestamp: str, detail: str | None = None, diverges_at: int | None = None
) -> None:
    """Appends an observe event that says that a replay diverged, at position `diverges_at`, or here where it is None.
    The world stays as the last event left it, so its state and hash are taken over; no recorded hash is edited. Raises
    `Refused` unless `step` is after the last."""

    def make(tail: Tail) -> bytes:
        before = _event(tail.last)
        if before is None:
            raise _refused(ORDER.name, "the ledger is empty: there is nothing that diverged")
        last = before.get("step")
        if isinstance(last, int) and step <= last:
            raise _refused(ORDER.name, f"step {step} is not greater than the last recorded step {last}")
        event: JsonObject = {
            "type": EventType.OBSERVE,
            "step": step,
            "timestamp": timestamp,
            "non_determinism": True,
            "cost": {"tokens_in": 0, "tokens_out": 0, "seconds": 0, "usd": 0},
        }
        if diverges_at is not None:
            event["diverges_at"] = diverges_at
        if detail is not None:
            event["detail"] = detail.encode("utf-8", "replace").decode()
        event.update({name: before[name] for name in ("state", "state_hash") if name in before})
        return _checked(path, event, tail)

    append_line(path, make)


def _checked(path: Path, event: JsonObject, tail: Tail) -> bytes:
    """The line of a new event, after every rule has seen it in its place. Raises `Refused`."""
    last = _event(tail.last)
    found = _judge(path, event, tail, 2 if last is not None else 0)
    if found and last is not None:
        with _lines(path) as lines:
            count = sum(1 for line in lines if line.strip())
        found = _judge(path, event, tail, count)
    if found:
        raise Refused(found)
    bare = {key: value for key, value in event.items() if key not in ("event_hash", "prev_event_hash")}
    if last is None:
        return seal({"chain": CHAIN, **bare}, None)[0]
    if not isinstance(last.get("event_hash"), str):
        return canonical_bytes(bare) + b"\n"
    return seal(bare, last["event_hash"])[0]


def _judge(path: Path, event: JsonObject, tail: Tail, index: int) -> list[Finding]:
    """What the rules say of an event at that position. Events before it are walked in silence: all of them where an
    outcome or a total depends on them, else the first and the last one."""
    walk = Walk(Options())
    silent = Report(lambda finding: None)
    if "outcome" in event or "totals" in event:
        if tail.last is not None:
            with _lines(path) as lines:
                for before in events(lines, silent):
                    if before is not None:
                        walk.event(before, silent)
    else:
        for place, raw in ((0, tail.first), (max(index - 1, 1), tail.last)):
            before = _event(raw)
            if before is not None:
                silent.index = place
                walk.event(before, silent)
    found: list[Finding] = []
    report = Report(found.append, path.name)
    report.index = index
    walk.event({key: value for key, value in event.items() if key not in ("event_hash", "prev_event_hash")}, report)
    return [finding for finding in found if finding.rule not in (OWN.name, LINK.name)]  # it is sealed afterwards


def _event(raw: bytes | None) -> JsonObject | None:
    """The event of a line of the ledger, or None where there is no line. Raises `Refused` for a broken one."""
    if raw is None:
        return None
    try:
        event = loads(raw)
    except JsonError as err:
        raise _refused(JSON.name, f"the ledger ends in, or begins with, a line that is not valid JSON: {err}") from err
    if not isinstance(event, dict):
        raise _refused(JSON.name, "the ledger ends in, or begins with, a line that is no event")
    return event


def _raise_first(finding: Finding) -> None:
    if finding.severity is not Severity.NOTE:
        raise Refused([finding])


def _refused(rule: str, message: str) -> Refused:
    return Refused([Finding(rule, message)])


@contextmanager
def _lines(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as lines:
            yield lines
    except OSError as err:
        raise EvidenceError(f"cannot read {path.name}: {err.strerror}", hint="give the path of a ledger") from err
