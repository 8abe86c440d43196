"""AERs that other adapters wrote, and AERs of runs of any shape: valid ones have no finding, broken ones do."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable
from typing import Any

import pytest

from otel2traj.canonical import JsonObject, canonical_bytes, loads
from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import SdkInput, StepKind, ToolLog, Trajectory
from otel2traj.prov.aer import AerProjector
from otel2traj.prov.engine import derive_prov
from otel2traj.prov.records import seal_digest
from otel2traj.prov.validate import validate, validate_aer
from tests.factory import not_observed, play, step, tool_log, trajectory
from tests.unit.prov.made import rich_aer

KINDS = ("actor", "scope", "message", "model_call", "tool_execution", "decision", "state_change", "fixture")
REASONS = ("not_recorded", "lost", "overwritten", "withheld", "ambiguous", "not_captured", "not_applicable")
Records = list[JsonObject]


def of_others(seed: int) -> Records:
    """Records as the contract has them, in fields of somebody else's."""
    draw = random.Random(seed)
    records: Records = [{"id": "ex", "kind": "execution", "class": "D", "by": "benchmark", "rule": "other.run@2"}]
    records[0]["adapter"] = {"name": "agentdojo-upstream", "version": "2.0.0"}
    if draw.random() < 0.7:
        records[0] |= {"schema": draw.choice(["aer/0.2", "aer/0.1"]), "execution": "ex_" + "a2b3" * 6 + "c4"}
    for number in range(draw.randrange(1, 25)):
        evidence = draw.choice("ODI")
        record: JsonObject = {"id": f"r-{number}", "kind": draw.choice(KINDS), "class": evidence, "by": "source"}
        if evidence != "O":
            record["rule"] = f"other.suites.rule_{number}@{draw.randrange(9)}"
        if draw.random() < 0.5:
            record["unknown"] = {"started": draw.choice(REASONS)}
        if draw.random() < 0.5:
            record["after"] = [f"r-{draw.randrange(number)}" for _ in range(draw.randrange(3)) if number]
        if draw.random() < 0.3:
            record["raw"] = {"object": "0" * 64, "pointer": f"/steps/{number}"}
        records.append(record)
    return records


def sealed(records: Records, **seal: Any) -> list[bytes]:
    lines = [canonical_bytes(record) + b"\n" for record in records]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    last = {"id": "seal", "kind": "seal", "records": len(lines), "digest": f"sha256:{digest}", "issues": [], **seal}
    return [*lines, canonical_bytes(last) + b"\n"]


@pytest.mark.parametrize("seed", range(60))
def test_a_valid_record_of_another_adapter_has_no_finding(seed: int) -> None:
    lines = sealed(of_others(seed))
    assert validate_aer(lines) == []
    results = {one.tier: one for one in validate(aer=lines)}
    assert results["1"].status == "passed"
    assert "another adapter" in results["1"].remarks[0]
    assert [one.tier for one in results.values() if one.status == "failed"] == []


