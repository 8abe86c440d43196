"""Folding of what earlier steps have shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel2traj.canonical import JsonValue
from otel2traj.renderers.history import Fold, History


def said(text: str) -> JsonValue:
    return {"role": "user", "content": text}


def test_a_growing_conversation_folds_to_the_step_before() -> None:
    history = History()
    talk = [said(f"m{n}") for n in range(1, 7)]
    assert history.fold(talk[:2], 1) == []
    assert history.fold(talk[:4], 2) == [Fold(1, 2, 1, 1)]
    assert history.fold(talk, 3) == [Fold(1, 4, 2, 1)]
    assert history.fold(talk, 4) == [Fold(1, 6, 3, 1)]


def test_a_moved_stretch_says_where_it_stood() -> None:
    history = History()
    long = [said("x" * 200), said("y" * 200)]
    history.fold([said("a"), *long], 1)
    assert history.fold([said("b"), *long, said("c")], 2) == [Fold(2, 3, 1, 2)]


def test_a_short_repeated_message_is_shown_again() -> None:
    history = History()
    history.fold([said("a"), said("go on")], 1)
    assert history.fold([said("b"), said("go on")], 2) == []


def test_same_as_names_the_first_step() -> None:
    history = History()
    assert history.same_as("system", "be kind", 1) is None
    assert history.same_as("system", "be kind", 2) == 1
    assert history.same_as("tools", "be kind", 3) is None


@given(st.lists(st.lists(st.integers(0, 3).map(lambda n: "z" * 200 * n), max_size=8), max_size=6))
def test_folded_messages_really_stand_there(conversations: list[list[str]]) -> None:
    history = History()
    steps: list[list[JsonValue]] = [[said(text) for text in talk] for talk in conversations]
    for number, messages in enumerate(steps, 1):
        before = 0
        for fold in history.fold(messages, number):
            assert before < fold.first <= fold.last <= len(messages)
            assert fold.step_id < number
            there = steps[fold.step_id - 1][fold.at - 1 : fold.at + fold.last - fold.first]
            assert there == messages[fold.first - 1 : fold.last]
            before = fold.last
