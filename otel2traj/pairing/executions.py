"""Tool spans to executions: several recordings of one execution are one candidate, not two."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.heads import Execution, Recorder, SpanHead
from ..model.reading import Role

_MCP = "otel_mcp"


def find_executions(heads: Iterable[SpanHead]) -> list[Execution]:
    """One `Execution` for each tool execution that was recorded, unordered.

    Nested tool spans with one tool call id (a wrapper around the tool, an MCP client around its server) are one: the
    innermost one. One tool call id seen once by each of several recorders in one Input is one.
    """
    heads = list(heads)
    tools = [head for head in heads if head.role is Role.TOOL_EXECUTION]
    outer: dict[int, list[SpanHead]] = {}
    enclosing = _Enclosing()
    for tool in tools:
        around = _around(tool, enclosing)
        if around is not None:
            outer.setdefault(id(around), []).append(tool)
    inner_of = {key: inner[0] for key, inner in outer.items() if len(inner) == 1}
    executions: dict[int, Execution] = {}
    for tool in tools:
        if id(tool) not in inner_of:
            executions[id(tool)] = Execution(tool, ordinal=tool.ordinal)
    for tool in tools:
        if id(tool) in inner_of:
            innermost = _innermost(tool, inner_of)
            execution = executions[id(innermost)]
            execution.wrappers.append(tool)
            execution.ordinal = execution.ordinal or tool.ordinal
    found = list(executions.values())
    for execution in found:
        execution.wrappers.sort(key=SpanHead.order)
    return _across_recorders(found)


def _innermost(tool: SpanHead, inner_of: dict[int, SpanHead]) -> SpanHead:
    """The end of a chain of wrappers; the way there is shortened for who asks next."""
    way = []
    current = tool
    while id(current) in inner_of:
        way.append(current)
        current = inner_of[id(current)]
    for wrapper in way:
        inner_of[id(wrapper)] = current
    return current


class _Enclosing:
    """The nearest tool span around a span, and whether a model call or an agent stands between them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[SpanHead | None, bool]] = {}

    def of(self, head: SpanHead) -> tuple[SpanHead | None, bool]:
        way: list[SpanHead] = []
        current: SpanHead | None = head
        while current is not None and id(current) not in self._known:
            way.append(current)
            current = current.parent
        for node in reversed(way):
            above = node.parent
            if above is None:
                found: tuple[SpanHead | None, bool] = (None, False)
            elif above.role is Role.TOOL_EXECUTION:
                found = (above, False)
            else:
                tool, crossed = self._known[id(above)]
                found = (tool, crossed or above.role in (Role.MODEL_CALL, Role.AGENT))
            self._known[id(node)] = found
        return self._known[id(head)]


def _around(tool: SpanHead, enclosing: _Enclosing) -> SpanHead | None:
    """The tool span around this one that tells of the same execution, through recorded parents."""
    above, crossed = enclosing.of(tool)
    if above is None:
        return None
    if tool.tool_call_id is not None and above.tool_call_id is not None:
        return above if tool.tool_call_id == above.tool_call_id else None
    if crossed:
        return None
    mcp = _MCP in tool.dialects or _MCP in above.dialects
    return above if mcp or _same_name(tool, above) else None


def _same_name(one: SpanHead, other: SpanHead) -> bool:
    if one.tool_name is None or other.tool_name is None:
        return False
    return one.tool_name == other.tool_name or one.tool_name.rsplit(".", 1)[-1] == other.tool_name.rsplit(".", 1)[-1]


def _across_recorders(executions: list[Execution]) -> list[Execution]:
    """ACP client, framework recorder, spans and logs may each have seen the execution of one call id."""
    groups: dict[tuple[str | None, str], list[Execution]] = {}
    for execution in executions:
        call_id = execution.tool_call_id()
        if call_id is not None:
            groups.setdefault((execution.ordinal, call_id), []).append(execution)
    gone: set[int] = set()
    for members in groups.values():
        by_recorder: dict[Recorder, list[Execution]] = {}
        for execution in members:
            by_recorder.setdefault(execution.head.recorder, []).append(execution)
        if len(by_recorder) < 2 or any(len(found) > 1 for found in by_recorder.values()):
            continue
        order = [Recorder.ACP, Recorder.FRAMEWORK, Recorder.OTEL, Recorder.LOGS]
        first, *rest = sorted(members, key=lambda execution: order.index(execution.head.recorder))
        for other in rest:
            first.head.twins.extend([other.head, *other.head.twins])
            first.wrappers.extend(other.wrappers)
            gone.add(id(other))
    told = {execution.tool_call_id() for execution in executions if not execution.head.fallback_only}
    return [
        execution
        for execution in executions
        if id(execution) not in gone
        and not (
            execution.head.fallback_only and execution.tool_call_id() is not None and execution.tool_call_id() in told
        )
    ]
