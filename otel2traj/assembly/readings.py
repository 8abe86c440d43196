"""What every call and execution says: read once, noted on its head, and kept while it fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .. import dialects
from ..canonical import sha256_canonical, sha256_hex
from ..dialects.front import Seen
from ..evidence import Index
from ..messages import Message, PartKind, ToolCall, all_tool_calls, calls_in
from ..model.evidence import SpanRecord
from ..model.heads import EmittedCall, Part, Reported, Said, SpanHead, WireHead
from ..model.ids import is_numbered
from ..model.reading import Reading, RequestGlance, Role
from ..pairing.joins import NUMBERED
from ..pairing.witness import ArgumentsSeen, arguments_of
from ..providers import Provider, model_in_path
from ..readers.histories import Body
from .archive import Archive
from .hydrate import WireBodies, read_head
from .tasks import Tasks

ABB_FRAMEWORK: Final = "abb_framework"
KEEP_BYTES: Final = 24 << 20
"""How many recorded bytes the readings that are kept may stand for, messages that they share counted once."""
_LEAST: Final = 512
"""What a reading costs at least."""

Item = tuple[str, str]
"""A tool result that a request reports: (tool call id, digest of the content)."""


class Readings:
    """The readings of one index.

    A finished OpenTelemetry span is read when its record comes by (`take`); what needs the whole index, such as log
    records of a span or files that it names, is read after it (`complete`). `of` gives a reading again: from memory
    where it was kept, else from the evidence.
    """

    def __init__(self, archive: Archive, index: Index, keep_bytes: int = KEEP_BYTES) -> None:
        self._archive = archive
        self._index = index
        self._budget = keep_bytes
        self._kept: dict[SpanHead, Reading] = {}
        self._bodies: dict[WireHead, WireBodies] = {}
        self._seen: ArgumentsSeen = {}
        self._taken: set[SpanHead] = set()
        self._first: dict[tuple[str, str, str], tuple[tuple[int, int, str, int], SpanHead, int]] = {}
        """Of every result in a run or Input, the first request of a span that reports it, and at which position."""
        self._gone: set[SpanHead] = set()
        self._named: list[tuple[SpanHead, str]] = []
        """Heads with the LangChain run id that they tell."""

    def take(self, head: SpanHead, span: SpanRecord, known: Sequence[Seen]) -> None:
        """Read a call or an execution while its record is at hand."""
        if span.raw is not None:
            head.parts = [Part("span", head.parts[0].ref, sha256_hex(span.raw))]
        if head.finished and head.framework_span_id is None and "abb.kind" not in span.attributes:
            self._taken.add(head)
            self._note(head, dialects.read(span, (), known))

    def forget(self, head: SpanHead) -> None:
        """A head whose record was replaced by one that says more."""
        self._kept.pop(head, None)
        self._taken.discard(head)
        self._gone.add(head)

    def complete(self) -> None:
        """Read what is left of the index, wire calls first, and settle which request reports a result first."""
        on_wire, told_by_logs = self._wires(), bool(self._index.span_logs)
        executions: list[SpanHead] = []
        for head in self._index.span_heads():
            role = head.role
            if role is Role.TOOL_EXECUTION:
                executions.append(head)
            elif role is not Role.MODEL_CALL:
                continue
            if head not in self._taken or (told_by_logs and self._index.logs_of(head)):
                self._note(head, read_head(self._archive, self._index, head))
        for head, run_id in sorted(self._named, key=lambda named: named[0].order()):
            if head.framework_span_id is None and head not in self._gone:
                head.framework_span_id = run_id
                self._index.alias(head, run_id, run_id.replace("-", "")[:16])
        Tasks(self._archive, self._index).lend(executions)
        first: dict[SpanHead, list[Reported]] = {}
        for (_, call_id, digest), (_, head, position) in self._first.items():
            if (call_id, digest) not in on_wire:
                first.setdefault(head, []).append(Reported(call_id, digest, position))
        for head, reported in first.items():
            head.reported = sorted(reported, key=_position)
        self._first, self._named, self._taken, self._gone = {}, [], set(), set()

    def of(self, head: SpanHead) -> Reading:
        """What a head says. The reading is shared: nobody changes it."""
        kept = self._kept.get(head)
        return kept if kept is not None else read_head(self._archive, self._index, head)

    def bodies(self, head: WireHead) -> WireBodies:
        """Request and response of a wire call, which nobody changes; what is to be remarked of them is remarked."""
        found = self._bodies.get(head)
        if found is None:
            found = WireBodies(self._archive, head)
        self._archive.notices.extend(found.notices)
        return found

    def _note(self, head: SpanHead, reading: Reading) -> None:
        """Keys and digests of a reading onto its head, its notices to the index: not every head comes to a step."""
        self._index.notices.extend(reading.notices)
        head.conversation_id = head.conversation_id or reading.conversation_id
        head.agent_name = head.agent_name if head.agent_name is not None else reading.agent_name
        head.agent_path = head.agent_path or reading.agent_path
        if head.role is Role.MODEL_CALL:
            self._note_call(head, reading)
        else:
            if reading.tool_call_id is not None:
                head.tool_call_id = reading.tool_call_id
            if reading.tool_name is not None:
                head.tool_name = reading.tool_name
            if reading.arguments is not None:
                head.arguments = (
                    None if "arguments" in reading.truncated else arguments_of(reading.arguments, self._seen)
                )
            side = reading.extra.get("side")
            head.mcp_side = side if isinstance(side, str) else None
            if reading.result is not None:
                head.result_sha256 = sha256_canonical(reading.result)
        parts = head.parts
        size = parts[0].ref.length if len(parts) == 1 else sum(part.ref.length for part in parts)
        if self._affords(size - reading.shared):
            self._kept[head] = reading

    def _affords(self, size: int) -> bool:
        """Whether what was read of so many recorded bytes is kept; then they are taken off the budget."""
        cost = max(size, _LEAST)
        if cost > self._budget:
            return False
        self._budget -= cost
        return True

    def _note_call(self, head: SpanHead, reading: Reading) -> None:
        if ABB_FRAMEWORK not in head.dialects:  # the contract joins this recorder to the wire by the header alone
            head.response_id = reading.response_id
        run_id = reading.extra.get("langchain_run_id")
        if isinstance(run_id, str):
            self._named.append((head, run_id))
        cut = "tool_calls" in reading.truncated
        head.emitted = [emitted(c, cut, self._seen) for c in all_tool_calls(reading.tool_calls or [], reading.choices)]
        head.has_output = reading.has_output()
        head.has_content = head.has_output or reading.messages is not None
        names = tuple(dict.fromkeys(n for n in (reading.request_model, reading.response_model) if n is not None))
        text = None if "text" in reading.truncated else reading.text
        if reading.messages is None:
            head.said = said(names, text, None, (), head.emitted)
            return
        calls: list[str] = []
        results: list[str] = []
        scope, position, order = _scope(head), 0, head.order()
        for message in reading.messages:
            calls.extend(called_in(message))
            for item in reported_in(message):
                results.append(item[0])
                key = (scope, *item)
                known = self._first.get(key)
                if known is None or known[1] in self._gone or order < known[0]:
                    self._first[key] = order, head, position
                position += 1
        added = reading.extra.get("input_messages_delta") is True  # a session file tells what was new, no history
        whole = None if added else calls
        head.said = said(names, text, whole, results if whole is not None else (), head.emitted)

    def _wires(self) -> set[Item]:
        """Read the wire calls in order of time; every result that one of their requests reports."""
        reported: set[Item] = set()
        seen: set[tuple[str, str, str]] = set()
        for head in sorted(self._index.wires.values(), key=WireHead.order):
            scope = _scope(head)
            new: list[Reported] = []
            for position, item in enumerate(self._wire(head)):
                reported.add(item)
                if (scope, *item) not in seen:
                    seen.add((scope, *item))
                    new.append(Reported(*item, position))
            head.reported = new
        return reported

    def _wire(self, head: WireHead) -> list[Item]:
        """Notes a wire call; what its request reports."""
        bodies = WireBodies(self._archive, head)
        if self._affords(bodies.size(head)):
            self._bodies[head] = bodies
        request, response, provider = bodies.request_body, bodies.response_body, bodies.provider
        if provider is None:
            return []
        names: list[str] = [head.source_model] if head.source_model is not None else []
        text: str | None = None
        if response.value is not None:
            found = provider.glance_response(response.value)
            head.response_id, text = found.response_id, found.text
            head.emitted = [emitted(call) for call in found.tool_calls]
            names += [found.model] if found.model is not None else []
        asked = RequestGlance() if request.value is None else _glance(provider, request)
        asked.model = asked.model or model_in_path(head.path)
        names += [asked.model] if asked.model is not None else []
        calls = None if request.value is None else asked.emitted_history
        head.said = said(tuple(names), text, calls, [item[0] for item in asked.reported], head.emitted)
        return asked.reported


def _glance(provider: Provider, request: Body) -> RequestGlance:
    """What `glance_request` finds, asked once for each entry of a history: no provider relates entries here."""
    if request.history is None or not isinstance(request.value, dict):
        return provider.glance_request(request.value)
    model = request.value.get("model")
    out = RequestGlance(model if isinstance(model, str) else None)
    for item in request.items:
        noted = item.noted
        if noted is None or noted[0] != provider.name:
            noted = item.noted = (provider.name, provider.glance_request({request.history: [item.value]}))
        found = noted[1]
        assert isinstance(found, RequestGlance)
        out.reported.extend(found.reported)
        out.emitted_history.extend(found.emitted_history)
    return out


def said(
    models: tuple[str, ...],
    text: str | None,
    calls: list[str] | None,
    results: Iterable[str],
    emissions: Sequence[EmittedCall],
) -> Said:
    """What a recording says beside its ids; `calls` and `results` are the tool call ids of its request's history."""
    times = _times(calls or ())
    history: str | None = None
    if calls is not None:
        for call_id, count in _times(results).items():
            times[call_id] = max(count, times.get(call_id, 0))
        numbered = NUMBERED if all(map(is_numbered, times)) else ""
        history = numbered + sha256_canonical(sorted(times.items())) if times else ""
    for call_id in {call.id for call in emissions if call.id is not None}:
        times[call_id] = times.get(call_id, 0) + 1
    again = tuple((call_id, count) for call_id, count in times.items() if count > 1)
    digest = None if text is None or not text.strip() else sha256_canonical(text.strip())
    return Said(models, digest, history, again)


