"""Attribution predictions against labels. A prediction is right when it names the labelled agent and the labelled step,
whole: being contained in the prediction, as the data sets' own scorers count it, is not enough ("1" in "12")."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ...canonical import JsonObject, JsonValue
from .compare import Score
from .labels import Case, agent_key, one_number


class Remark(StrEnum):
    NO_PREDICTION = "no_prediction"
    SEVERAL = "several_predictions"
    UNREADABLE = "step_unreadable"
    NO_LABEL = "label_open"


@dataclass(slots=True)
class Judged:
    """One labelled task. `step` and `predicted_step` count from 1."""

    task_id: str
    agent: str | None
    step: int | None
    predicted_agent: str | None = None
    predicted_step: int | None = None
    agent_right: bool = False
    step_right: bool = False
    contained: bool = False
    """Wrong, and yet a scorer that only looks for containment would count agent or step as right."""
    remark: Remark | None = None

    def to_json(self) -> JsonObject:
        out: JsonObject = {
            "task_id": self.task_id,
            "agent": self.agent,
            "step": self.step,
            "predicted_agent": self.predicted_agent,
            "predicted_step": self.predicted_step,
            "agent_right": self.agent_right,
            "step_right": self.step_right,
            "contained_only": self.contained,
        }
        if self.remark is not None:
            out["remark"] = self.remark
        return out


@dataclass(slots=True)
class Attribution:
    rows: list[Judged]
    unknown: list[str] = field(default_factory=list)
    """Task ids that are predicted and not labelled."""

    @property
    def equal(self) -> bool:
        return not self.unknown and all(row.agent_right and row.step_right for row in self._labelled())

    def _labelled(self) -> list[Judged]:
        return [row for row in self.rows if row.remark is not Remark.NO_LABEL]

    def to_json(self) -> JsonObject:
        rows = self._labelled()
        return {
            "equal": self.equal,
            "scores": {
                "agent": Score(sum(row.agent_right for row in rows), len(rows)).to_json(),
                "step": Score(sum(row.step_right for row in rows), len(rows)).to_json(),
                "both": Score(sum(row.agent_right and row.step_right for row in rows), len(rows)).to_json(),
            },
            "contained_only": sum(row.contained for row in rows),
            "predicted": sum(row.remark not in (Remark.NO_PREDICTION, Remark.NO_LABEL) for row in self.rows),
            "unknown_tasks": self.unknown,
            "tasks": [row.to_json() for row in self.rows],
        }


def judge(cases: list[Case], predictions: list[JsonObject], base: int | None = None) -> Attribution:
    """Each labelled task once. `base` says how the predictions count steps; None: as their data set does.

    Several predictions for one task are none: which one counts is not said, so the task is wrong.
    """
    given: dict[str, list[JsonObject]] = {}
    for prediction in predictions:
        given.setdefault(str(prediction.get("task_id")), []).append(prediction)
    rows = [_judged(case, given.get(case.task_id, []), base) for case in cases]
    known = {case.task_id for case in cases}
    return Attribution(rows, [task for task in given if task not in known])


def _judged(case: Case, found: list[JsonObject], base: int | None) -> Judged:
    row = Judged(case.task_id, case.agent, case.step)
    if case.agent is None or case.step is None:
        row.remark = Remark.NO_LABEL
        return row
    if len(found) != 1:
        row.remark = Remark.SEVERAL if found else Remark.NO_PREDICTION
        return row
    agent, step = found[0].get("predicted_agent"), found[0].get("predicted_step")
    counted_from = case.base if base is None else base
    number = one_number(step)
    row.predicted_agent = agent if isinstance(agent, str) else None
    row.predicted_step = None if number is None else number + 1 - counted_from
    row.agent_right = row.predicted_agent is not None and agent_key(row.predicted_agent) == agent_key(case.agent)
    row.step_right = row.predicted_step == case.step
    if number is None:
        row.remark = Remark.UNREADABLE
    gold = str(case.step - 1 + counted_from)
    loose_agent = case.agent.casefold() in _text(agent)
    row.contained = (not row.agent_right and loose_agent) or (not row.step_right and gold in _text(step))
    return row


def _text(value: JsonValue) -> str:
    return "" if value is None else str(value).casefold()
