"""Attribution: recorded failures first, then signs; each sign fires on what it says and on nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.api.attribute import attribute_run, read_history
from otel2traj.auditors.attribution import ORCHESTRATED, SIGNS, TEAM, attribute, turns_of_history
from otel2traj.auditors.attribution.signs import Run
from otel2traj.canonical import JsonObject, dumps
from otel2traj.errors import EvidenceError
from otel2traj.outcome import Failure, FailureKind

ATTEMPTS = Path(__file__).parents[3] / "fixtures" / "attempts"
TEAM_RUN: list[JsonObject] = [
    {"name": "Planner", "role": "assistant", "content": "You are given a task: how many bars are open?"},
    {"name": "Coder", "role": "assistant", "content": "We assume mock data.\n```python\nprint(41)\n```"},
    {"name": "Computer_terminal", "role": "user", "content": "exitcode: 1 (execution failed)\nCode output: Traceback"},
    {"name": "Coder", "role": "assistant", "content": "The count is 41."},
    {"name": "Verifier", "role": "assistant", "content": "I have verified it: 41."},
    {"name": "Verifier", "role": "user", "content": "TERMINATE"},
]
ORCHESTRATED_RUN: list[JsonObject] = [
    {"role": "human", "content": "Which bar is open?"},
    {"role": "Orchestrator (thought)", "content": "Initial plan: search."},
    {"role": "Orchestrator (-> WebSurfer)", "content": "Search for bars."},
    {"role": "WebSurfer", "content": "I typed 'bars' into the search bar. Error 404."},
    {"role": "Orchestrator (thought)", "content": "Updated Ledger: {}"},
    {"role": "WebSurfer", "content": "I clicked The Bell, open until 23."},
    {"role": "Orchestrator (termination)", "content": "FINAL ANSWER: 23"},
]


def fires(history: list[JsonObject], sign: str) -> list[int]:
    run = Run(turns_of_history(history))
    return [number for number in range(len(history)) if SIGNS[sign][1](run, number)]


@pytest.mark.parametrize(
    ("sign", "where"),
    [
        ("ran", [2]),
        ("opening", [0]),
        ("second", [1]),
        ("first_words", [0, 1, 2, 4]),
        ("answer_value", [1]),
        ("no_output", []),
        ("run_failed", [1]),
        ("made_up", [1]),
        ("code", [1]),
        ("reacts", [3]),
        ("only_ends", [5]),
        ("answers", [4]),
        ("verifies", [4]),
        ("late", [3, 4, 5]),
        ("runs_follow", [0, 1]),
    ],
)
def test_signs_of_a_team(sign: str, where: list[int]) -> None:
    assert fires(TEAM_RUN, sign) == where


@pytest.mark.parametrize(
    ("sign", "where"),
    [
        ("act", [3, 5]),
        ("act_1", [3]),
        ("act_2", [5]),
        ("act_3", []),
        ("last_act", [5]),
        ("searches", [2, 3]),
        ("last_value", [5]),
        ("meets_error", [3]),
        ("final", [6]),
        ("thought", [1, 4]),
    ],
)
def test_signs_of_an_orchestrated_run(sign: str, where: list[int]) -> None:
    assert fires(ORCHESTRATED_RUN, sign) == where


def test_every_sign_is_weighed_and_every_weight_has_a_sign() -> None:
    assert set(TEAM.weights) | set(ORCHESTRATED.weights) == set(SIGNS)
    for table in (TEAM, ORCHESTRATED):
        assert all(0 < one < 1 for one in table.precision)


def test_candidates_are_turns_of_agents_with_what_speaks_for_them() -> None:
    first, *others = attribute(turns_of_history(TEAM_RUN))
    assert (first.agent, first.step) == ("Coder", 1)
    assert first.confidence == TEAM.precision[0]
    assert "what it ran failed" in first.evidence
    assert 2 not in [one.step for one in others]  # what a terminal printed decided nothing
    best = attribute(turns_of_history(ORCHESTRATED_RUN))[0]
    assert (best.agent, best.rule) == ("WebSurfer", "signs_orchestrated")


def test_a_recorded_failure_that_nobody_recovered_from_comes_first() -> None:
    gone = Failure(FailureKind.TOOL, "KeyError", "x", step_id=3, agent="Coder", recovered=False)
    went_on = Failure(FailureKind.PROVIDER, "429", "slow down", step_id=4, agent="Verifier", recovered=True)
    first, *_ = attribute(turns_of_history(TEAM_RUN), [gone, went_on])
    assert (first.step, first.rule, first.confidence) == (3, "recorded_failure", None)
    assert first.evidence == ("tool error: KeyError: x",)


def test_nothing_is_named_of_nothing() -> None:
    assert attribute([]) == []
    assert attribute(turns_of_history([{"name": "Computer_terminal", "content": "exitcode: 0"}])) == []


def test_a_file_of_that_form_is_a_run_and_other_files_are_not(tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    file.write_bytes(dumps({"history": TEAM_RUN, "mistake_agent": "Coder", "mistake_step": "1"}))
    found = attribute_run(file)
    assert (found.candidates[0].step, found.measured) == (1, True)
    file.write_bytes(dumps({"history": "no list"}))
    assert read_history(file) is None
    with pytest.raises(EvidenceError):
        attribute_run(file)


def test_a_run_recorded_as_succeeded_has_no_candidate_and_says_why() -> None:
    found = attribute_run(ATTEMPTS / "abb-02-parallel-tools" / "attempt")
    assert found.candidates == []
    assert found.unknown == "the run is recorded as succeeded"


def test_an_attempt_without_an_end_is_attributed_without_a_claim_of_precision() -> None:
    found = attribute_run(ATTEMPTS / "abb-15e-missing-response" / "attempt")
    assert all(one.confidence is None for one in found.candidates)
