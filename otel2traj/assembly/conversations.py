"""The spans of one trace to the conversations in it, and what shows that two conversations may be one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..errors import some_of
from ..model.evidence import Notice
from ..model.heads import SpanHead
from ..model.ids import is_numbered
from ..model.reading import Role

ACTING = (Role.MODEL_CALL, Role.TOOL_EXECUTION, Role.AGENT)


def acts(heads: Iterable[SpanHead]) -> bool:
    return any(head.role in ACTING for head in heads)


def conversations_of(trace: str, members: list[SpanHead]) -> dict[str, list[SpanHead]]:
    """The spans of a trace by the name of their conversation: all of them together, unless it holds ids of several.

    What runs inside an agent, an execution or a span with an id belongs to that one's conversation, whatever id it
    bears itself. Ids of different dialects do not show that there are several. A span without an id around it goes
    where an identifier of its own stands, else under the name of the trace.
    """
    tops = _tops(members)
    groups: dict[SpanHead | None, list[SpanHead]] = {}
    for head in members:
        groups.setdefault(tops[head], []).append(head)
    names: dict[SpanHead | None, str | None] = {}
    told_by: dict[tuple[str, ...], set[str]] = {}
    for top, heads in groups.items():
        told = [head for head in heads if head.conversation_id is not None]
        named = top if top is not None and top.conversation_id is not None else min(told, key=_id, default=None)
        names[top] = None if named is None else named.conversation_id
        if named is not None and named.conversation_id is not None:
            told_by.setdefault(named.dialects[:1], set()).add(named.conversation_id)
    if all(len(found) < 2 for found in told_by.values()):
        named = min((head for head in members if head.conversation_id is not None), key=_id, default=None)
        return {trace if named is None else _id(named): members}
    by_id: dict[str, set[str]] = {}
    for top, heads in groups.items():
        name = names[top]
        for told_id in set() if name is None else _identifiers(heads):
            by_id.setdefault(told_id, set()).add(name or "")
    out: dict[str, list[SpanHead]] = {}
    for top, heads in groups.items():
        homes = {home for told_id in _identifiers(heads) for home in by_id.get(told_id, ())}
        name = names[top] or (next(iter(homes)) if len(homes) == 1 else trace)
        out.setdefault(name, []).extend(heads)
    return out


def _id(head: SpanHead) -> str:
    return head.conversation_id or ""


def _tops(members: list[SpanHead]) -> dict[SpanHead, SpanHead | None]:
    """For each span the outermost one around it, or itself, that acts or bears an id of a conversation."""
    out: dict[SpanHead, SpanHead | None] = {}
    for head in members:
        way: list[SpanHead] = []
        node: SpanHead | None = head
        while node is not None and node not in out:
            way.append(node)
            node = node.parent
        top = None if node is None else out[node]
        for node in reversed(way):
            if top is None and (node.role in ACTING or node.conversation_id is not None):
                top = node
            out[node] = top
    return out


def _identifiers(heads: Iterable[SpanHead]) -> set[str]:
    """What identifies a call or an execution beyond its own trace; not ids that are counted anew for each answer."""
    out: set[str] = set()
    for head in heads:
        if head.response_id is not None:
            out.add(f"response {head.response_id}")
        reported = (item.tool_call_id for item in head.reported)
        for call_id in (head.tool_call_id, *(item.id for item in head.emitted), *reported):
            if call_id is not None and not is_numbered(call_id):
                out.add(f"tool call {call_id}")
    return out


def maybe_one_run(heads: dict[str, list[SpanHead]], wires: dict[str, int]) -> Iterator[tuple[str, Notice]]:
    """A notice for each conversation that may be another one's run: they share an identifier, or the one holds model
    spans alone and the other wire calls alone. `wires` counts those of every conversation."""
    if len(heads) < 2:
        return
    found: dict[str, list[str]] = {}
    for name in sorted(heads):
        for told_id in _identifiers(heads[name]):
            found.setdefault(told_id, []).append(name)
    shared: dict[tuple[str, str], list[str]] = {}
    for told_id, names in found.items():
        for name in names if len(names) > 1 else ():  # each is told of one other, however many there are
            other = names[1] if name == names[0] else names[0]
            shared.setdefault((name, other), []).append(told_id)
    for (here, there), told in sorted(shared.items()):
        more = "" if len(told) == 1 else f" and {len(told) - 1} more"
        message = f"conversation {there} bears {min(told)}{more} as well: the two may be one run"
        yield here, Notice("conversations_may_be_one", message)
    calls = {name: sum(head.role is Role.MODEL_CALL for head in members) for name, members in heads.items()}
    on_wire = sorted(name for name in heads if wires[name] and not calls[name])
    on_spans = sorted(name for name in heads if calls[name] and not wires[name])
    if not on_wire or not on_spans:
        return
    for name in on_spans:
        message = f"no identifier ties the wire calls of {some_of(on_wire, _NAMED)} to these spans: they may be one run"
        yield name, Notice("conversations_may_be_one", message)
    for name in on_wire:
        message = (
            f"no identifier ties these wire calls to the spans of {some_of(on_spans, _NAMED)}: they may be one run"
        )
        yield name, Notice("conversations_may_be_one", message)


_NAMED: Final = 3
"""How many conversations a notice names."""
