"""Facts into one graph of events, and the cycles in it that cannot have happened.

An event is the generation or invalidation of an entity, the start or end of an activity, or one usage. Constraints 39,
40, 31 and 32 make all generations of one entity simultaneous (likewise the others), so each is one node. Only the edge
of constraint 42 is strict: a cycle is an error when it holds one. Clock values are never compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ...model.finding import Finding
from .solve import NONE, Fact, Solver, finding

Node = tuple[str, int]


class Edge(NamedTuple):
    before: Node
    after: Node
    number: int
    strict: bool
    place: str


GEN: Final = "generation of"
INV: Final = "invalidation of"
START: Final = "start of"
END: Final = "end of"
USE: Final = "usage"
ABOVE_GEN: Final = "generations along specializations of"
ABOVE_INV: Final = "invalidations along specializations of"


class Order:
    def __init__(self, solver: Solver) -> None:
        self._terms = solver.terms
        self._out = solver.out
        self._exists = {
            GEN: self._out.generated,
            INV: self._out.invalidated,
            START: self._out.started,
            END: self._out.ended,
        }

    def _edge(
        self, one: str, a: int, other: str, b: int, number: int, fact: Fact, strict: bool = False
    ) -> Iterator[Edge]:
        """The edge, where both events exist."""
        a, b = self._terms.find(a), self._terms.find(b)
        known = self._exists
        if (one not in known or a in known[one]) and (other not in known or b in known[other]):
            yield Edge((one, a), (other, b), number, strict, fact.place)

    def edges(self) -> Iterator[Edge]:
        facts, edge = self._out.facts, self._edge
        none = self._terms.find(self._terms.constant(NONE))
        for fact in facts["activity"]:
            yield from edge(START, fact.id, END, fact.id, 30, fact)
        for kind in ("wasStartedBy", "wasEndedBy"):
            event, number = (START, 43) if kind == "wasStartedBy" else (END, 44)
            for fact in facts[kind]:
                yield from edge(START, fact.args[0], END, fact.args[0], 30, fact)
                yield from edge(GEN, fact.args[1], event, fact.args[0], number, fact)
                yield from edge(event, fact.args[0], INV, fact.args[1], number, fact)
        for fact in facts["used"]:
            yield from edge(START, fact.args[0], USE, fact.id, 33, fact)
            yield from edge(USE, fact.id, END, fact.args[0], 33, fact)
            yield from edge(GEN, fact.args[1], USE, fact.id, 37, fact)
            yield from edge(USE, fact.id, INV, fact.args[1], 38, fact)
        for fact in facts["wasGeneratedBy"]:
            yield from edge(START, fact.args[1], GEN, fact.args[0], 34, fact)
            yield from edge(GEN, fact.args[0], END, fact.args[1], 34, fact)
            yield from edge(GEN, fact.args[0], INV, fact.args[0], 36, fact)
        for fact in facts["wasInvalidatedBy"]:
            yield from edge(GEN, fact.args[0], INV, fact.args[0], 36, fact)
        for fact in facts["entity"]:
            yield from edge(GEN, fact.id, INV, fact.id, 36, fact)
        for fact in facts["wasInformedBy"]:
            yield from edge(START, fact.args[1], END, fact.args[0], 35, fact)
        for fact in facts["wasDerivedFrom"]:
            if self._terms.find(fact.args[2]) != none:
                yield from edge(USE, fact.args[4], GEN, fact.args[0], 41, fact)
            yield from edge(GEN, fact.args[1], GEN, fact.args[0], 42, fact, strict=True)
        yield from self._specializations()
        yield from self._agents()

    def _specializations(self) -> Iterator[Edge]:
        """45 and 46 over the transitive closure: the nodes in between need no event of their own."""
        for fact in self._out.facts["specializationOf"]:
            specific, general = fact.args
            yield from self._edge(ABOVE_GEN, general, ABOVE_GEN, specific, 45, fact)
            yield from self._edge(ABOVE_INV, specific, ABOVE_INV, general, 46, fact)
            for entity in (specific, general):
                yield from self._edge(GEN, entity, ABOVE_GEN, entity, 45, fact)
                yield from self._edge(ABOVE_GEN, entity, GEN, entity, 45, fact)
                yield from self._edge(INV, entity, ABOVE_INV, entity, 46, fact)
                yield from self._edge(ABOVE_INV, entity, INV, entity, 46, fact)

    def _agents(self) -> Iterator[Edge]:
        """47 to 49: an agent may be an entity or an activity, and has to be there while it is responsible."""
        facts, edge = self._out.facts, self._edge
        for fact in facts["wasAssociatedWith"]:
            activity, agent = fact.args[:2]
            yield from edge(START, activity, INV, agent, 47, fact)
            yield from edge(GEN, agent, END, activity, 47, fact)
            yield from edge(START, activity, END, agent, 47, fact)
            yield from edge(START, agent, END, activity, 47, fact)
        for fact in facts["wasAttributedTo"]:
            entity, agent = fact.args
            yield from edge(GEN, agent, GEN, entity, 48, fact)
            yield from edge(START, agent, GEN, entity, 48, fact)
        for fact in facts["actedOnBehalfOf"]:
            delegate, responsible = fact.args[:2]
            yield from edge(GEN, responsible, INV, delegate, 49, fact)
            yield from edge(START, responsible, END, delegate, 49, fact)

    def findings(self) -> list[Finding]:
        edges = list(self.edges())
        component = components(edges)
        numbers: dict[int, set[int]] = {}
        for edge in edges:
            if component[edge.before] == component[edge.after]:
                numbers.setdefault(component[edge.before], set()).add(edge.number)
        out = []
        for one in edges:
            if one.strict and component[one.before] == component[one.after]:
                others = ", ".join(map(str, sorted(numbers[component[one.before]])))
                message = (
                    f"the {self._show(one.before)} has to come strictly before the {self._show(one.after)}, and also "
                    f"after it (constraints {others})"
                )
                out.append(finding(42, message, one.place))
        return out

    def _show(self, node: Node) -> str:
        return f"{node[0]} {self._terms.show(node[1])}"


def components(edges: list[Edge]) -> dict[Node, int]:
    """The strongly connected component of every node (Tarjan's algorithm, without recursion)."""
    after: dict[Node, list[Node]] = {}
    for edge in edges:
        after.setdefault(edge.before, []).append(edge.after)
        after.setdefault(edge.after, [])
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    component: dict[Node, int] = {}
    stack: list[Node] = []
    for root in after:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        work = [(root, iter(after[root]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(after[target])))
                    break
                if target not in component:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = stack.pop()
                        component[member] = index[node]
                        if member == node:
                            break
    return component
