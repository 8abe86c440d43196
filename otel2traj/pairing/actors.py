"""Who acted: the component that a span names, or the agents that spans above it name. No guess from a span's name."""

from __future__ import annotations

from typing import NamedTuple

from ..model.heads import SpanHead
from ..model.reading import Role
from .tree import ancestors


def checkpoint_path(namespace: str, name: str | None = None) -> str | None:
    """The actor of a `langgraph_checkpoint_ns`: levels split by `|`, each up to `:`, digits dropped, joined by `/`.

    The last level is the node that ran. Where the span names its agent, that `name` stands in its place, once where the
    level above bears it too.
    """
    levels = [level.split(":", 1)[0] for level in namespace.split("|")]
    levels = [level for level in levels if level and not level.isdigit()]
    if name is not None:
        levels[-1:] = [] if levels[-2:-1] == [name] else [name]
    return "/".join(levels) or None


def purpose_of(head: SpanHead | None) -> str | None:
    """What a call is for beside the conversation, as the producer names a span around it."""
    return next((node.purpose for node in ancestors(head) if node.purpose is not None), None) if head else None


class _Above(NamedTuple):
    """What a span and the spans around it tell of the actor."""

    path: str | None = None
    """The actor of the nearest checkpoint, where no named agent is nearer."""
    nearest: str | None = None
    """The nearest agent's name."""
    names: str | None = None
    """All agents' names from the outside in, joined by `/`."""


class Actors:
    """Tells the actor of any span of one tree. Every span is looked at once, however deep it lies."""

    def __init__(self) -> None:
        self._known: dict[int, _Above] = {}

    def of(self, head: SpanHead | None) -> str | None:
        """The checkpoint path of the span or its nearest ancestor that has one, else agent names, outermost first."""
        if head is None:
            return None
        recordings = (head, *head.twins)
        for node in recordings:
            if node.agent_path:
                name = next((told.agent_name for told in (node, *recordings) if told.agent_name is not None), None)
                return checkpoint_path(node.agent_path, name)
        above = self._above(head.parent)
        if head.agent_name is not None:
            return _join(above, head.agent_name).names
        if above.path is not None:
            return above.path
        if above.names is not None:
            return above.names
        return next((twin.agent_name for twin in head.twins if twin.agent_name is not None), None)

    def namers(self, head: SpanHead) -> list[SpanHead]:
        """The spans that tell the actor of a span, nearest first: of each level of its name the nearest that has it."""
        name = self.of(head)
        left = {} if name is None else dict.fromkeys((name, *name.split("/")))
        found: dict[SpanHead, None] = {}
        for node in (head, *head.twins, *ancestors(head)):
            told = checkpoint_path(node.agent_path) if node.agent_path else None
            if (told is not None and told.split("/")[0] in left) or node.agent_name in left:
                found[node] = None
                if name in (node.agent_name, told):
                    break
                for level in (name, node.agent_name, *(() if told is None else told.split("/"))):
                    left.pop(level, None)
        return list(found)

    def _above(self, head: SpanHead | None) -> _Above:
        way: list[SpanHead] = []
        while head is not None and id(head) not in self._known:
            way.append(head)
            head = head.parent
        told = _Above() if head is None else self._known[id(head)]
        for node in reversed(way):
            if node.role in (Role.AGENT, Role.CHAIN) and node.agent_name is not None:
                told = _join(told, node.agent_name)
            if node.agent_path:
                told = told._replace(path=checkpoint_path(node.agent_path, node.agent_name))
            self._known[id(node)] = told
        return told


def _join(above: _Above, name: str) -> _Above:
    if above.nearest == name:
        return above._replace(path=None)
    return _Above(None, name, name if above.names is None else f"{above.names}/{name}")
