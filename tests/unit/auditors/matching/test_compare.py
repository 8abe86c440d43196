"""Verdicts, the first divergence and the scores of two runs."""

from __future__ import annotations

import pytest

from otel2traj.auditors.matching.compare import Comparison, Verdict, compare
from otel2traj.auditors.matching.marks import Marks, MarkSink
from otel2traj.auditors.matching.report import comparison_lines
from otel2traj.errors import UsageError
from otel2traj.model.trajectory import SdkInput, Step, StepStatus
from tests.factory import play, step, tool_log, trajectory


def marks(*steps: Step, run_id: str = "run-1") -> Marks:
    sink = MarkSink()
    play(trajectory(*steps, header={"run_id": run_id}), sink)
    return sink.marks


def verdicts(comparison: Comparison) -> list[str]:
    return [str(row.verdict) for row in comparison.rows]


def test_a_run_equals_itself() -> None:
    one = marks(step(1, tool_log()), step(2))
    result = compare(one, one)
    assert result.equal
    assert result.first_divergence is None
    assert result.to_json()["scores"]["step"] == {"matched": 2, "of": 2, "score": 1.0}


def test_tool_call_ids_are_compared_up_to_renaming() -> None:
    def run(call_id: str, run_id: str, told: str | None = None) -> Marks:
        second = step(2)
        second.input["messages"] = [{"role": "tool", "tool_call_id": told or call_id, "content": "found"}]
        return marks(step(1, tool_log(call_id)), second, run_id=run_id)

    assert compare(run("call_x", "one"), run("call_y", "two")).equal
    assert not compare(run("call_x", "one"), run("call_y", "two", told="call_z")).equal


def test_counted_ids_of_two_runs_mean_nothing() -> None:
    left = marks(step(1, evidence={"call_id": "c1"}), step(2, agent_name="b", evidence={"call_id": "c2"}))
    right = marks(step(1, agent_name="b", evidence={"call_id": "c1"}), run_id="run-2")
    assert verdicts(compare(left, right)) == ["missing", "equal"]
    assert verdicts(compare(left, marks(step(1, agent_name="b", evidence={"call_id": "c1"})))) == [
        "different",
        "missing",
    ]


def test_times_usage_and_evidence_say_nothing_of_what_was_done() -> None:
    one, other = step(1), step(1, started_at=None, evidence={"x": 1})
    other.output["usage"] = {"input_tokens": 3}
    assert compare(marks(one), marks(other)).equal


def test_the_first_divergence_names_fields_and_message() -> None:
    changed = step(2, output={"text": "Other.", "tool_calls": [], "finish_reason": "stop"})
    changed.input["messages"] = [{"role": "user", "content": "Do it."}, {"role": "user", "content": "Now."}]
    result = compare(marks(step(1), step(2)), marks(step(1), changed))
    first = result.first_divergence
    assert first is not None
    assert first.reference is not None
    assert (first.reference.step_id, first.fields) == (2, ["input.messages", "output.text"])
    assert first.to_json()["first_differing_message"] == 1
    text = "\n".join(comparison_lines(result))
    assert "first divergence: step 2 / 2 lead: different" in text
    assert "input.messages: from messages[1] on" in text
    assert "candidate: Other." in text


def test_nothing_said_is_not_an_empty_text() -> None:
    one = step(1, output={"text": None, "tool_calls": []})
    other = step(1, output={"text": "", "tool_calls": []})
    assert compare(marks(one), marks(other)).rows[0].fields == ["output.text"]


def test_scores_count_what_is_missing_and_extra() -> None:
    result = compare(marks(step(1), step(2, agent_name="b")), marks(step(1), step(2), step(3)))
    assert (result.agent.matched, result.agent.of) == (1, 2)
    assert result.step.of == 3
    assert result.to_json()["verdicts"][Verdict.EQUAL] == 1
    assert compare(marks(), marks()).to_json()["scores"]["agent"]["score"] is None


def test_fields_can_be_left_out() -> None:
    left, right = marks(step(1)), marks(step(1, model="model-2"))
    assert not compare(left, right).equal
    assert compare(left, right, ["model"]).equal
    rest = compare(left, right, ["model", "input", "output", "run"]).compared
    assert rest == ["kind", "agent_name", "status", "tool_logs", "failures"]
    with pytest.raises(UsageError, match="colour"):
        compare(left, right, ["colour"])


def whole(one: Step, task: str = "Do it.", **item: object) -> Marks:
    sink = MarkSink()
    known = {"prompt": "Do it.", "result": {"status": "succeeded"}, "file_changes": []}
    fields = {**known, **item}
    inputs = [SdkInput("0001", "i", fields["prompt"], [1, 1], fields["result"], fields["file_changes"])]
    play(trajectory(one, header={"metadata": {"task_instruction": task}}, inputs=inputs), sink)
    return sink.marks


def refused(status: int) -> Step:
    return step(1, status=StepStatus.FAILED, output={"http_status": status, "error": {"message": "no"}})


CHANGE = {"path": "a.txt", "change_type": "created", "before": None, "after": "sha256:1", "evidence": {"records": []}}


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (whole(step(1), "Do that."), "run.task"),
        (whole(step(1), prompt="Do that."), "run.inputs"),
        (whole(step(1), result={"status": "failed", "error": {"type": "E", "message": "m"}}), "run.outcome"),
        (whole(step(1), result=None), "run.outcome"),
        (whole(step(1), file_changes=[CHANGE]), "run.file_changes"),
    ],
)
def test_runs_that_differ_as_a_whole_are_not_equal(other: Marks, field: str) -> None:
    result = compare(whole(step(1)), other)
    assert not result.equal
    assert [one.field for one in result.run] == [field]
    assert f"{field} differs" in comparison_lines(result)
    assert compare(whole(step(1)), other, [field]).equal


def test_another_change_of_the_same_file_and_the_same_with_other_bytes_of_evidence() -> None:
    one = whole(step(1), file_changes=[CHANGE])
    assert not compare(one, whole(step(1), file_changes=[{**CHANGE, "after": "sha256:2"}])).equal
    assert compare(one, whole(step(1), file_changes=[{**CHANGE, "evidence": {"records": [1]}}])).equal


def test_one_http_status_is_not_another() -> None:
    result = compare(whole(refused(429)), whole(refused(401)))
    assert not result.equal
    assert result.rows[0].fields == ["failures"]
    assert compare(whole(refused(429)), whole(refused(429))).equal
