"""Labels and predictions: step bases, names, and the containment flaw that is not copied."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.auditors.matching.labels import Case, agent_key, choose, one_number, trace_elephant, who_and_when
from otel2traj.auditors.matching.marks import Marks
from otel2traj.auditors.matching.predictions import judge
from otel2traj.auditors.matching.report import attribution_lines
from otel2traj.errors import UsageError

GENERATED = {
    "question_ID": "q1",
    "history": [
        {"role": "user", "name": "Boss", "content": "Go."},
        {"role": "user", "name": "Coder", "content": "1 + 1 = 3"},
    ],
    "mistake_agent": "Coder",
    "mistake_step": "1",
}


def test_who_and_when_counts_from_zero() -> None:
    case = who_and_when(GENERATED, "file")
    assert (case.task_id, case.agent, case.step, case.base) == ("q1", "Coder", 2, 0)
    assert case.steps is not None
    labelled = case.steps.steps[1]
    assert (labelled.step_id, labelled.agent_name) == (2, "Coder")


def test_hand_crafted_names_stand_in_the_role() -> None:
    data: dict[str, Any] = {
        "history": [{"role": "Orchestrator (-> WebSurfer)", "content": "Look."}],
        "mistake_agent": "Orchestrator",
        "mistake_step": "0",
    }
    case = who_and_when(data, "12")
    assert (case.task_id, case.step) == ("12", 1)
    assert case.steps is not None
    assert agent_key(str(case.steps.steps[0].agent_name)) == agent_key(str(case.agent))


def test_trace_elephant_counts_from_one() -> None:
    completion = (
        '{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}'
    )
    records = [{"agent_name": "lead", "input": {"messages": []}, "output": completion}]
    case = trace_elephant({"mistake_agent": "lead", "mistake_step": 1}, records, "task-7")
    assert (case.task_id, case.step, case.base) == ("task-7", 1, 1)
    assert case.steps is not None
    assert "output.text" in case.steps.recorded
    assert "output.tool_calls" in case.steps.steps[0].digests


def test_an_output_that_is_no_json_is_not_compared() -> None:
    case = trace_elephant({"mistake_step": 1}, [{"agent_name": "a", "output": "ChatCompletion(id='x')"}], "t")
    assert case.steps is not None
    assert "output.text" not in case.steps.recorded


@pytest.mark.parametrize(
    ("said", "number"),
    [
        *((12, 12), ("12", 12), (" Step 12. ", 12), (12.0, 12), ("-1", -1)),
        *(("1 or 12", None), ("", None), (None, None), (True, None), ("12.5", None), (1.5, None)),
    ],
)
def test_one_number(said: Any, number: int | None) -> None:
    assert one_number(said) == number


def case(task: str, agent: str | None = "Coder", step: int | None = 12, base: int = 1) -> Case:
    return Case(task, "trace_elephant", base, agent, step, None)


def scored(*predictions: dict[str, Any], cases: list[Case] | None = None, base: int | None = None) -> dict[str, Any]:
    return judge(cases or [case("t")], list(predictions), base).to_json()


def prediction(agent: Any = "Coder", step: Any = 12, task: str = "t") -> dict[str, Any]:
    return {"task_id": task, "predicted_agent": agent, "predicted_step": step}


def test_a_right_prediction() -> None:
    result = scored(prediction("coder ", "Step 12"))
    assert result["equal"]
    assert result["scores"]["both"] == {"matched": 1, "of": 1, "score": 1.0}


def test_one_does_not_match_twelve() -> None:
    result = scored(prediction("Coder", "12"), cases=[case("t", step=1)])
    assert result["scores"]["step"]["matched"] == 0
    assert result["contained_only"] == 1
    several = scored(prediction("Coder or Boss", "1, 2 or 12"), cases=[case("t", step=1)])
    assert several["scores"]["agent"]["matched"] == several["scores"]["step"]["matched"] == 0
    assert several["tasks"][0]["remark"] == "step_unreadable"


def test_predictions_count_as_their_data_set_unless_told() -> None:
    zero = [case("t", step=12, base=0)]
    assert scored(prediction(step=11), cases=zero)["equal"]
    assert not scored(prediction(step=12), cases=zero)["equal"]
    assert scored(prediction(step=12), cases=zero, base=1)["equal"]


def test_what_is_not_predicted_is_wrong_and_what_is_not_labelled_is_told() -> None:
    result = scored(
        prediction(task="other"), prediction(), prediction(step=3), cases=[case("t"), case("u"), case("v", None)]
    )
    assert [row.get("remark") for row in result["tasks"]] == ["several_predictions", "no_prediction", "label_open"]
    assert result["unknown_tasks"] == ["other"]
    assert result["scores"]["agent"] == {"matched": 0, "of": 2, "score": 0.0}
    assert not result["equal"]


def test_lines_say_the_same() -> None:
    lines = attribution_lines(judge([case("t", step=1)], [prediction(step="12")]))
    assert lines[0].startswith("t: agent right, step wrong: label Coder at step 1, predicted Coder at step 12")
    assert lines[-1] == "1 wrong prediction would count as right by containment"


def test_choosing_a_case() -> None:
    cases = [case("a"), case("b")]
    assert choose(cases, "b", Marks()).task_id == "b"
    assert choose(cases, None, Marks(case_id="a")).task_id == "a"
    assert choose(cases[:1], None, Marks()).task_id == "a"
    with pytest.raises(UsageError) as caught:
        choose(cases, None, Marks())
    assert "--task (a, b)" in str(caught.value.hint)


_KEYS = (
    "history mistake_step mistake_agent content role name agent_name input output choices message tool_calls "
    "function arguments question_ID messages"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS.split()),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(data=JSON, records=JSON)
def test_no_shape_raises(data: Any, records: Any) -> None:
    if isinstance(data, dict):
        judge([who_and_when(data, "a"), trace_elephant(data, records, "b")], [data])
