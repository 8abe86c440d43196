"""The index: one head for each span, wire call and tool, found by recorded identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..messages import ToolCall
from ..model.evidence import Notice
from ..model.heads import Part, Recorder, SpanHead, WireHead
from ..model.ids import is_counted
from ..model.reading import Role


class Index:
    """Heads in memory, bodies by reference. Filled once, in any order of sources; asked many times."""

    def __init__(self) -> None:
        self.wires: dict[str, WireHead] = {}
        self.framework: dict[tuple[str, str], SpanHead] = {}
        """(file, span id): equal span ids in two Inputs stay apart."""
        self.otel: dict[tuple[str, str], SpanHead] = {}
        """(trace id, span id)."""
        self.acp: dict[tuple[str, str, str], SpanHead] = {}
        """(file, session, tool call id)."""
        self.acp_ids: set[tuple[str, str]] = set()
        """(file, tool call id) of all of them."""
        self.sessions: dict[tuple[str, str], SpanHead] = {}
        """Calls, executions and prompts of session files, by (conversation, the file's own key)."""
        self.log_groups: dict[tuple[str, str], SpanHead] = {}
        self.span_logs: dict[tuple[str, str], list[Part]] = {}
        """Log records by (trace id, span id) of the span they carry."""
        self.loose_logs: list[Part] = []
        """Log records with messages of a model call that carry no span id."""
        self.log_keys: dict[tuple[str, str], list[tuple[str, str]]] = {}
        """Keys of `log_groups` by (Input ordinal, every key that a record of the group bears)."""
        self.log_key_spans: dict[tuple[str, str], SpanHead] = {}
        """OpenTelemetry spans by (Input ordinal, the key under which log records tell of their call)."""
        self.native_calls: dict[str, list[tuple[str | None, Part]]] = {}
        """(Input ordinal, record) by the response id that the ACP agent said it got."""
        self.ends: dict[str | None, list[Part]] = {}
        """What an ACP client or a framework recorded of the end of an Input, by its ordinal."""
        self.told: dict[str | None, list[Part]] = {}
        """What an ACP client or a framework recorded of an Input beside steps, tools and terminals, in its order."""
        self.tasks: dict[tuple[str, str | None, str], int] = {}
        """How many tasks were started with a numbered tool call id, by file, trace and id."""
        self.recovered: dict[SpanHead, tuple[str, list[ToolCall]]] = {}
        """Tool calls of a model span that itself tells none, with what told them: `enclosing_span`, `graph_node`."""
        self.terminals: dict[tuple[str, str], list[Part]] = {}
        """What the ACP client recorded of a terminal, by (file, terminal id)."""
        self.named_terminals: set[tuple[str, str]] = set()
        """Those of them that a tool call names."""
        self.permissions: dict[tuple[str, str, str], list[Part]] = {}
        """Requests for permission by the key of the ACP tool call that they ask for."""
        self.scopes: dict[tuple[str, str], str] = {}
        """The first source of each (scope name, scope version) of the recognised spans."""
        self.no_steps: dict[tuple[str, str], tuple[str, str]] = {}
        """The word by which a span says that it is a step, of those that are read as none, and its file."""
        self.notices: list[Notice] = []
        self.counts: Counter[str] = Counter()
        self._by_span_id: dict[str, list[SpanHead]] = {}
        self._in_several_inputs: set[str] = set()

    def span_heads(self) -> Iterator[SpanHead]:
        """Every head that is not another's twin, in the order it was found."""
        for table in (self.framework, self.otel, self.sessions, self.log_groups, self.acp):
            yield from table.values()

    def logs_of(self, head: SpanHead) -> list[Part]:
        found = self.span_logs.get((head.trace_id or "", head.span_id), [])
        if head.span_id in self._in_several_inputs:
            folder = head.source.rpartition("/")[0]
            return [part for part in found if part.ref.source.rpartition("/")[0] == folder]
        return found

    def span_of_input(self, span_id: str, ordinal: str | None) -> str:
        """The second part of the key of a span whose ids stand in another Input too, for another span."""
        self._in_several_inputs.add(span_id)
        return _of_input(span_id, ordinal)

    def finish(self) -> None:
        """Merge what two recorders said of one span, and tie every span to its parent. Linear in the heads."""
        self._merge_framework_twins()
        self._merge_acp_twins()
        self._merge_log_groups()
        self._by_span_id = {}
        for head in self.span_heads():
            if head.span_id != "":
                self._by_span_id.setdefault(head.span_id, []).append(head)
            for other in {head.otel_span_id, head.framework_span_id} - {head.span_id, None}:
                self._by_span_id.setdefault(other or "", []).append(head)
        for head in self.span_heads():
            head.parent = self._parent(head)
        self._cut_cycles()

    def alias(self, head: SpanHead, *span_ids: str) -> None:
        """More ids that a header may name the span by."""
        for span_id in span_ids:
            known = self._by_span_id.setdefault(span_id, [])
            if head not in known:
                known.append(head)

    def by_span_id(self, span_id: str) -> list[SpanHead]:
        """Every head that is recorded under that id, framework or OpenTelemetry."""
        return self._by_span_id.get(span_id, [])

    def _parent(self, head: SpanHead) -> SpanHead | None:
        if head.parent_id is None:
            return None
        if head.recorder is Recorder.FRAMEWORK:
            return self.framework.get((head.source, head.parent_id))
        if head.trace_id is None:
            return None
        found = None
        if head.parent_id in self._in_several_inputs:
            found = self.otel.get((head.trace_id, _of_input(head.parent_id, head.ordinal)))
        found = found or self.otel.get((head.trace_id, head.parent_id))
        if found is None:
            named = self._by_span_id.get(head.parent_id, ())
            found = next((h for h in named if h.trace_id == head.trace_id and h is not head), None)
        if found is not None and found.ordinal != head.ordinal and None not in (found.ordinal, head.ordinal):
            again = head.parent_id in self._in_several_inputs or is_counted(head.parent_id)
            return None if again else found  # each Input counts anew: its own span of that id is lost
        return found

    def _merge_framework_twins(self) -> None:
        """A span of the framework recorder that was exported as an OpenTelemetry span too is one span."""
        if not self.framework:
            return
        by_ordinal: dict[tuple[str | None, str], SpanHead] = {}
        for head in self.framework.values():
            by_ordinal[(head.ordinal, head.span_id)] = head
        for key, otel in list(self.otel.items()):
            if otel.framework_span_id is None:
                continue
            twin = by_ordinal.get((otel.ordinal, otel.framework_span_id))
            if twin is not None:
                twin.trace_id, twin.otel_span_id = otel.trace_id, otel.span_id
                twin.scope = otel.scope
                twin.parts.extend(otel.parts)
                del self.otel[key]

    def _merge_acp_twins(self) -> None:
        """A tool call of the ACP stream that the framework recorder mirrored is one execution."""
        tools: dict[tuple[str | None, str], list[SpanHead]] = {}
        for head in self.framework.values():
            if head.role is Role.TOOL_EXECUTION and head.tool_call_id is not None:
                tools.setdefault((head.ordinal, head.tool_call_id), []).append(head)
        for acp in self.acp.values():
            mirrored = tools.get((acp.ordinal, acp.tool_call_id or ""), [])
            mirrored = [head for head in mirrored if head.span_id.endswith(f":{acp.tool_call_id}")]
            own = [head for head in mirrored if head.span_id == f"{acp.session}:{acp.tool_call_id}"]
            mirrored = own or mirrored
            if len(mirrored) == 1:
                twin = mirrored[0]
                tools[acp.ordinal, acp.tool_call_id or ""].remove(twin)
                acp.framework_span_id = twin.span_id
                acp.trace_id, acp.otel_span_id = twin.trace_id, twin.otel_span_id
                acp.source, acp.span_id = twin.source, twin.span_id
                acp.parts.extend(twin.parts)
                del self.framework[(twin.source, twin.span_id)]

    def _merge_log_groups(self) -> None:
        """Groups that share a key are one; a group that names a span's own call is content of that span."""
        gone: dict[tuple[str, str], tuple[str, str]] = {}

        def root(key: tuple[str, str]) -> tuple[str, str]:
            while key in gone:
                key = gone[key]
            return key

        for members in self.log_keys.values():
            first = root(members[0])
            for other in map(root, members[1:]):
                if other == first:
                    continue
                head, more = self.log_groups[first], self.log_groups.pop(other)
                gone[other] = first
                head.parts.extend(more.parts)
                head.start_ns = min((ns for ns in (head.start_ns, more.start_ns) if ns is not None), default=None)
                head.end_ns = max((ns for ns in (head.end_ns, more.end_ns) if ns is not None), default=None)
                head.agent_name = head.agent_name or more.agent_name
                head.fallback_only = head.fallback_only or more.fallback_only
        for key, named in self.log_key_spans.items():
            for member in self.log_keys.get(key, ())[:1]:
                found = self.log_groups.get(root(member))
                if found is not None and found.role is named.role:
                    self._give(self.log_groups.pop(root(member)), named)
        for group, head in list(self.log_groups.items()):
            span = self.otel.get((head.trace_id or "", head.parent_id or ""))
            if head.of_span and span is not None and span.role is head.role:
                self._give(self.log_groups.pop(group), span)

    def _give(self, group: SpanHead, span: SpanHead) -> None:
        self.span_logs.setdefault((span.trace_id or "", span.span_id), []).extend(group.parts)

    def _cut_cycles(self) -> None:
        """Parents that lead in a circle tell nothing: none of its links is used, in whatever order they were read."""
        done: set[SpanHead] = set()
        for head in self.span_heads():
            path: dict[SpanHead, None] = {}
            current: SpanHead | None = head
            while current is not None and current not in done and current not in path:
                path[current] = None
                current = current.parent
            if current is not None and current in path:
                members = list(path)
                circle = members[members.index(current) :]
                named = min(circle, key=lambda member: member.span_id)
                message = f"the parents of span {named.span_id} lead back to it"
                self.notices.append(Notice("parent_cycle", message, named.source))
                for member in circle:
                    member.parent = None
            done.update(path)


def _of_input(span_id: str, ordinal: str | None) -> str:
    return f"{span_id} in {ordinal or ''}"
