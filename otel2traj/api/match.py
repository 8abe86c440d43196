"""Two runs compared, a run compared with its labels, or predictions scored against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..auditors.matching.compare import Comparison, compare
from ..auditors.matching.labels import Case, agent_key, choose, trace_elephant, who_and_when
from ..auditors.matching.marks import Marks, MarkSink
from ..auditors.matching.predictions import Attribution, judge
from ..auditors.matching.report import attribution_lines, comparison_lines
from ..canonical import JsonError, JsonObject, JsonValue, loads, loads_tolerant
from ..errors import EvidenceError, UsageError
from ..stored import is_stored


@dataclass(slots=True)
class Labelled:
    """Where a label points in a run. `step` counts from 1; `candidate_step` is the run's own step number."""

    case: Case
    candidate_step: int | None
    candidate_agent: str | None

    @property
    def agent_matches(self) -> bool | None:
        """None where label or run names no agent."""
        if self.case.agent is None or self.candidate_agent is None:
            return None
        return agent_key(self.case.agent) == agent_key(self.candidate_agent)

    def to_json(self) -> JsonObject:
        return {
            "task_id": self.case.task_id,
            "form": self.case.form,
            "agent": self.case.agent,
            "step": self.case.step,
            "candidate_step": self.candidate_step,
            "candidate_agent": self.candidate_agent,
            "agent_matches": self.agent_matches,
        }


@dataclass(slots=True)
class Matched:
    """The answer to `match`: `comparison` for runs, `attribution` for predictions, `label` where the reference has
    labels."""

    comparison: Comparison | None = None
    attribution: Attribution | None = None
    label: Labelled | None = None

    @property
    def equal(self) -> bool:
        parts = [part.equal for part in (self.comparison, self.attribution) if part is not None]
        if self.label is not None:
            parts.append(self.label.candidate_step is not None and self.label.agent_matches is not False)
        return all(parts)

    def to_json(self) -> JsonObject:
        out: JsonObject = {"equal": self.equal}
        if self.label is not None:
            out["label"] = self.label.to_json()
        if self.comparison is not None:
            out |= {**self.comparison.to_json(), "equal": self.equal}
        if self.attribution is not None:
            out |= self.attribution.to_json()
        return out

    def lines(self) -> list[str]:
        lines: list[str] = []
        if self.comparison is not None:
            lines += comparison_lines(self.comparison)
        if self.attribution is not None:
            lines += attribution_lines(self.attribution)
        if self.label is not None:
            label = self.label
            there = "no such step" if label.candidate_step is None else f"step {label.candidate_step}"
            agent = {True: "the same agent", False: f"another agent, {label.candidate_agent}", None: "agent unknown"}
            lines.append(
                f"label: {label.case.agent} at step {label.case.step} -> {there}, {agent[label.agent_matches]}"
            )
        return lines


def match(
    reference: Path,
    candidate: Path,
    *,
    ignore: Sequence[str] = (),
    task: str | None = None,
    base: int | None = None,
) -> Matched:
    """Compare `candidate` with `reference`, step by step.

    Each is an attempt directory, a trace file or a saved trajectory. The reference may also be a failure data set
    (Who&When files, TraceElephant folders); then the candidate may be predictions as JSON Lines. `base` says how
    predictions count steps. Raises `UsageError` for a pair that cannot be compared.
    """
    cases = read_cases(reference)
    predictions = read_predictions(candidate)
    if cases is None:
        if predictions is not None:
            raise UsageError("predictions need labels to be scored against", hint="name a failure data set first")
        return Matched(compare(_marks(reference, labels=False), _marks(candidate, labels=False), ignore))
    if predictions is not None:
        return Matched(attribution=judge(cases, predictions, base))
    run = _marks(candidate, labels=True)
    case = choose(cases, task, run)
    comparison = None if case.steps is None else compare(case.steps, run, ignore)
    return Matched(comparison, label=_locate(case, run, comparison))


def _locate(case: Case, run: Marks, comparison: Comparison | None) -> Labelled:
    """The labelled step in the run: the partner of the data set's step, else the step of that number."""
    found = None
    if comparison is not None:
        found = next(
            (row.candidate for row in comparison.rows if row.reference and row.reference.step_id == case.step), None
        )
    else:
        found = next((step for step in run.steps if step.step_id == case.step), None)
    if found is None:
        return Labelled(case, None, None)
    return Labelled(case, found.step_id, found.agent_name)


def _marks(path: Path, *, labels: bool) -> Marks:
    from .source import drive

    sink = MarkSink(agent_key if labels else None)
    drive(path, sink)
    return sink.marks


def read_predictions(path: Path) -> list[JsonObject] | None:
    """Predictions, one object a line, or None where the file holds something else. Raises `EvidenceError` for a line
    that is no JSON object."""
    if not path.is_file() or is_stored(path):
        return None
    out: list[JsonObject] = []
    with path.open("rb") as lines:
        for n, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = loads(line)
            except JsonError as err:
                if not out:
                    return None
                raise EvidenceError(f"line {n} of the predictions is no JSON: {err}", hint=path.name) from err
            known = isinstance(value, dict) and ("predicted_step" in value or "predicted_agent" in value)
            if not out and not known:
                return None
            if not isinstance(value, dict):
                raise EvidenceError(f"line {n} of the predictions is no object", hint=path.name)
            out.append(value)
    return out or None


def read_cases(path: Path) -> list[Case] | None:
    """The labelled cases of a failure data set, or None where the path holds something else."""
    if path.is_file():
        if path.suffix != ".json" or is_stored(path):
            return None
        case = _case(path)
        return None if case is None else [case]
    if not path.is_dir():
        return None
    own = _folder_case(path)
    if own is not None:
        return [own]
    cases = [case for file in sorted(path.glob("*.json")) if (case := _history_case(file)) is not None]
    for metadata in sorted([*path.glob("*/trace_metadata.json"), *path.glob("*/*/trace_metadata.json")]):
        case = _folder_case(metadata.parent)
        if case is not None:
            cases.append(case)
    return cases or None


def _case(file: Path) -> Case | None:
    if file.name in ("trace_metadata.json", "step_records.json", "summary.json"):
        return _folder_case(file.parent)
    return _history_case(file)


def _history_case(file: Path) -> Case | None:
    data = _json(file)
    if isinstance(data, dict) and isinstance(data.get("history"), list) and "mistake_step" in data:
        return who_and_when(data, file.stem)
    return None


def _folder_case(folder: Path) -> Case | None:
    for metadata, records in (("trace_metadata.json", "step_records.json"), ("summary.json", "history.json")):
        if (folder / metadata).is_file():
            data = _json(folder / metadata)
            if isinstance(data, dict) and ("mistake_step" in data or "mistake_agent" in data):
                steps = _json(folder / records) if (folder / records).is_file() else None
                return trace_elephant(data, steps, folder.resolve().name)
    return None


def _json(file: Path) -> JsonValue:
    try:
        return loads_tolerant(file.read_bytes())[0]
    except JsonError:
        return None
    except OSError as err:
        raise EvidenceError(f"cannot read {file.name}: {err.strerror}") from err
