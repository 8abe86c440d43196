"""One node of a document and what is stated around it into an SVG: causes to the left, what came of them to the right.

The drawing is inert (no script, no link, nothing is loaded) and the same for the same document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from ..canonical import JsonObject
from ..errors import EvidenceError
from .document import CLASSES, ENDS
from .validate.profile import bundles, names, statements

MAX_NODES: Final = 60
HOPS: Final = 2
_WIDTH: Final = 190
_HEIGHT: Final = 40
_GAP_X: Final = 90
_GAP_Y: Final = 16
_EDGE: Final = 24
_SHAPES: Final = {"entity": ("#fffbe6", 20), "activity": ("#dfe6ff", 0), "agent": ("#ffe6d5", 6)}
"""Colour and corner of each kind: PROV draws entities round, activities square."""
_STROKES: Final = dict(zip(CLASSES.values(), ("", "6 3", "2 3"), strict=True))
"""Observed is drawn through, derived dashed, inferred dotted."""
_LEFT: Final = frozenset({"used", "hadMember", "wasDerivedFrom", "wasGeneratedBy", "wasAttributedTo"})
"""Relations whose second end lies to the left of the first."""


@dataclass(slots=True)
class _Edge:
    kind: str
    one: str
    other: str
    evidence: str


@dataclass(slots=True)
class _Graph:
    kinds: dict[str, tuple[str, JsonObject]] = field(default_factory=dict)
    edges: dict[str, list[_Edge]] = field(default_factory=dict)


def draw(document: JsonObject, node: str) -> str:
    """The neighbourhood of a node, two relations deep. `node` is `x:mc0` or `mc0`. Raises `EvidenceError` where no
    node of core has the name."""
    graph = _graph(document)
    start = node if node in graph.kinds else f"x:{node}"
    if start not in graph.kinds:
        raise EvidenceError(
            f"{node!r} is no node of core", code="prov.draw", hint="for example mc0: a model call, te0: an execution"
        )
    columns, left_out = _reach(graph, start)
    return "".join(_svg(graph, start, columns, left_out))


def _graph(document: JsonObject) -> _Graph:
    graph = _Graph()
    found = bundles(document)
    for kind, key, item in statements(found.get("xd:core", {})):
        if kind in _SHAPES:
            graph.kinds[key] = (kind, item)
    for name in sorted(found):
        for kind, _, item in statements(found[name]):
            if kind not in ENDS:
                continue
            one, other = (str(item.get(label)) for label in ENDS[kind])
            if one in graph.kinds and other in graph.kinds:
                evidence = next(iter(names(item.get("apv:evidenceClass"))), "")
                edge = _Edge(kind, one, other, evidence)
                graph.edges.setdefault(one, []).append(edge)
                graph.edges.setdefault(other, []).append(edge)
    return graph


def _reach(graph: _Graph, start: str) -> tuple[dict[str, int], int]:
    """Node -> its column; and how many more would be there."""
    columns = {start: 0}
    left_out: set[str] = set()
    last = [start]
    for _ in range(HOPS):
        fresh = []
        for at in last:
            if graph.kinds[at][0] == "agent":
                continue  # what else an agent did is no neighbourhood
            for edge in sorted(graph.edges.get(at, ()), key=lambda one: (_order(one.one), _order(one.other))):
                far = edge.other if edge.one == at else edge.one
                if far in columns:
                    continue
                if len(columns) >= MAX_NODES:
                    left_out.add(far)
                    continue
                columns[far] = columns[at] + (0 if edge.kind not in _LEFT else -1 if edge.one == at else 1)
                fresh.append(far)
        last = fresh
    return columns, len(left_out)


def _order(name: str) -> list[tuple[int, str]]:
    """Names in the order of their numbers: m2 before m10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def _svg(graph: _Graph, start: str, columns: dict[str, int], left_out: int) -> Iterator[str]:
    first = min(columns.values())
    places: dict[str, tuple[int, int]] = {}
    rows: dict[int, int] = {}
    for name in sorted(columns, key=lambda one: (graph.kinds[one][0] == "agent", _order(one))):
        column = columns[name] - first
        row = rows.get(column, 0)
        rows[column] = row + 1
        places[name] = (_EDGE + column * (_WIDTH + _GAP_X), _EDGE + row * (_HEIGHT + _GAP_Y))
    width = 2 * _EDGE + max(x for x, _ in places.values()) + _WIDTH - _EDGE
    height = 2 * _EDGE + max(y for _, y in places.values()) + _HEIGHT
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' font-family="sans-serif" font-size="12" role="img">\n<title>{escape(start)} and what is stated around it'
        "</title>\n"
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
    )
    drawn = {id(edge): edge for name in places for edge in graph.edges.get(name, ())}
    held = [one for one in drawn.values() if one.one in places and one.other in places]
    lines = sorted({(one.kind, one.one, one.other, one.evidence) for one in held})
    ends = Counter(end for _, one, other, _ in lines for end in (one, other))
    words: Counter[tuple[int, int]] = Counter()
    for kind, one, other, evidence in lines:
        yield _line(places[one], places[other], evidence)
        yield _word(places[one], places[other], kind, words, own=ends[one] <= ends[other])
    for name, place in sorted(places.items(), key=lambda item: _order(item[0])):
        yield _box(name, *graph.kinds[name], place, strong=name == start)
    more = f", {left_out} more nodes are not drawn" if left_out else ""
    legend = f"observed: drawn through; derived: dashed; inferred: dotted{more}"
    yield f'<text x="{_EDGE}" y="{height - 8}" fill="#555" font-size="10">{escape(legend)}</text>\n</svg>\n'


