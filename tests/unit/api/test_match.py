"""`match` on files: which of its comparisons a pair of paths means, and what the command exits with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from otel2traj.api.match import match
from otel2traj.canonical import dumps, dumps_pretty, loads
from otel2traj.cli.match import register
from otel2traj.errors import EvidenceError, UsageError
from otel2traj.model.trajectory import Step, Trajectory
from otel2traj.writers import WRITERS
from tests.factory import play, step, trajectory


def save(file: Path, what: Trajectory, writer: str = "trajectory") -> Path:
    with file.open("wb") as out:
        play(what, WRITERS.get(writer).sink(out))
    return file


def run(*steps: Step, case_id: str = "q1") -> Trajectory:
    return trajectory(*steps, header={"case_id": case_id})


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "who"
    folder.mkdir()
    for task, mistake in (("q1", "1"), ("q2", "0")):
        history = [{"role": "x", "name": "lead", "content": "A"}, {"role": "x", "name": "coder", "content": "B"}]
        data = {"question_ID": task, "history": history, "mistake_agent": ["lead", "coder"][int(mistake)]}
        (folder / f"{task}.json").write_bytes(dumps({**data, "mistake_step": mistake}))
    return folder


def said(step_id: int, agent: str, text: str) -> Step:
    return step(step_id, agent_name=agent, output={"text": text, "tool_calls": []})


def test_two_runs(tmp_path: Path) -> None:
    one = save(tmp_path / "a.json", run(step(1)))
    assert match(one, one).equal
    other = save(tmp_path / "b.json", run(step(1, model="model-2")))
    assert match(one, other).to_json()["first_divergence"]["reference_step"] == 1


def test_a_run_and_its_label(tmp_path: Path, labels: Path) -> None:
    result = match(labels, save(tmp_path / "a.json", run(said(1, "lead", "A"), said(2, "coder", "B"))))
    assert result.equal
    assert result.label is not None
    assert (result.label.candidate_step, result.label.agent_matches) == (2, True)
    assert result.comparison is not None
    assert result.comparison.compared == ["agent_name", "output.text"]
    assert result.lines()[-1] == "label: coder at step 2 -> step 2, the same agent"


def test_a_label_follows_its_step_past_an_extra_one(tmp_path: Path, labels: Path) -> None:
    steps = (said(1, "lead", "A"), said(2, "lead", "Z"), said(3, "coder", "B"))
    result = match(labels / "q1.json", save(tmp_path / "a.json", run(*steps)))
    assert not result.equal
    assert result.to_json()["label"]["candidate_step"] == 3


def test_labels_without_steps_point_by_number(tmp_path: Path) -> None:
    folder = tmp_path / "task-7"
    folder.mkdir()
    (folder / "trace_metadata.json").write_bytes(dumps({"mistake_agent": "Coder", "mistake_step": 2}))
    saved = save(tmp_path / "a.json", run(said(1, "lead", "A"), said(2, "coder", "B")))
    assert match(folder, saved).equal
    assert match(tmp_path, saved).equal
    assert not match(folder, save(tmp_path / "b.json", run(said(1, "lead", "A")))).equal


def test_what_an_export_wrote_can_be_labelled_and_matched(tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    what = run(said(1, "lead", "A"), said(2, "coder", "B"))
    save(folder / "step_records.json", what, "traceelephant-steps")
    metadata: Any = loads(save(folder / "trace_metadata.json", what, "traceelephant-metadata").read_bytes())
    metadata |= {"mistake_agent": "coder", "mistake_step": 2}
    (folder / "trace_metadata.json").write_bytes(dumps(metadata))
    result = match(folder, save(tmp_path / "a.json", what))
    assert result.equal
    assert result.comparison is not None
    assert "output.text" in result.comparison.compared


def test_predictions(tmp_path: Path, labels: Path) -> None:
    lines = [{"task_id": "q1", "predicted_agent": "coder", "predicted_step": 1}]
    lines += [{"task_id": "q2", "predicted_agent": "lead", "predicted_step": "10"}]
    file = tmp_path / "p.jsonl"
    file.write_bytes(b"\n".join(dumps(line) for line in lines) + b"\n")
    result = match(labels, file)
    assert result.attribution is not None
    scores = result.attribution.to_json()["scores"]
    assert (scores["agent"]["matched"], scores["step"]["matched"]) == (2, 1)
    assert not result.equal
    with pytest.raises(UsageError, match="need labels"):
        match(save(tmp_path / "a.json", run(step(1))), file)
    file.write_bytes(file.read_bytes() + b"{cut")
    with pytest.raises(EvidenceError, match="line 3"):
        match(labels, file)


def test_the_command_exits_by_the_verdict(tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    one = save(tmp_path / "a.json", run(step(1)))
    other = save(tmp_path / "b.json", run(step(1), step(2)))
    runner = CliRunner()
    same = runner.invoke(app, ["match", str(one), str(one)])
    assert (same.exit_code, same.stdout.splitlines()[-1]) == (0, "equal")
    different = runner.invoke(app, ["match", str(one), str(other), "--json"])
    assert different.exit_code == 1
    assert loads(different.stdout)["verdicts"]["extra"] == 1  # type: ignore[call-overload,index]


@pytest.mark.parametrize(
    ("name", "reference", "candidate"),
    [
        ("good-bad", "good.json", "bad.json"),
        ("bad-bad", "bad.json", "bad.json"),
        ("labels-bad", "labels", "bad.json"),
        ("labels-predictions", "labels", "predictions.jsonl"),
    ],
)
def test_golden(
    name: str, reference: str, candidate: str, fixtures: Path, golden: Callable[[Path, bytes], None]
) -> None:
    folder = fixtures / "matching"
    result = match(folder / reference, folder / candidate)
    golden(folder / "expected" / f"{name}.txt", "\n".join([*result.lines(), ""]).encode())
    golden(folder / "expected" / f"{name}.json", dumps_pretty(result.to_json()) + b"\n")
