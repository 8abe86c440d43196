"""Two lists of marks to pairs of steps, each with the rule that made it. Identifiers first; then, between the pairs
that identifiers made, what the steps did; order last. Times are never looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from .marks import IDENTIFIERS, StepMarks

_SQUARE = 4_000_000
"""Gaps whose sides multiply to more are aligned by what is unique alone."""


@dataclass(slots=True)
class Pair:
    """Places in the two lists; None on the side that lacks the step. `moved`: paired, but not in the same order."""

    reference: int | None
    candidate: int | None
    rule: str | None = None
    moved: bool = False


Key = Callable[[StepMarks], Hashable]


def align(
    reference: Sequence[StepMarks], candidate: Sequence[StepMarks], fields: Sequence[str], *, identifiers: bool = True
) -> list[Pair]:
    """Every step of both sides once, in the reference's order, with the candidate's extra steps where they stand.

    `fields` are those that both sides record. `identifiers` is False for two runs known to be different ones: a
    server that counts its calls gives both the same ids, and they mean nothing.
    """
    partner: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    for rule in IDENTIFIERS if identifiers else ():
        left = _unique(reference, rule, set(partner))
        right = _unique(candidate, rule, taken)
        for value, at in left.items():
            if value in right:
                partner[at] = (right[value], rule)
                taken.add(right[value])
    steady = _longest_rise([(at, partner[at][0]) for at in sorted(partner)])
    moved = set(partner) - {at for at, _ in steady}
    edges = [(-1, -1), *steady, (len(reference), len(candidate))]
    for (low_r, low_c), (high_r, high_c) in pairwise(edges):
        left_free = [at for at in range(low_r + 1, high_r) if at not in partner]
        right_free = [at for at in range(low_c + 1, high_c) if at not in taken]
        for at, other, rule in _fill(reference, candidate, left_free, right_free, _keys(fields)):
            partner[at] = (other, rule)
            taken.add(other)
    return _rows(len(reference), len(candidate), partner, moved, taken)


def _unique(steps: Sequence[StepMarks], rule: str, used: set[int]) -> dict[str, int]:
    free = [(at, step.ids[rule]) for at, step in enumerate(steps) if at not in used and rule in step.ids]
    times = Counter(value for _, value in free)
    return {value: at for at, value in free if times[value] == 1}


def _fill(
    reference: Sequence[StepMarks],
    candidate: Sequence[StepMarks],
    left: list[int],
    right: list[int],
    rules: Sequence[tuple[str, Key]],
) -> list[tuple[int, int, str]]:
    """Pairs within one gap, the strictest rule first; a pair never crosses one that a stricter rule made."""
    gaps, out = [(left, right)], list[tuple[int, int, str]]()
    for rule, key in rules:
        rest: list[tuple[list[int], list[int]]] = []
        for ours, theirs in gaps:
            pairs = _common([key(reference[at]) for at in ours], [key(candidate[at]) for at in theirs])
            out += [(ours[a], theirs[b], rule) for a, b in pairs]
            edges = [(-1, -1), *pairs, (len(ours), len(theirs))]
            for (low_a, low_b), (high_a, high_b) in pairwise(edges):
                rest.append((ours[low_a + 1 : high_a], theirs[low_b + 1 : high_b]))
        gaps = [(ours, theirs) for ours, theirs in rest if ours and theirs]
    return out


def _keys(fields: Sequence[str]) -> tuple[tuple[str, Key], ...]:
    """`content`: what the step did, whatever it was asked; `outline`: who, what kind, with which tools; `order`."""
    did = [name for name in fields if not name.startswith("input.")]
    tools = "output.tool_calls" in fields or "tool_logs" in fields
    named = "agent_name" in fields
    return (
        ("content", lambda step: tuple(step.digests.get(name) for name in did)),
        ("outline", lambda s: (s.kind, s.digests.get("agent_name") if named else None, s.tools if tools else ())),
        ("order", lambda step: step.kind),
    )


def _common(left: list[Hashable], right: list[Hashable]) -> list[tuple[int, int]]:
    """A common subsequence as pairs of places, rising on both sides."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
    if len(middle_left) * len(middle_right) <= _SQUARE:
        blocks = SequenceMatcher(None, middle_left, middle_right, autojunk=False).get_matching_blocks()
        inner = [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
    else:
        inner = _unique_common(middle_left, middle_right)
    head = [(n, n) for n in range(start)]
    tail = [(len(left) - n, len(right) - n) for n in range(end, 0, -1)]
    return [*head, *((a + start, b + start) for a, b in inner), *tail]


def _unique_common(left: list[Hashable], right: list[Hashable]) -> list[tuple[int, int]]:
    once_left, once_right = Counter(left), Counter(right)
    at = {value: n for n, value in enumerate(right) if once_right[value] == 1}
    return _longest_rise([(n, at[value]) for n, value in enumerate(left) if once_left[value] == 1 and value in at])


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs (given in rising order of the first) whose second rises too."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, (_, value) in enumerate(pairs):
        place = bisect_left(tails, value)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(value)
            ends.append(n)
        else:
            tails[place], ends[place] = value, n
    out: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        out.append(pairs[n])
        n = before[n]
    return out[::-1]


def _rows(left: int, right: int, partner: dict[int, tuple[int, str]], moved: set[int], taken: set[int]) -> list[Pair]:
    rows: list[Pair] = []
    done = 0

    def extras(until: int) -> None:
        nonlocal done
        rows.extend(Pair(None, at) for at in range(done, until) if at not in taken)
        done = max(done, until)

    for at in range(left):
        if at not in partner:
            rows.append(Pair(at, None))
            continue
        other, rule = partner[at]
        if at not in moved:
            extras(other)
        rows.append(Pair(at, other, rule, at in moved))
    extras(right)
    return rows
