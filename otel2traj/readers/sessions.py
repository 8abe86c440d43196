"""Files in which an agent keeps its session, line by line or as one document, into session records.

A form follows the file in order with a state of its own, and says of each object in two steps what it tells: `place`
says where it belongs (keys, turn, what it was sent), from what came before; `read` makes the record of the object and
its place alone, so that any record can be read again by its address.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from ..canonical import JsonError, JsonObject, JsonValue, dumps, loads_evidence, loads_tolerant
from ..errors import EvidenceError
from ..messages.nested import load
from ..model.evidence import EvidenceRef, Notice, Source
from ..model.session import SessionRecord
from .context import Repairs
from .documents import as_dict
from .framing import Doc, documents
from .inflate import Stream
from .outline import Head, Path, extents
from .repeated import told_twice

LINE: Final[Path] = ()
"""The path of a document itself."""


class Placed:
    """Where one object belongs, by the state of the file when it was met."""

    __slots__ = ("agent_name", "conversation_id", "inputs", "keys", "shared", "trace_id", "turn", "what")

    def __init__(self, what: str, keys: tuple[str, ...] = (), **told: Any) -> None:
        self.what = what
        """What the form calls it; `read` decides by it."""
        self.keys = keys
        self.inputs: tuple[EvidenceRef, ...] = told.get("inputs", ())
        self.conversation_id: str | None = told.get("conversation_id")
        self.turn: str | None = told.get("turn")
        self.trace_id: str | None = told.get("trace_id")
        self.agent_name: str | None = told.get("agent_name")
        self.shared: JsonObject = told.get("shared", {})
        """What the document says of all of its objects: one value for them together."""

    def record(self, ref: EvidenceRef, form: str, time_ns: int | None) -> SessionRecord:
        """A record with nothing told yet."""
        return SessionRecord(
            ref, form, time_ns, (), None, self.conversation_id, self.turn, self.trace_id, self.agent_name
        )


class State(ABC):
    """What has been met of one file."""

    @abstractmethod
    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        """Where the object at `path` belongs; None where it tells of no step."""

    def remarks(self) -> Iterator[str]:
        """What the end of the file shows to be missing in it; each makes a trajectory partial."""
        yield from ()


class SessionForm(ABC):
    """One form of session file: a line in `READERS`."""

    name: ClassVar[str]
    writer: ClassVar[str]
    obtain: ClassVar[str]
    tried: ClassVar[str]
    loses: ClassVar[str]
    """What a file in this form cannot tell of a call."""
    paths: ClassVar[frozenset[Path]] = frozenset((LINE,))
    """Where in a document the objects stand that are placed, outer ones before what they hold."""

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether a stream that begins so is in this form."""

    @abstractmethod
    def state(self) -> State:
        """The state before the first object."""

    @abstractmethod
    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        """The record of one object that was placed. Raises `ValueError` for what cannot be read."""

    def open(self, source: Source, stream: Stream) -> SessionFile:
        return SessionFile(self, source, stream)


class SessionFile:
    """A session file of one form. See `RecordFile`."""

    def __init__(self, form: SessionForm, source: Source, stream: Stream) -> None:
        self.source = source
        self.form = form.name if stream.container == "" else f"{form.name}+{stream.container}"
        self._form = form
        self._stream = stream
        self._placed: dict[int, Placed] = {}
        self._begun = False

    def records(self) -> Iterator[SessionRecord | Notice]:
        self._begun = True
        self._stream.rewind()
        self._placed = {}
        state, repairs, path = self._form.state(), Repairs(self.source.path), self.source.path
        yield from self._stream.notices
        for doc in documents(self._stream, _whole):
            if isinstance(doc, Notice):
                yield doc
            else:
                yield from self._document(doc, state, repairs)
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]
        yield from repairs.notices()
        for remark in state.remarks():
            yield Notice("session_gap", f"{self._form.name}: {remark}", path)
        if self._placed:
            yield Notice("lossy_form", f"{self._form.name}: {self._form.loses}", path, lossy=False)

    def _document(self, doc: Doc, state: State, repairs: Repairs) -> Iterator[SessionRecord | Notice]:
        line, counted = doc.line, doc.start
        for start, end, path in self._objects(doc):
            line, counted = line + doc.lines(counted, start), start
            ref = EvidenceRef(self.source.path, doc.base + start, end - start, line)
            try:
                value, names = loads_tolerant(doc.buffer[start:end])
                if not isinstance(value, dict):
                    continue
                placed = state.place(path, value, ref)
                if placed is None:
                    continue
                record = self._form.read(value, placed, ref)
            except (JsonError, ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError) as err:
                yield Notice("unreadable_record", f"{self._form.name}: {err}", self.source.path, line)
                continue
            self._placed[ref.offset] = placed
            yield from told_twice(doc.buffer[start:end], value, self.source.path, line)
            for repair in names:
                if repair == "invalid-utf-8":
                    yield Notice("repaired_record", repair, self.source.path, line)
                else:
                    repairs.note(repair, line)
            yield record

    def _objects(self, doc: Doc) -> list[tuple[int, int, Path]]:
        if self._form.paths == {LINE}:
            return [(doc.start, doc.end, LINE)]
        return extents(doc.buffer, doc.start, doc.end, self._form.paths)

    def fetch(self, ref: EvidenceRef) -> SessionRecord:
        if not self._begun:
            for _ in self.records():
                pass
        try:
            value, _ = loads_tolerant(self.raw(ref))
            return self._form.read(as_dict(value), self._placed[ref.offset], ref)
        except (JsonError, ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError) as err:
            raise EvidenceError(f"no record at {ref.source}:{ref.offset}", hint="has the file changed?") from err

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


def _whole(doc: Doc) -> bool:
    try:
        return isinstance(loads_evidence(doc.text()), dict)
    except JsonError:
        return False


def count(value: Any) -> int | None:
    """A token count; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def total(*counts: int | None) -> int | None:
    """The sum of those that were recorded; None where the first was not."""
    return None if counts[0] is None else sum(one or 0 for one in counts)


def plain_texts(content: JsonValue) -> str | None:
    """The text of a prompt: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    found = [one.get("text") for one in content if isinstance(one, dict)]
    texts = [one for one in found if isinstance(one, str)]
    return "\n".join(texts) if texts else None


def arguments_of(value: JsonValue) -> JsonValue:
    """Arguments as the decoded value where they are JSON text, else as they stand."""
    if not isinstance(value, str):
        return value
    try:
        return load(value)
    except JsonError:
        return value


def compact(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "surrogatepass")