def _times(ids: Iterable[str]) -> dict[str, int]:
    """How often each id is there."""
    out: dict[str, int] = {}
    for told in ids:
        out[told] = out.get(told, 0) + 1
    return out


def _scope(head: WireHead | SpanHead) -> str:
    """What a history grows in: equal call ids of two runs do not hide each other's results."""
    if isinstance(head, WireHead):
        return head.input_id or head.run_id or ""
    return head.ordinal or head.conversation_id or head.trace_id or head.source


def _position(reported: Reported) -> int:
    return reported.position


def emitted(call: ToolCall, cut: bool = False, seen: ArgumentsSeen | None = None) -> EmittedCall:
    return EmittedCall(call.id, call.name, None if cut else arguments_of(call.arguments, seen), call.item_id)


def called_in(message: Message) -> tuple[str, ...]:
    """The ids of the tool calls in a message of a history. Kept with the message, which histories share."""
    found = message.called
    if found is None:
        ids = (part.id for part in calls_in(message.parts) if part.id is not None)
        found = message.called = tuple(dict.fromkeys(ids))
    return found


def reported_in(message: Message) -> tuple[Item, ...]:
    """Every tool result in a message of a span. Kept with the message, which histories share."""
    found = message.reported
    if found is None:
        found = message.reported = tuple(
            (part.id, sha256_canonical(part.answer))
            for part in message.parts
            if part.kind is PartKind.TOOL_RESULT and not part.hosted and part.id is not None
        )
    return found