BREAKS: dict[str, tuple[Callable[[Records], object], str]] = {
    "kind": (lambda records: records[1].update(kind="thing"), "aer.kind"),
    "id": (lambda records: records[1].update(id="ex"), "aer.id"),
    "class": (lambda records: records[1].update({"class": "X"}), "aer.class"),
    "rule": (lambda records: records[1].update({"class": "D", "rule": "somehow"}), "aer.rule"),
    "reason": (lambda records: records[1].update(unknown={"ended": "forgotten"}), "aer.unknown"),
    "nobody": (lambda records: records[1].update(after=["nobody"]), "aer.reference"),
    "itself": (lambda records: records[1].update(after=[records[1]["id"]]), "aer.after"),
    "schema": (lambda records: records[0].update(schema="aer/9.9"), "aer.first"),
    "name": (lambda records: records[0].update(execution="ex_1"), "aer.identity"),
    "second": (lambda records: records[1].update(kind="execution"), "aer.first"),
    "ours": (lambda records: records[1].update({"class": "D", "rule": "otel2traj.agent_name@1"}), "aer.rule"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_record_of_another_adapter_is_found(what: str) -> None:
    records = of_others(3)
    BREAKS[what][0](records)
    assert BREAKS[what][1] in {one.rule for one in validate_aer(sealed(records))}


def test_the_seal_of_another_adapter_covers_what_is_before_it() -> None:
    lines = sealed(of_others(4))
    assert "aer.seal" in {one.rule for one in validate_aer([lines[0], *lines[2:]])}
    assert "aer.seal" in {one.rule for one in validate_aer(lines[:-1])}
    assert "aer.seal" in {one.rule for one in validate_aer(sealed(of_others(4), digest=None))}


def of_version(version: str | None, *, own_digest: bool) -> list[bytes]:
    """The rich AER as another version of this adapter would have written it."""
    records = [loads(line) for line in rich_aer()]
    assert all(isinstance(record, dict) for record in records)
    records[0]["adapter"]["version"] = version  # type: ignore[index,call-overload]
    lines = [canonical_bytes(record) + b"\n" for record in records[:-1]]
    seal: JsonObject = {key: value for key, value in records[-1].items() if key != "seal_digest"}  # type: ignore[union-attr]
    seal["digest"] = "sha256:" + hashlib.sha256(b"".join(lines)).hexdigest()
    if own_digest:
        seal["seal_digest"] = seal_digest(seal)
    return [*lines, canonical_bytes(seal) + b"\n"]


@pytest.mark.parametrize(
    ("version", "own_digest", "good"),
    [
        ("1.0.0", False, True),
        ("1.0.0", True, True),
        ("1.1.0", False, False),
        ("9.0.0", True, True),
        ("x", False, False),
    ],
)
def test_the_seals_own_digest_is_asked_of_versions_that_write_one(version: str, own_digest: bool, good: bool) -> None:
    assert (validate_aer(of_version(version, own_digest=own_digest)) == []) == good


def ambiguous(call_id: str) -> ToolLog:
    """A call with two executions that may be its own."""
    names = [hashlib.sha256(f"{call_id}{number}".encode()).hexdigest()[:24] for number in range(2)]
    return not_observed(
        call_id, link=LinkStatus.AMBIGUOUS, evidence={"candidates": [{"interaction_id": one} for one in names]}
    )


def any_run(seed: int) -> Trajectory:
    """A run of a framework that nobody has seen: steps in and out of Inputs, executions alone, nothing at all."""
    draw = random.Random(seed)
    inputs = [f"{number:04d}" for number in range(1, draw.randrange(1, 4))]
    steps, ranges = [], dict[str, list[int]]()
    for number in range(1, draw.randrange(1, 9)):
        ordinal = draw.choice([*inputs, None])
        agent = draw.choice(["lead", "lead/helper", "größe", None])
        if draw.random() < 0.3:
            call_id = draw.choice([None, f"alone{number}"])
            log = tool_log(call_id, link=LinkStatus.NONE, outputs=draw.choice(["x" * 20, None]))
            log.execution_status = draw.choice([ExecutionStatus.SUCCEEDED, ExecutionStatus.ERROR])
            one = step(number, log, kind=StepKind.TOOL_ONLY, input={}, output={})
        else:
            calls = [f"c{number}-{call}" for call in range(draw.randrange(3))]
            logs = [draw.choice([tool_log, not_observed, ambiguous])(call) for call in calls]
            told = [{"id": call, "name": draw.choice(["search", ""]), "arguments": {"q": "x"}} for call in calls]
            output = {
                "text": draw.choice([None, "Said."]),
                "tool_calls": told,
                "finish_reason": draw.choice([None, "stop"]),
            }
            history = [{"role": "user", "content": f"m{n}"} for n in range(draw.randrange(4))]
            one = step(number, *logs, output=output, input=draw.choice([{}, {"messages": history}]))
        one.input_ordinal, one.agent_name = ordinal, agent
        one.started_at = draw.choice([one.started_at, None])
        steps.append(one)
        if ordinal is not None:
            ranges[ordinal] = [ranges.get(ordinal, [number])[0], number]
    told_inputs = [
        SdkInput(one, draw.choice([None, "in"]), draw.choice([None, "Do."]), ranges.get(one), None, [])
        for one in inputs
    ]
    run = trajectory(*steps)
    run.summary.inputs = told_inputs if draw.random() < 0.7 else []
    return run


@pytest.mark.parametrize("seed", range(120))
def test_a_run_of_any_shape_has_no_finding(seed: int) -> None:
    out = io.BytesIO()
    play(any_run(seed), AerProjector(out, "local", "attempt"))
    aer = out.getvalue().splitlines(keepends=True)
    assert validate_aer(aer) == []
    results = validate(prov=derive_prov(iter(aer)), aer=aer, roundtrip=False)
    assert {one.tier: [str(found) for found in one.findings] for one in results if one.status == "failed"} == {}
