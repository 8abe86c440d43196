"""An export from a saved trajectory: whole files or none, reports beside them, and a round trip through OTLP."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from otel2traj.api.export import export, names, reference_page
from otel2traj.api.source import load
from otel2traj.canonical import loads
from otel2traj.errors import UsageError
from otel2traj.model.link import LinkStatus
from otel2traj.model.trajectory import Trajectory
from otel2traj.writers import WRITERS
from tests.factory import play, step, tool_log, trajectory
from tests.unit.writers.run import TOOLS, rich, written

ROOT = Path(__file__).parents[3]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "trajectory.json"
    with file.open("wb") as out:
        play(rich(), WRITERS.get("trajectory").sink(out))
    return file


def test_to_a_file_and_to_a_stream(saved: Path, tmp_path: Path) -> None:
    stream = BytesIO()
    export(saved, "steps-jsonl", stdout=stream)
    result = export(saved, "steps-jsonl", output=tmp_path / "steps.jsonl")
    assert stream.getvalue() == (tmp_path / "steps.jsonl").read_bytes() == written("steps-jsonl", rich())
    assert result.files == [tmp_path / "steps.jsonl"]
    assert result.rejects == []


def test_rejects_and_redaction_stand_beside_the_file(saved: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text('[[rule]]\nname = "mail"\npattern = "[a-z]+@[a-z.]+"\n')
    result = export(saved, "openai-chat", output=tmp_path / "rows.jsonl", redact=profile)
    rejects = [loads(line) for line in (tmp_path / "rows.jsonl.rejects.jsonl").read_bytes().splitlines()]
    assert [(r["step_id"], r["reason"]) for r in rejects] == [  # type: ignore[call-overload,index]
        (2, "tool_call_without_id"),
        (3, "tool_only"),
        (5, "no_answer"),
    ]
    assert "[REDACTED:mail]" in (tmp_path / "rows.jsonl").read_text()
    assert loads((tmp_path / "rows.jsonl.redaction.json").read_bytes()) == result.redaction
    assert "redacted 2 by rule mail" in result.remarks()
    assert "rejected 1 step: tool_only" in result.remarks()


def test_a_folder_of_files(saved: Path, tmp_path: Path) -> None:
    result = export(saved, "traceelephant", output=tmp_path / "te")
    assert [path.name for path in result.files] == ["step_records.json", "trace_metadata.json"]
    assert [record["step_id"] for record in loads((tmp_path / "te/step_records.json").read_bytes())] == [1, 2, 3, 4, 5]  # type: ignore[call-overload,index,union-attr]
    with pytest.raises(UsageError, match="2 files"):
        export(saved, "traceelephant", stdout=BytesIO())


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "trajectory.json"
    broken.write_text('{"schema": "abb.agent-trajectory.v1", "steps": [{"step_id": 1}')
    target = tmp_path / "out.json"
    target.write_text("older")
    with pytest.raises(Exception, match=r".+"):
        export(broken, "atif", output=target)
    assert target.read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "trajectory.json"]


def test_an_unknown_format_names_the_known_ones(saved: Path) -> None:
    with pytest.raises(UsageError) as caught:
        export(saved, "docx")
    assert all(name in str(caught.value.hint) for name in names())


def test_round_trip_through_otlp(tmp_path: Path) -> None:
    """What the losses do not name comes back: order, kinds, agents, text, calls, executions, links."""
    first = step(1, tool_log(), input={"messages": [{"role": "user", "content": "Do it."}], "tools": TOOLS})
    second = step(2, tool_log("call_2", outputs={"a": [1]}), agent_name="writer")
    third = step(3)
    original = trajectory(first, second, third)
    file = tmp_path / "trace.otlp.jsonl"
    file.write_bytes(written("otlp-json", original))
    back = load(file)

    def told(what: Trajectory) -> list[object]:
        return [
            (
                one.kind,
                one.agent_name,
                one.model,
                one.output.get("text"),
                one.output.get("tool_calls"),
                [(log.tool_call_id, log.tool_name, log.input_arguments, log.link) for log in one.tool_logs],
            )
            for one in what.steps
        ]

    assert told(back) == told(original)
    assert back.steps[0].tool_logs[0].link is LinkStatus.EXACT
    assert [item.prompt for item in back.summary.inputs] == ["Do it."]


def test_the_reference_page_is_fresh(request: pytest.FixtureRequest) -> None:
    page = ROOT / "docs" / "reference" / "exports.md"
    if request.config.getoption("--update-golden"):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(reference_page())
    assert page.read_text() == reference_page(), "stale: run pytest --update-golden and read the diff"
