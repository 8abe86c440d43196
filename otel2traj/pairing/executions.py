"""Tool spans to executions: several recordings of one execution are one candidate, not two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ..model.heads import Execution, Recorder, SpanHead
from ..model.link import Word
from ..model.reading import Role
from .tree import ended_before
from .witness import of_executions, of_instrumentors

_MCP: Final = "mcp"


def find_executions(heads: Iterable[SpanHead], spare: list[SpanHead]) -> list[Execution]:
    """One `Execution` for each tool execution that was recorded, unordered.

    `spare` gets log records that tell again of an execution, and nothing tells of which.

    Nested tool spans are one execution where both bear its tool call id and nothing speaks against it (a wrapper
    around the tool), or where they are the client's and the server's span of one MCP call: the innermost one. An id on
    one side is no identity. One tool call id seen once by each of several recorders or instrumentors is one.
    """
    heads = list(heads)
    tools = [head for head in heads if head.role is Role.TOOL_EXECUTION]
    outer: dict[SpanHead, list[SpanHead]] = {}
    enclosing = _Enclosing()
    below = Counter(tool.parent for tool in tools)
    for tool in tools:
        around = _around(tool, enclosing)
        if around is not None:
            outer.setdefault(around, []).append(tool)
    inner_of = {
        key: inner[0]
        for key, inner in outer.items()
        if len(inner) == 1 and (inner[0].tool_call_id == key.tool_call_id or below[key] < 2)
    }
    executions: dict[SpanHead, Execution] = {}
    for tool in tools:
        if tool not in inner_of:
            executions[tool] = Execution(tool, ordinal=tool.ordinal)
    for tool in tools:
        if tool in inner_of:
            innermost = _innermost(tool, inner_of)
            execution = executions[innermost]
            execution.wrappers.append(tool)
            execution.ordinal = execution.ordinal or tool.ordinal
    found = list(executions.values())
    for execution in found:
        execution.wrappers.sort(key=SpanHead.order)
    return _across_recorders(found, spare)


def _innermost(tool: SpanHead, inner_of: dict[SpanHead, SpanHead]) -> SpanHead:
    """The end of a chain of wrappers; the way there is shortened for who asks next."""
    way = []
    current = tool
    while current in inner_of:
        way.append(current)
        current = inner_of[current]
    for wrapper in way:
        inner_of[wrapper] = current
    return current


class _Enclosing:
    """The nearest tool span around a span, and whether a model call or an agent stands between them."""

    def __init__(self) -> None:
        self._known: dict[SpanHead, tuple[SpanHead | None, bool]] = {}

    def of(self, head: SpanHead) -> tuple[SpanHead | None, bool]:
        way: list[SpanHead] = []
        current: SpanHead | None = head
        while current is not None and current not in self._known:
            way.append(current)
            current = current.parent
        for node in reversed(way):
            above = node.parent
            if above is None:
                found: tuple[SpanHead | None, bool] = (None, False)
            elif above.role is Role.TOOL_EXECUTION and not ended_before(above, node):
                found = (above, False)
            else:
                tool, crossed = self._known[above]
                found = (tool, crossed or above.role in (Role.MODEL_CALL, Role.AGENT))
            self._known[node] = found
        return self._known[head]


def _around(tool: SpanHead, enclosing: _Enclosing) -> SpanHead | None:
    """The tool span around this one that tells of the same execution, through recorded parents: chains alone stand
    between the two."""
    above, crossed = enclosing.of(tool)
    if above is None or crossed or not of_executions(tool, above).holds():
        return None
    if tool.tool_call_id is not None and tool.tool_call_id == above.tool_call_id:
        return above
    return above if _one_mcp_call(tool, above) or _two_instrumentors(tool, above) else None


def _two_instrumentors(tool: SpanHead, above: SpanHead) -> bool:
    """A framework's span and an instrumentation's span of one tool, the one straight below the other. An id on the
    outer side alone could be that of a tool around its own recursion: then both must tell arguments and result."""
    ids = (tool.tool_call_id, above.tool_call_id)
    if tool.scope == above.scope or None not in ids or tool.parent is not above or tool.tool_name != above.tool_name:
        return False
    if tool.tool_name is None or any(_MCP in dialect for head in (tool, above) for dialect in head.dialects):
        return False
    witness = of_instrumentors(tool, above)
    told = {witness.word("arguments"), witness.word("result")}
    return witness.holds() and (tool.tool_call_id is not None or told == {Word.AGREES})


def _one_mcp_call(tool: SpanHead, above: SpanHead) -> bool:
    """Client around server; MCP spans bear no id of the model's, but a client's may have been given one."""
    return tool.mcp_side == "server" and above.mcp_side == "client"


_WEIGHT: Final = (Recorder.ACP, Recorder.FRAMEWORK, Recorder.OTEL, Recorder.SESSION, Recorder.LOGS)


def _across_recorders(executions: list[Execution], spare: list[SpanHead]) -> list[Execution]:
    """ACP client, framework recorder, two instrumentors and logs may each have seen the execution of one id."""
    groups: dict[tuple[str | None, str], list[Execution]] = {}
    for execution in executions:
        call_id = execution.tool_call_id()
        if call_id is not None:
            groups.setdefault((execution.ordinal, call_id), []).append(execution)
    gone: set[Execution] = set()
    for members in groups.values():
        if len(members) < 2:
            continue
        again: list[Execution] = []
        if any(not execution.head.fallback_only for execution in members):
            again = [execution for execution in members if execution.head.fallback_only]
            gone.update(again)
            members = [execution for execution in members if not execution.head.fallback_only]
        first, *rest = sorted(members, key=lambda e: (_WEIGHT.index(e.head.recorder), e.head.order()))
        told = Counter(by for execution in members for by in _instrumentors(execution))
        if max(told.values()) > 1 or not all(
            _one(first, other) for other in rest
        ):  # two executions of this id were seen
            spare.extend(execution.head for execution in again)
            continue
        first.head.twins.extend(execution.head for execution in again)
        for other in rest:
            first.head.twins.extend([other.head, *other.head.twins])
            first.wrappers.extend(other.wrappers)
            gone.add(other)
    return [execution for execution in executions if execution not in gone]


def _instrumentors(execution: Execution) -> set[tuple[Recorder, str]]:
    """Who told of an execution: none of them tells of one twice side by side."""
    return {(head.recorder, head.scope) for head in execution.heads()}


def _one(first: Execution, other: Execution) -> bool:
    """Nothing speaks against it; two spans must stand at the same place of the tree besides."""
    one, two = first.head, other.head
    if one.recorder is not two.recorder or one.recorder is Recorder.SESSION:
        return of_executions(one, two).holds()
    if not of_instrumentors(one, two).holds():
        return False
    outer, inner = ((e.wrappers or [e.head])[0] for e in (first, other))
    return outer.trace_id == inner.trace_id and outer.parent_id == inner.parent_id and outer.parent_id is not None