def _line(one: tuple[int, int], other: tuple[int, int], evidence: str) -> str:
    """From effect to cause, as PROV draws its relations."""
    (x1, y1), (x2, y2) = _ends(one, other)
    bend = 30 if one[0] == other[0] or other[0] > one[0] else -30
    dash = f' stroke-dasharray="{_STROKES[evidence]}"' if _STROKES.get(evidence) else ""
    end = x2 + (30 if one[0] == other[0] else -bend)
    path = f'<path d="M{x1} {y1}C{x1 + bend} {y1} {end} {y2} {x2} {y2}" fill="none" stroke="#555"{dash}'
    return f'{path} marker-end="url(#to)"/>\n'


def _word(
    one: tuple[int, int], other: tuple[int, int], kind: str, words: Counter[tuple[int, int]], *, own: bool
) -> str:
    """The name of a relation beside one of its ends: where fewer relations meet, one below the other."""
    (x1, y1), (x2, y2) = _ends(one, other)
    x, y = (x1, y1) if own else (x2, y2)
    box = one if own else other
    left = x == box[0]
    gap = (x - _EDGE) // (_WIDTH + _GAP_X) - left
    row = words[gap, y]
    words[gap, y] += 1
    anchor = "end" if left else "start"
    at = f'x="{x - 6 if left else x + 6}" y="{y - 4 + 10 * row}"'
    return f'<text {at} fill="#555" font-size="9" text-anchor="{anchor}">{escape(kind)}</text>\n'


def _ends(one: tuple[int, int], other: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where a relation leaves the one box and meets the other: at the sides that face each other, else on the right."""
    back, beside = other[0] < one[0], one[0] == other[0]
    x1 = one[0] + (0 if back else _WIDTH)
    x2 = other[0] + (_WIDTH if back or beside else 0)
    return (x1, one[1] + _HEIGHT // 2), (x2, other[1] + _HEIGHT // 2)


def _box(name: str, kind: str, item: JsonObject, place: tuple[int, int], *, strong: bool) -> str:
    colour, corner = _SHAPES[kind]
    x, y = place
    evidence = next(iter(names(item.get("apv:evidenceClass"))), "")
    dash = f' stroke-dasharray="{_STROKES[evidence]}"' if _STROKES.get(evidence) else ""
    types = [one.removeprefix("apv:") for one in names(item.get("prov:type")) if one.startswith("apv:")]
    label: Any = item.get("apv:toolName") or item.get("apv:name") or item.get("apv:status") or ""
    label = label if isinstance(label, str) else ""
    second = f"{types[-1] if types else kind}{f': {label}' if label else ''}"
    second = second if len(second) <= 32 else second[:31] + "…"
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{corner}" fill="{colour}" stroke="#333"'
        f' stroke-width="{2 if strong else 1}"{dash}/>\n'
        f'<text x="{x + 10}" y="{y + 16}" font-weight="bold">{escape(name)}</text>\n'
        f'<text x="{x + 10}" y="{y + 31}" fill="#333" font-size="10">{escape(_printable(second))}</text>\n'
    )


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else "\ufffd" for one in text)
