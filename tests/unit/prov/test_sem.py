"""What the profiles say, and that they say no more than they may."""

from __future__ import annotations

import pytest

from otel2traj.canonical import JsonObject, loads
from otel2traj.errors import EvidenceError, UsageError
from otel2traj.prov.sem import derive_sem, reports_result, role_of
from otel2traj.prov.validate import AerIndex, validate_sem
from tests.factory import step, tool_log, trajectory

from .made import aer, records, rich_aer


def notes(profile: str, lines: list[bytes] | tuple[bytes, ...] | None = None) -> list[JsonObject]:
    found = [loads(line) for line in derive_sem(rich_aer() if lines is None else lines, profile)]
    return [one for one in found if isinstance(one, dict) and one["kind"] == "annotation"]


def said(profile: str, kind: str) -> dict[str, object]:
    return {one["target"]: one["value"] for one in notes(profile) if one["type"] == kind}


def test_roles_are_one_closed_list() -> None:
    found = said("default", "role")
    roles = {records(rich_aer())[target]["role"]: value for target, value in found.items()}
    assert roles == {
        "system": "system",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
        "agent": "agent",
        "model": "model",
        "harness": "harness",
    }
    assert role_of({"role": "developer"}) == "system"
    assert role_of({"type": "function_call_output"}) == "tool"
    assert role_of({"role": 7}) == "other"


def test_outcomes_say_what_is_not_known() -> None:
    found = said("default", "outcome")
    call = records(rich_aer())["te0"]["call"]
    message = call.partition("-")[0]
    assert found["te0"] == {"outcome": "succeeded"}
    assert found[f"{message}-1"] == {"outcome": "unknown", "reason": "ambiguous"}
    assert found[f"{message}-2"] == {"outcome": "unknown", "reason": "not_recorded"}
    assert found["s0001"] == {"outcome": "judged", "verdict": "pass"}


def test_an_exit_code_outweighs_a_cheerful_status() -> None:
    lines = aer(trajectory(step(1, tool_log(exit_status={"exitCode": 2, "signal": None}))))
    found = {one["target"]: one["value"] for one in notes("default", lines) if one["type"] == "outcome"}
    assert found["te0"] == {"outcome": "failed"}


def test_content_from_tools_is_external() -> None:
    found = said("injection", "integrity")
    by_value: dict[object, set[str]] = {}
    for target, value in found.items():
        record = records(rich_aer())[target]
        by_value.setdefault(value, set()).add(str(record.get("role")))
    assert by_value == {
        "operator": {"system"},
        "user": {"user"},
        "model": {"assistant"},
        "external": {"tool", "tool_result"},
    }
    assert reports_result({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]})
    assert reports_result({"role": "user", "parts": [{"functionResponse": {}}]})
    assert not reports_result({"role": "user", "content": "tool_result"})


def test_declared_injections_are_marked_where_they_show_up() -> None:
    found = said("injection", "marker")
    assert set(found.values().__iter__().__next__().items()) == {("injection", "evil")}  # type: ignore[attr-defined]
    kinds = sorted(records(rich_aer())[target]["kind"] for target in found)
    assert kinds == ["generic_artefact", "message"]
    assert notes("injection", aer(fixtures=())) == [
        {**one, "id": f"an{number}"}
        for number, one in enumerate(one for one in notes("injection") if one["type"] != "marker")
    ]


def test_exposure_and_taint_are_claims_with_their_class() -> None:
    calls = tool_log("c2", evidence={"said_by": {"tool_call_id": "acp"}})
    history = [{"role": "tool", "tool_call_id": "c1", "content": "found"}]
    lines = aer(trajectory(step(1, calls, input={"messages": history})))
    found = {one["type"]: one for one in notes("injection", lines)}
    assert found["exposure"]["class"] == "D"
    assert (found["taint"]["target"], found["taint"]["class"]) == ("te0", "I")
    assert found["taint"]["value"] == {"exposed": "mc0"}


def test_the_class_is_the_weakest_of_what_it_rests_on() -> None:
    log = tool_log("c2", evidence={"said_by": {"tool_call_id": "somebodys_fork"}})
    lines = aer(trajectory(step(1, log)))
    sem = list(derive_sem(lines, "default"))
    assert validate_sem(sem, AerIndex(lines)) == []


@pytest.mark.parametrize("profile", ["default", "injection"])
def test_every_profile_is_valid_and_the_same_twice(profile: str) -> None:
    one = list(derive_sem(rich_aer(), profile))
    assert one == list(derive_sem(rich_aer(), profile))
    assert validate_sem(one, AerIndex(rich_aer())) == []


def test_unknown_profiles_and_broken_lines_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown semantics profile"):
        list(derive_sem(rich_aer(), "nonsense"))
    with pytest.raises(EvidenceError, match="line 1"):
        list(derive_sem([b"{"], "default"))
    with pytest.raises(EvidenceError, match="line 1"):
        list(derive_sem([b"[]\n"], "default"))
