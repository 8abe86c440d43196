"""Inputs that several records of one run tell, each under a name of its own: which of them are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..model.heads import SpanHead
from ..model.reading import Role
from .retold import Kind, kind_of, product_of


class Same:
    """Names that were shown to mean one thing; the first of them stands for all."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def of(self, name: str) -> str:
        while name in self._of:
            name = self._of[name]
        return name

    def join(self, one: str, other: str) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            first, second = sorted((one, other))
            self._of[second] = first


def join_retold_inputs(heads: Iterable[SpanHead], input_of: Callable[[SpanHead], str], same: Same) -> set[str]:
    """Joins the Inputs of one conversation that two records of a product tell: those that share an id of a tool call or
    a response, each in one Input of either record; and the only one of either, since both tell that conversation.

    What a record tells as one Input where another tells several is no Input: those are returned.
    """
    coarse: set[str] = set()
    products: dict[str, list[SpanHead]] = {}
    for head in heads:
        product = product_of(head)
        if product is not None and head.role is not Role.NONE:
            products.setdefault(product, []).append(head)
    for mine in products.values():
        kinds = {kind_of(head) for head in mine}
        if len(kinds) < 2:
            continue
        for places in _by_id(mine, input_of).values():
            if len(places) > 1 and all(len(found) == 1 for found in places.values()):
                first, *rest = [next(iter(found)) for found in places.values()]
                for other in rest:
                    same.join(first, other)
        inputs: dict[Kind, set[str]] = {}
        for head in mine:
            if head.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION, Role.AGENT):
                inputs.setdefault(kind_of(head), set()).add(input_of(head))
        only = sorted({next(iter(found)) for found in inputs.values() if len(found) == 1})
        if only and all(len(found) == 1 for found in inputs.values()):
            for other in only[1:]:
                same.join(only[0], other)
            continue
        fine = {same.of(name) for found in inputs.values() if len(found) > 1 for name in found}
        coarse |= {name for name in map(same.of, only) if name not in fine}
    return coarse


def _by_id(heads: Iterable[SpanHead], input_of: Callable[[SpanHead], str]) -> dict[str, dict[Kind, set[str]]]:
    """Inputs in which each record has an id."""
    out: dict[str, dict[Kind, set[str]]] = {}
    for head in heads:
        for name in _ids(head):
            out.setdefault(name, {}).setdefault(kind_of(head), set()).add(input_of(head))
    return out


def _ids(head: SpanHead) -> Iterator[str]:
    if head.response_id is not None:
        yield f"response {head.response_id}"
    if head.tool_call_id is not None:
        yield f"call {head.tool_call_id}"
    for item in head.emitted:
        if item.id is not None:
            yield f"call {item.id}"
