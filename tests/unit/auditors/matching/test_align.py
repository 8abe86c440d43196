"""Pairs: by identifiers where there are any, else by what was done, else by order; every step once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel2traj.auditors.matching.align import align
from otel2traj.auditors.matching.marks import FIELDS, StepMarks


def mark(n: int, text: str = "", agent: str = "a", kind: str = "model", **ids: str) -> StepMarks:
    return StepMarks(n, kind, agent, ids, {"kind": kind, "agent_name": agent, "output.text": text})


def pairs(left: list[StepMarks], right: list[StepMarks], **options: bool) -> list[tuple[int | None, int | None, str]]:
    return [
        (p.reference, p.candidate, f"{p.rule}{'~' if p.moved else ''}") for p in align(left, right, FIELDS, **options)
    ]


def test_identifiers_before_content() -> None:
    left = [mark(1, "x", call_id="a"), mark(2, "y", call_id="b")]
    right = [mark(1, "y", call_id="a"), mark(2, "x", call_id="b")]
    assert pairs(left, right) == [(0, 0, "call_id"), (1, 1, "call_id")]
    assert pairs(left, right, identifiers=False)[0] != (0, 0, "content")


def test_an_identifier_used_twice_identifies_nothing() -> None:
    left = [mark(1, "x", tool_call_id="call_0"), mark(2, "y", tool_call_id="call_0")]
    right = [mark(1, "y", tool_call_id="call_0")]
    assert pairs(left, right) == [(0, None, "None"), (1, 0, "content")]


def test_a_step_in_between_is_extra_and_the_rest_stays_paired() -> None:
    left = [mark(n, text) for n, text in enumerate("abc", 1)]
    right = [mark(n, text) for n, text in enumerate("azbc", 1)]
    assert pairs(left, right) == [(0, 0, "content"), (None, 1, "None"), (1, 2, "content"), (2, 3, "content")]


def test_what_differs_pairs_by_outline_then_by_order() -> None:
    left = [mark(1, "a", "lead"), mark(2, "b", "coder")]
    right = [mark(1, "c", "lead"), mark(2, "d", "other")]
    assert pairs(left, right) == [(0, 0, "outline"), (1, 1, "order")]


def test_kinds_never_pair_by_order() -> None:
    assert pairs([mark(1)], [mark(1, "t", "b", "tool_only")]) == [(0, None, "None"), (None, 0, "None")]


def test_a_moved_step_keeps_its_partner_and_says_so() -> None:
    left = [mark(n, text, call_id=text) for n, text in enumerate("abc", 1)]
    right = [mark(n, text, call_id=text) for n, text in enumerate("cab", 1)]
    assert pairs(left, right) == [(0, 1, "call_id"), (1, 2, "call_id"), (2, 0, "call_id~")]


def test_long_repetitive_runs_stay_cheap() -> None:
    left = [mark(n, "same") for n in range(4000)]
    right = [mark(n, "same") for n in range(3999)]
    assert sum(c is None for _, c, _ in pairs(left, right)) == 1


STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["model", "tool_only"]), st.sampled_from("pqr")))


@given(left=STEPS, right=STEPS)
def test_every_step_is_in_one_row(left: list[tuple[str, str, str]], right: list[tuple[str, str, str]]) -> None:
    ours = [mark(n, text, "a", kind, call_id=i) for n, (text, kind, i) in enumerate(left)]
    theirs = [mark(n, text, "a", kind, call_id=i) for n, (text, kind, i) in enumerate(right)]
    rows = align(ours, theirs, FIELDS)
    assert [p.reference for p in rows if p.reference is not None] == list(range(len(ours)))
    assert sorted(p.candidate for p in rows if p.candidate is not None) == list(range(len(theirs)))
    if left == right and len({i for _, _, i in left}) == len(left):
        assert all(p.reference == p.candidate for p in rows)
