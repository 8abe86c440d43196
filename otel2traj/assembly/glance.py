"""A look at the content of every call and execution, in time order, that keeps only keys and digests of it."""

from __future__ import annotations

from typing import Any

from ..canonical import sha256_canonical
from ..evidence import Index
from ..model.heads import EmittedCall, Reported, SpanHead, WireHead
from ..model.message import Message, ToolCall
from ..model.reading import Reading, Role
from ..providers import Provider, provider_for
from ..readers.histories import Body
from .archive import Archive
from .hydrate import read_head, task_call

ABB_FRAMEWORK = "abb_framework"


class Glance:
    """Fills the heads of one index. Readings of small attempts are kept, so that they are not made twice."""

    def __init__(self, archive: Archive, index: Index, keep_bytes: int = 16 << 20) -> None:
        self._archive = archive
        self._index = index
        self._seen: set[tuple[str, str, str]] = set()
        """(run or Input, tool call id, digest) of every result that a request was seen to report."""
        self._on_wire: set[tuple[str, str]] = set()
        self._budget = keep_bytes
        self._kept: dict[SpanHead, Reading] = {}
        self._started_with: dict[SpanHead, ToolCall | None] = {}
        """The tool call of the nearest task that was started with one, by every chain span below it."""

    def run(self) -> None:
        for wire in sorted(self._index.wires.values(), key=WireHead.order):
            self._wire(wire)
        heads = [h for h in self._index.span_heads() if h.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION)]
        for head in sorted(heads, key=SpanHead.order):
            self._span(head, self._read(head))
            if head.role is Role.TOOL_EXECUTION and head.tool_call_id is None:
                self._from_task(head)

    def _from_task(self, head: SpanHead) -> None:
        """An execution without an id of its own, in a task that was started with exactly one tool call of its name."""
        way: list[SpanHead] = []
        call: ToolCall | None = None
        above = head.parent
        while above is not None and above.role is Role.CHAIN and call is None:
            if above in self._started_with:
                call = self._started_with[above]
                break
            way.append(above)
            call = task_call(self._archive, above)
            above = above.parent
        for node in way:
            self._started_with[node] = call
        if call is not None and call.id is not None and call.name in (None, head.tool_name):
            head.tool_call_id, head.id_rule = call.id, "enclosing_task"

    def reading(self, head: SpanHead) -> Reading:
        """What a head says; from memory where the first look kept it."""
        kept = self._kept.get(head)
        return kept if kept is not None else read_head(self._archive, self._index, head)

    def _read(self, head: SpanHead) -> Reading:
        reading = read_head(self._archive, self._index, head)
        size = sum(part.ref.length for part in head.parts)
        if size <= self._budget:
            self._budget -= size
            self._kept[head] = reading
        return reading

    def _wire(self, head: WireHead) -> None:
        request, response = Body(), Body()
        if head.request is not None:
            _, request = self._archive.fetch_request(head.request)
        if head.response is not None:
            _, response = self._archive.fetch_response(head.response)
        provider = provider_for(head.path, request.value, response.value)
        if provider is None:
            return
        if request.value is not None:
            self._reported(head, _reported_on_wire(provider, request))
        if response.value is not None:
            glance = provider.glance_response(response.value)
            head.response_id = glance.response_id
            head.emitted = [emitted(call) for call in glance.tool_calls]

    def _reported(self, head: WireHead | SpanHead, reported: list[tuple[str, str]]) -> None:
        scope = _scope(head)
        for position, item in enumerate(reported):
            if isinstance(head, WireHead):
                self._on_wire.add(item)
            elif item in self._on_wire:
                continue
            if (scope, *item) not in self._seen:
                self._seen.add((scope, *item))
                head.reported.append(Reported(*item, position))

    def _span(self, head: SpanHead, reading: Reading) -> None:
        head.conversation_id = head.conversation_id or reading.conversation_id
        head.agent_name = head.agent_name if head.agent_name is not None else reading.agent_name
        if head.role is Role.MODEL_CALL:
            if ABB_FRAMEWORK not in head.dialects:  # the contract joins this recorder to the wire by the header alone
                head.response_id = reading.response_id
            run_id = reading.extra.get("langchain_run_id")
            if isinstance(run_id, str) and head.framework_span_id is None:
                head.framework_span_id = run_id
                self._index.alias(head, run_id, run_id.replace("-", "")[:16])
            head.emitted = [emitted(call) for call in reading.tool_calls or []]
            head.has_output = reading.has_output()
            head.has_content = head.has_output or reading.messages is not None
            self._reported(head, reported_in(reading.messages or []))
            return
        if reading.tool_call_id is not None:
            head.tool_call_id = reading.tool_call_id
        if reading.tool_name is not None:
            head.tool_name = reading.tool_name
        if reading.arguments is not None:
            head.arguments_sha256 = sha256_canonical(reading.arguments)
        if reading.result is not None:
            head.result_sha256 = sha256_canonical(reading.result)


def _reported_on_wire(provider: Provider, request: Body) -> list[tuple[str, str]]:
    """What `glance_request` finds, asked once for each entry of a history: no provider relates entries here."""
    if request.history is None:
        return provider.glance_request(request.value).reported
    out: list[tuple[str, str]] = []
    for item in request.items:
        noted = item.noted
        if noted is None or noted[0] != provider.name:
            found = provider.glance_request({request.history: [item.value]}).reported
            noted = item.noted = (provider.name, found)
        out.extend(noted[1])
    return out


def _scope(head: WireHead | SpanHead) -> str:
    """What a history grows in: equal call ids of two runs do not hide each other's results."""
    if isinstance(head, WireHead):
        return head.input_id or head.run_id or ""
    return head.ordinal or head.conversation_id or head.trace_id or head.source


def emitted(call: ToolCall) -> EmittedCall:
    return EmittedCall(call.id, call.name, sha256_canonical(call.arguments))


def reported_in(messages: list[Message]) -> list[tuple[str, str]]:
    """(tool call id, digest of the content) of every tool result in a history read from a span."""
    out: list[tuple[str, str]] = []
    for message in messages:
        for part in message.parts:
            if part.get("type") == "tool_call_response" and isinstance(part.get("id"), str):
                content: Any = part.get("response")
                out.append((part["id"], sha256_canonical(content)))
    return out
