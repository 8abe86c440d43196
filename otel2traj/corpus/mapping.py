"""One candidate into its executions: the AER and the trajectory view of each, in one walk over the evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..assembly import BuildSession
from ..canonical import JsonObject
from ..errors import EvidenceError, Otel2TrajError
from ..model import codec
from ..model.trajectory import Header, Step, StepSink, Summary, TrajectoryStatus
from ..prov.aer import AerProjector
from ..prov.plain import Redact
from ..prov.redaction import Redactor
from ..readers.record_bytes import RecordBytes
from ..writers.trajectory import TrajectoryWriter
from .candidates import Candidate
from .cases import fixtures
from .listing import Entry
from .store import laid_out
from .tree import Tree, drafting

_HEADER: Final = ("run_id", "agent_id", "case_id", "framework", "metadata", "extra")
_SUMMARY: Final = ("sources", "warnings", "error")


@dataclass(slots=True)
class MapTask:
    """What a worker needs to map one candidate. `raw` is the corpus that holds the raw store."""

    root: Path
    raw: Path
    origin: str
    kind: str
    path: str
    files: list[JsonObject]
    archive: JsonObject | None
    redactor: Redactor | None
    refused: list[str] = field(default_factory=list)
    """Paths below the candidate that were not taken, each with the reason."""

    def candidate(self) -> Candidate:
        entries = [
            Entry(str(one["path"]), size=int(one["size"]), sha256=str(one["sha256"]), ordinal=one.get("ordinal"))
            for one in self.files
        ]
        return Candidate(self.path, self.kind, entries)


@dataclass(slots=True)
class Mapped:
    """What became of a candidate: its row of the register and the rows of its executions."""

    register: JsonObject
    executions: list[JsonObject]


def map_candidate(task: MapTask) -> Mapped:
    """Write the AER and the view of every execution of the candidate. The same raw bytes give the same files.

    Raises `EvidenceError` where the raw store lacks an object or holds other bytes.
    """
    tree = Tree(task.root, raw=task.raw)
    candidate = task.candidate()
    with laid_out(tree, task.path, task.files, task.archive) as folder:
        rows: list[JsonObject] = []
        error: Exception | None = None
        try:
            with BuildSession(folder) as session:
                for conversation in session.conversations:
                    build = partial(session.build, conversation)
                    rows.append(_project(tree, task, folder, conversation.name, build))
        except Exception as err:  # the one boundary: a candidate that breaks the builder is kept, and says so
            error = err
        if error is not None and (task.kind == "attempt" or not isinstance(error, EvidenceError)):
            rows.append(_failed(tree, task, folder, error))
        if error is not None:
            candidate.detail = _plain(error, folder, task)
    reason = "build_failed" if error is not None else None
    if not rows:
        return Mapped(candidate.row(task.origin, "not_mapped", "no_evidence", []), [])
    return Mapped(candidate.row(task.origin, "mapped", reason, [str(row["execution"]) for row in rows]), rows)


def _plain(error: Exception, folder: Path, task: MapTask) -> str:
    """The message without the place where the files lay meanwhile, and without account paths."""
    text = str(error).replace(str(folder), task.path)
    text = text if isinstance(error, Otel2TrajError) else f"{type(error).__name__}: {text}"
    return text if task.redactor is None else task.redactor(text)


def _failed(tree: Tree, task: MapTask, folder: Path, error: Exception) -> JsonObject:
    message = str(error).replace(str(folder), task.path)
    summary = Summary(TrajectoryStatus.FAILED, error={"type": type(error).__name__, "message": message})

    def run(*sinks: StepSink) -> None:
        for sink in sinks:
            sink.begin(Header())
            sink.end(summary)

    return _project(tree, task, folder, None, run)


def _project(tree: Tree, task: MapTask, folder: Path, name: str | None, run: Callable[..., Any]) -> JsonObject:
    attempt = task.path if name is None else f"{task.path}#{name}"
    with drafting(tree) as aer, drafting(tree) as view, RecordBytes(folder) as read:
        projector = AerProjector(
            aer.stream,
            task.origin,
            attempt,
            read=read,
            fixtures=fixtures(folder),
            redact=task.redactor,
            refused=task.refused,
        )
        facts = _Facts()
        run(projector, facts, Redacted(TrajectoryWriter().sink(view.stream), task.redactor))
        execution = projector.execution_id
        files = {
            "aer": aer.commit(tree.artefact("aer", execution)),
            "view": view.commit(tree.artefact("view", execution)),
        }
    files["aer"]["seal"] = projector.digest
    return {
        "execution": execution,
        "origin": task.origin,
        "attempt": task.path,
        "conversation": name,
        **facts.row,
        "issues": len(projector.issues),
        "objects": _cited(task, facts.sources),
        "files": files,
    }


def _cited(task: MapTask, sources: list[str]) -> list[str]:
    """The raw objects behind an execution: what the build read, or everything where it could not be built."""
    if task.archive is not None:
        return [str(task.archive["object"])]
    read = [str(file["sha256"]) for file in task.files if not sources or file["path"] in sources]
    return sorted(set(read))


class _Facts:
    """What the index says of an execution, taken from the same walk."""

    def __init__(self) -> None:
        self.row: JsonObject = {}
        self.sources: list[str] = []

    def begin(self, header: Header) -> None:
        pass

    def step(self, step: Step) -> None:
        pass

    def end(self, summary: Summary) -> None:
        self.sources = [str(source.get("path")) for source in summary.sources]
        self.row = {
            "status": summary.status.value,
            "model_calls": summary.coverage.model_calls,
            "tool_calls": summary.coverage.tool_calls,
        }


class Redacted:
    """A sink that hands on what it gets with every string, keys included, through the redaction."""

    def __init__(self, sink: StepSink, redact: Redact | None) -> None:
        self._sink = sink
        self._redact = redact

    def begin(self, header: Header) -> None:
        if self._redact is not None:
            header = replace(header, **{name: self._deep(getattr(header, name)) for name in _HEADER})
        self._sink.begin(header)

    def step(self, step: Step) -> None:
        if self._redact is not None:
            step = codec.step_from_json(self._deep(codec.step_to_json(step)))
        self._sink.step(step)

    def end(self, summary: Summary) -> None:
        if self._redact is not None:
            summary = replace(summary, **{name: self._deep(getattr(summary, name)) for name in _SUMMARY})
            summary.inputs = [
                codec.sdk_input_from_json(self._deep(codec.sdk_input_to_json(item))) for item in summary.inputs
            ]
        self._sink.end(summary)

    def _deep(self, value: Any) -> Any:
        assert self._redact is not None
        if isinstance(value, StrEnum):
            return value
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {self._deep(key): self._deep(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._deep(item) for item in value]
        return value
