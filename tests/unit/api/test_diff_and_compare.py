"""Two runs and where they parted; many runs and what goes with failure."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api import diff as diffing
from otel2traj.api.build import build_path
from otel2traj.api.compare import compare_runs, read_verdicts
from otel2traj.auditors.spectrum import Element, ElementKind, RunElements, rank
from otel2traj.errors import EvidenceError, UsageError
from otel2traj.outcome import EndStatus

ATTEMPTS = Path(__file__).parents[3] / "fixtures" / "attempts"
PARALLEL = ATTEMPTS / "abb-02-parallel-tools" / "attempt"


@pytest.fixture
def run(tmp_path: Path) -> dict[str, Any]:
    target = tmp_path / "built.json"
    build_path(PARALLEL, output=target)
    built: dict[str, Any] = json.loads(target.read_bytes())
    return built


def saved(tmp_path: Path, name: str, run: dict[str, Any]) -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(run))
    return path


def test_equal_runs_say_so_in_any_form(tmp_path: Path, run: dict[str, Any]) -> None:
    found = diffing.diff(PARALLEL, saved(tmp_path, "b.json", run))
    assert found.equal
    assert found.changes == []
    assert "equal: 2 steps did the same and ended the same" in diffing.lines(found)


def test_the_first_divergence_is_named_with_its_lines(tmp_path: Path, run: dict[str, Any]) -> None:
    other = copy.deepcopy(run)
    other["steps"][1]["output"]["text"] = "Something else."
    other["steps"][0]["tool_logs"][0]["outputs"] = "another result"
    found = diffing.diff(saved(tmp_path, "a.json", run), saved(tmp_path, "b.json", other))
    assert not found.equal
    assert [(one.a, one.b, one.verdict) for one in found.changes] == [(1, 1, "different"), (2, 2, "different")]
    (results,) = found.changes[0].changes
    assert results.field == "tool_logs"
    assert any(line.startswith("+") and "another result" in line for line in results.lines)
    assert found.to_json()["first_divergence"]["a_step"] == 1
    assert [one.field for one in found.changes[1].changes] == ["output.text"]
    assert found.changes[1].changes[0].lines[-1] == "+Something else."


def test_a_request_is_compared_from_the_message_where_it_parts(tmp_path: Path, run: dict[str, Any]) -> None:
    other = copy.deepcopy(run)
    other["steps"][1]["input"]["messages"][-1]["content"] = "changed"
    found = diffing.diff(saved(tmp_path, "a.json", run), saved(tmp_path, "b.json", other))
    (change,) = found.changes[0].changes
    at = len(run["steps"][1]["input"]["messages"])
    assert change.field == f"input.messages from {at}"
    assert change.lines[-1].endswith("changed")


def test_a_step_of_one_side_and_another_end_are_told(tmp_path: Path, run: dict[str, Any]) -> None:
    other = copy.deepcopy(run)
    del other["steps"][1]
    other["inputs"][0]["result"] = {"status": "failed", "error": {"type": "ValueError", "message": "no luck"}}
    found = diffing.diff(saved(tmp_path, "a.json", run), saved(tmp_path, "b.json", other))
    assert (found.changes[0].a, found.changes[0].b, found.changes[0].verdict) == (2, None, "missing")
    assert found.ends == ("succeeded", "failed: ValueError: no luck")
    figures = {one.name: (one.a, one.b) for one in found.totals}
    assert figures["steps"] == (2, 1)
    assert figures["input tokens"][0] > figures["input tokens"][1]  # type: ignore[operator]


def test_lines_stay_within_their_columns_and_speak_to_no_terminal(tmp_path: Path, run: dict[str, Any]) -> None:
    other = copy.deepcopy(run)
    other["steps"][1]["output"]["text"] = "\x1b[2J" + "wide " * 100
    found = diffing.diff(saved(tmp_path, "a.json", run), saved(tmp_path, "b.json", other))
    shown = diffing.lines(found, width=60)
    assert all(len(line) <= 60 for line in shown)
    assert "\x1b" not in "".join(shown)
    diffing.page(found, tmp_path / "d.html")
    html = (tmp_path / "d.html").read_text()
    assert "First divergence" in html
    assert "<script" not in html


def test_the_page_is_inert_whatever_was_recorded(tmp_path: Path, run: dict[str, Any]) -> None:
    other = copy.deepcopy(run)
    other["steps"][1]["output"]["text"] = "<script>alert(1)</script><img src=x>"
    diffing.page(diffing.diff(PARALLEL, saved(tmp_path, "b.json", other)), tmp_path / "d.html")
    html = (tmp_path / "d.html").read_text()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def elements(name: str, *names: str, kind: ElementKind = ElementKind.TOOL) -> RunElements:
    return RunElements(name, {Element(kind, one, "a"): at for at, one in enumerate(names, 1)})


def test_formulas_by_hand() -> None:
    failed = [elements("f1", "bad", "both"), elements("f2", "bad", "both"), elements("f3", "both", "rare")]
    passed = [elements("p1", "both", "bad"), elements("p2", "both"), elements("p3", "both"), elements("p4", "both")]
    spectrum = rank(failed, passed)
    assert [one.element.name for one in spectrum.ranked] == ["bad", "rare"]  # what all runs have tells nothing
    bad, rare = spectrum.ranked
    assert (bad.failed_with, bad.passed_with, bad.failed_without, bad.passed_without) == (2, 1, 1, 3)
    assert bad.ochiai == pytest.approx(2 / math.sqrt(3 * 3))
    assert bad.dstar == pytest.approx(4 / (1 + 1))
    assert rare.ochiai == pytest.approx(1 / math.sqrt(3))
    assert (bad.example, rare.example) == (("f1", 1), ("f3", 2))
    assert spectrum.remark is None
    assert list(spectrum.by_agent()) == ["a"]
    assert math.isinf(rank(failed[:2], [elements("p", "both")]).ranked[0].dstar)


def test_too_few_runs_are_said_and_one_side_alone_gives_nothing() -> None:
    assert rank([elements("f", "x")], []).remark == "no passed run: nothing to hold the others against"
    assert rank([], [elements("p", "x")]).ranked == []
    assert "too few" in str(rank([elements("f", "x")], [elements("p", "y")]).remark)


def test_verdicts_come_from_the_file_then_the_globs_then_the_record(tmp_path: Path) -> None:
    recorded = compare_runs([ATTEMPTS])
    assert {run.name for run in recorded.spectrum.failed} >= {"openai-traceloop-wirefail-stream"}
    assert all(run.ended is EndStatus.NOT_RECORDED for run in recorded.undecided)
    assert [name for name, _ in recorded.unread] == ["abb-20c-steps-symlink"]
    verdicts = tmp_path / "v.json"
    verdicts.write_text('{"abb-02-parallel-tools": "failed", "abb-04-streaming": true}')
    told = compare_runs([ATTEMPTS], verdicts=verdicts, failed=["abb-0*"], passed=["*"])
    names = {run.name for run in told.spectrum.failed}
    assert {"abb-02-parallel-tools", "abb-03-tool-error"} <= names
    assert "abb-04-streaming" not in names
    assert told.undecided == []
    verdicts.write_text('{"a": "maybe"}')
    with pytest.raises(UsageError, match="maybe"):
        read_verdicts(verdicts)


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        compare_runs([tmp_path / "nowhere"])
