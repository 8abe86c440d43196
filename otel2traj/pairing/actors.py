"""Who acted: the component that a span names, or the agent spans above it. Never a guess from a span's name."""

from __future__ import annotations

from ..model.heads import SpanHead
from ..model.reading import Role
from .tree import ancestors


def checkpoint_path(namespace: str) -> str | None:
    """The actor of a `langgraph_checkpoint_ns`: levels split by `|`, each up to `:`, digits dropped, joined by `/`."""
    levels = [level.split(":", 1)[0] for level in namespace.split("|")]
    return "/".join(level for level in levels if level and not level.isdigit()) or None


def agent_of(head: SpanHead | None) -> str | None:
    """The checkpoint path of the span or its nearest ancestor that has one, else agent names from the outside in."""
    if head is None:
        return None
    for node in (head, *head.twins):
        if node.agent_path:
            return checkpoint_path(node.agent_path)
    names: list[str] = []
    if head.agent_name is not None:
        names.append(head.agent_name)
    for above in ancestors(head):
        if above.agent_path and not names:
            return checkpoint_path(above.agent_path)
        if above.role is Role.AGENT and above.agent_name is not None and (not names or names[-1] != above.agent_name):
            names.append(above.agent_name)
    if not names:
        return next((twin.agent_name for twin in head.twins if twin.agent_name is not None), None)
    return "/".join(reversed(names))
