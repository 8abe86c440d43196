"""One opened piece of evidence: indexed once, then built as one trajectory, or as one for each conversation."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

from ..errors import EvidenceError, NothingRecordedError, Otel2TrajError
from ..evidence import Index
from ..model.evidence import Notice
from ..model.heads import SpanHead, WireHead
from ..model.trajectory import Event, StepSink, Summary, drive
from ..readers.attempt import Attempt, Layout, open_attempt
from .agents import Agents
from .archive import Archive
from .bare import split_conversations
from .builder import Builder, unique
from .documents import Documents, read_documents
from .enclosed_calls import find_enclosed_calls
from .ends import read_ends
from .graph_nodes import GraphNodes
from .index_otel import no_steps
from .indexing import Progress, index_attempt
from .loose_logs import notices_of, place_loose_logs
from .plan import Plan, plan_steps
from .readings import Readings
from .untold import untold_calls


@dataclass(slots=True)
class Conversation:
    """The heads of one trajectory. `name` is None where the evidence is an attempt with a layout."""

    name: str | None
    wires: list[WireHead]
    heads: list[SpanHead]
    documents: Documents = field(default_factory=Documents)
    notices: list[Notice] = field(default_factory=list)


_NAMED: Final = 3
"""Files that an error names."""
_YOUNG: Final = 100_000


class _Collector:
    """Python's collector of circles: a build keeps what it makes and makes no circles, so while any session is open it
    looks seldom. As it was before the first, once the last is closed."""

    _lock: Final = threading.Lock()
    _open = 0
    _before: tuple[int, int, int]

    @classmethod
    def enter(cls) -> None:
        with cls._lock:
            cls._open += 1
            if cls._open == 1:
                cls._before = gc.get_threshold()
                if 0 < cls._before[0] < _YOUNG:
                    gc.set_threshold(_YOUNG, 50, 1000)

    @classmethod
    def leave(cls) -> None:
        with cls._lock:
            cls._open -= 1
            if cls._open == 0:
                gc.set_threshold(*cls._before)


class BuildSession:
    """Open evidence for building. Use as a context manager; nothing is written.

    Raises `EvidenceError` where nothing can be read at all: no such path, a link, a layout without a readable source.
    """

    def __init__(self, path: Path, *, inference: bool = True, progress: Progress | None = None) -> None:
        self.attempt: Attempt = open_attempt(path)
        self.archive = Archive(self.attempt)
        self._inference = inference
        self.index = Index()
        self.readings = Readings(self.archive, self.index)
        _Collector.enter()
        try:
            index_attempt(self.archive, self.index, self.readings, progress)
            self._refuse_nothing()
            left = place_loose_logs(self.archive, self.index)
            self.readings.complete()
            self.index.notices += [*notices_of(left, self.index), *no_steps(self.index)]
            find_enclosed_calls(self.index)
            self._nodes = self._graph_nodes()
            self._told_inputs = {
                response_id: [ordinal for ordinal, _ in told] for response_id, told in self.index.native_calls.items()
            }
            self.conversations = self._conversations()
        except EvidenceError as err:
            self._close()
            self.read_so_far(err)
            raise
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> BuildSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        _Collector.leave()
        self.archive.close()

    def read_so_far(self, err: Otel2TrajError) -> None:
        """Put into an error what had been read when it came."""
        sources = self.archive.sources()
        err.sources = tuple({"path": source.path, "sha256": source.sha256} for source in sources)
        err.warnings = tuple(notice.render() for notice in unique([*self.index.notices, *self.archive.notices]))

    def build(self, conversation: Conversation, *sinks: StepSink) -> Summary:
        """Push one trajectory into the sinks. The steps are complete; shortening is the writer's business."""
        return drive(self.events(conversation), sinks)

    def events(self, conversation: Conversation) -> Iterator[Event]:
        """One trajectory piece by piece, for who would rather ask than be told."""
        with self.archive.apart():
            yield from self._build(conversation)

    def _build(self, conversation: Conversation) -> Iterator[Event]:
        plan = self.plan(conversation)
        plan.notices.extend(conversation.notices)
        plan.notices.extend(untold_calls(conversation.heads, plan, self.readings))
        agents = Agents(self.archive, self.index, self.readings, conversation.heads, conversation.wires)
        ends = read_ends(self.archive, self.index, conversation.heads)
        builder = Builder(self.archive, self.index, self.readings, conversation.documents, plan, ends, agents)
        return builder.run()

    def plan(self, conversation: Conversation) -> Plan:
        """How the records of a conversation are paired. Once for each: pairing notes on the heads what it found."""
        keys = conversation.documents.keys()
        keys.by_response_id = self._told_inputs
        return plan_steps(
            self.index, conversation.wires, conversation.heads, keys, self._nodes, inference=self._inference
        )

    def what_was_read(self) -> str:
        """What a build that comes to no step did read: never that nothing was recorded."""
        index = self.index
        counts = {"spans": index.counts["spans"], "log records": index.counts["logs"], "wire calls": len(index.wires)}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        lost = sum(notice.lossy for notice in index.notices)
        damage = f"; {lost} lines or records could not be read" if lost else ""
        if told:
            return f"{told} were read, and none of them tells of a model call or a tool execution{damage}"
        files = [*self._not_understood(), *self._without_records()]
        more = f"; {len(files) - _NAMED} more files" if len(files) > _NAMED else ""
        return ("; ".join(files[:_NAMED]) + more or "no file is there to be read") + damage

    def _not_understood(self) -> Iterator[str]:
        for notice in self.index.notices:
            if notice.code == "foreign_file":
                yield f"{notice.path} {notice.message.removeprefix('passed over: it ')}"

    def _without_records(self) -> Iterator[str]:
        """Files whose form was told, and of which no record was read."""
        for source in self.archive.sources():
            form = self.archive.form(source)
            own = [
                notice for notice in self.index.notices if notice.path == source.path and notice.code != "lossy_form"
            ]
            if source.size == 0:
                yield f"{source.path} is empty"
            elif own:
                line = "" if own[0].line is None else f"line {own[0].line}: "
                yield f"{source.path}, read as {form}, has no record: {line}{own[0].message}"
            else:
                yield f"{source.path}, read as {form or source.kind}, has no record"

    def _graph_nodes(self) -> GraphNodes | None:
        payloads = any("abb_framework" in head.dialects for head in self.index.otel.values())
        return GraphNodes(self.archive, self.index, self.readings) if self.index.framework or payloads else None

    def _conversations(self) -> list[Conversation]:
        wires = list(self.index.wires.values())
        heads = list(self.index.span_heads())
        documents = read_documents(self.archive)
        if self.attempt.layout is not Layout.BARE:
            return [Conversation(None, wires, heads, documents)]
        return [
            Conversation(part.name, part.wires, part.heads, part.documents(documents, self.readings), part.notices)
            for part in split_conversations(self.index, wires, heads)
        ]

    def _refuse_nothing(self) -> None:
        """A build of nothing would look like a run in which nothing happened."""
        index = self.index
        if index.wires or index.framework or index.otel or index.sessions or index.log_groups or index.acp:
            return
        if self.attempt.inputs:
            return
        unreadable = [notice for notice in index.notices if notice.code == "unreadable_source"]
        if unreadable:
            raise EvidenceError(unreadable[0].message, hint="no source of the attempt could be read")
        raise NothingRecordedError(
            self.what_was_read(),
            hint="give an attempt directory, or files in one of the forms that `otel2traj info --forms` lists",
        )
