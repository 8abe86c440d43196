"""Every trap of `fixtures/hostile`: what its trajectory and its warnings must say. Damage never passes silently."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.show import show
from otel2traj.errors import EvidenceError
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

HOSTILE = Path(__file__).parents[2] / "fixtures" / "hostile"
CASES = sorted(path for path in HOSTILE.iterdir() if path.name != "README.md")


def build(path: Path, tmp_path: Path) -> dict[str, Any]:
    out = tmp_path / "out" / "trajectory.json"
    built = build_path(path, output=out)
    assert len(built) == 1
    document: dict[str, Any] = json.loads(out.read_bytes())
    return document


def told(document: dict[str, Any]) -> list[str]:
    """The codes of the warnings, each once, in their order."""
    return list(dict.fromkeys(warning.partition(":")[0] for warning in document["warnings"]))


def links(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """All that identifiers tie together, without pointers."""
    return [
        (
            step["kind"],
            step["agent_name"],
            step["output"].get("text"),
            [(log["tool_call_id"], log["link"], log["execution_status"], log["outputs"]) for log in step["tool_logs"]],
        )
        for step in document["steps"]
    ]


def the_run(result: str = "found") -> list[tuple[Any, ...]]:
    return [("model", "lead", None, [("c1", "exact", "succeeded", result)]), ("model", "lead", "done", [])]


def test_every_case_is_described() -> None:
    readme = (HOSTILE / "README.md").read_text(encoding="utf-8")
    for case in CASES:
        assert f"| `{case.name}{'/' if case.is_dir() else ''}` |" in readme


@pytest.mark.parametrize(
    ("case", "status", "codes"),
    [
        ("in-order.jsonl", "complete", []),
        ("shuffled.jsonl", "complete", []),
        ("clock-skew.jsonl", "complete", ["reversed_times"]),
        ("duplicate-keys.jsonl", "partial", ["repeated_key"]),
        ("duplicates-same.jsonl", "complete", []),
        ("duplicates-different.jsonl", "partial", ["duplicate_span"]),
        ("equal-times.jsonl", "complete", []),
        ("late-parent.jsonl", "complete", []),
        ("nesting-bomb.jsonl", "partial", ["unreadable_line"]),
        ("two-dialects.jsonl", "complete", []),
        ("unknown-enums.jsonl", "complete", []),
        ("upper-case-ids.jsonl", "complete", ["repaired_record"]),
        ("without-ids.jsonl", "partial", ["missing_id"]),
        ("zero-tokens.jsonl", "complete", []),
    ],
)
def test_the_run_is_read_all_the_same(case: str, status: str, codes: list[str], tmp_path: Path) -> None:
    document = build(HOSTILE / case, tmp_path)
    assert links(document) == the_run()
    assert (document["status"], told(document)) == (status, codes)


NOT_BUILT = ("only-damaged-lines.jsonl", "payloads-that-leave-secret.json")


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_every_case_can_be_shown(case: Path, form: str) -> None:
    out = io.BytesIO()
    if case.name in NOT_BUILT:
        with pytest.raises(EvidenceError):
            show(case, out, form=form)
    else:
        show(case, out, form=form)
        out.getvalue().decode("utf-8")


def test_bytes_that_are_no_utf8_are_replaced_and_told(tmp_path: Path) -> None:
    document = build(HOSTILE / "invalid-utf-8.jsonl", tmp_path)
    assert links(document) == the_run("f\ufffdund")
    assert (document["status"], document["warnings"]) == (
        "partial",
        ["repaired_record: invalid-utf-8 (invalid-utf-8.jsonl:1)"],
    )


def test_lone_surrogates_are_kept_as_they_are(tmp_path: Path) -> None:
    document = build(HOSTILE / "lone-surrogate.jsonl", tmp_path)
    assert document["steps"][0]["tool_logs"][0]["outputs"] == "found \ud83d"
    assert document["steps"][1]["output"]["text"] == "done \ud83d"
    assert document["steps"][1]["output"]["finish_reason"] == "stop"
    assert (document["status"], told(document)) == ("complete", ["repaired_record"])


def test_numbers_that_are_not_finite_are_kept_as_their_names(tmp_path: Path) -> None:
    document = build(HOSTILE / "non-finite-numbers", tmp_path)
    parameters = document["steps"][0]["input"]["parameters"]
    assert parameters == {"temperature": "NaN", "top_p": "-Infinity", "seed": "Infinity"}
    assert document["warnings"] == ["repaired_record: read with a repair: non-finite-number (logs/network.jsonl:1)"]


def test_integers_keep_all_digits(tmp_path: Path) -> None:
    (step,) = build(HOSTILE / "numbers-over-64-bits", tmp_path)["steps"]
    assert step["input"]["parameters"]["seed"] == 2**70
    assert step["output"]["tool_calls"][0]["arguments"] == {"n": 2**70}
    assert step["output"]["usage"]["input_tokens"] == 2**64 + 1


def test_of_two_equal_keys_the_last_counts(tmp_path: Path) -> None:
    assert build(HOSTILE / "duplicate-keys.jsonl", tmp_path)["steps"][0]["model"] == "m-1"


def test_unknown_words_are_kept(tmp_path: Path) -> None:
    document = build(HOSTILE / "unknown-enums.jsonl", tmp_path)
    assert [step["output"]["finish_reason"] for step in document["steps"]] == ["galaxy", "galaxy"]


def test_an_id_in_upper_case_is_the_same_id(tmp_path: Path) -> None:
    (step,) = build(HOSTILE / "upper-case-header", tmp_path)["steps"]
    assert (step["source"], step["evidence"]["join"]) == ("wire+framework", "framework_span_id")
    assert step["evidence"]["otel_span_id"] == "abcdef0000000002"


def test_zero_is_an_answer_and_nothing_is_none(tmp_path: Path) -> None:
    one, other = build(HOSTILE / "zero-tokens.jsonl", tmp_path)["steps"]
    assert (one["output"]["usage"]["input_tokens"], one["output"]["usage"]["output_tokens"]) == (0, 0)
    assert "usage" not in other["output"]


def test_no_dialect_silences_another(tmp_path: Path) -> None:
    step = build(HOSTILE / "two-dialects.jsonl", tmp_path)["steps"][0]
    said = step["evidence"]["said_by"]
    assert said["tool_calls"].startswith("openinference")
    assert said["request_model"].startswith("otel_genai")
    assert (step["model"], step["output"]["usage"]["input_tokens"]) == ("m-1", 7)


def test_equal_duplicates_leave_one_record(tmp_path: Path) -> None:
    document = build(HOSTILE / "duplicates-same.jsonl", tmp_path)
    assert [len(step["evidence"]["records"]) for step in document["steps"]] == [1, 1]


def test_the_order_of_lines_changes_no_link(tmp_path: Path) -> None:
    one, other = (build(HOSTILE / name, tmp_path) for name in ("in-order.jsonl", "shuffled.jsonl"))
    assert links(one) == links(other)
    for step, again in zip(one["steps"], other["steps"], strict=True):
        assert step["started_at"] == again["started_at"]
        assert step["evidence"]["otel_span_id"] == again["evidence"]["otel_span_id"]
        assert step["evidence"]["records"][0]["sha256"] == again["evidence"]["records"][0]["sha256"]


def test_parents_that_never_came_leave_the_run(tmp_path: Path) -> None:
    document = build(HOSTILE / "missing-root.jsonl", tmp_path)
    assert [step["agent_name"] for step in document["steps"]] == [None, None]
    assert document["steps"][0]["tool_logs"][0]["link"] == "exact"


def test_a_circle_of_parents_tells_nothing_and_is_told(tmp_path: Path) -> None:
    for lines in (1, -1):
        path = tmp_path / f"{lines}.jsonl"
        spans = json.loads((HOSTILE / "parent-cycle.jsonl").read_bytes())["resourceSpans"][0]["scopeSpans"][0]["spans"]
        path.write_bytes(otlp(spans[::lines]))
        document = build(path, tmp_path)
        assert [entry[:3] for entry in links(document)] == [
            ("model", "lead", None),
            ("model", "lead", "done"),
            ("model", "lead", "alone"),
        ]
        assert document["status"] == "partial"
        assert sorted(warning.split()[5] for warning in document["warnings"]) == [f"{1:016x}", f"{6:016x}"]


def test_what_never_ended_is_told(tmp_path: Path) -> None:
    document = build(HOSTILE / "unfinished.jsonl", tmp_path)
    assert [step["status"] for step in document["steps"]] == ["complete", "incomplete"]
    assert document["steps"][0]["tool_logs"][0]["outputs"] == "found"
    assert (document["status"], told(document)) == ("partial", ["unfinished_span"])
    assert len(document["warnings"]) == 2


def test_unreadable_times_come_last_and_are_told(tmp_path: Path) -> None:
    document = build(HOSTILE / "unreadable-times.jsonl", tmp_path)
    assert [step["output"]["text"] for step in document["steps"]] == ["done", None]
    assert document["steps"][1]["started_at"] is None
    assert document["steps"][1]["tool_logs"][0]["link"] == "exact"
    assert told(document) == ["unreadable_time"]


def test_spans_without_ids_stand_for_themselves(tmp_path: Path) -> None:
    document = build(HOSTILE / "without-ids.jsonl", tmp_path)
    ids = {step["evidence"]["interaction_id"] for step in document["steps"]}
    assert len(ids) == 2
    assert all("otel_span_id" not in step["evidence"] for step in document["steps"])


def test_control_characters_stay_in_the_file_and_off_the_terminal(tmp_path: Path) -> None:
    document = build(HOSTILE / "control-characters.jsonl", tmp_path)
    log = document["steps"][0]["tool_logs"][0]
    assert (log["tool_call_id"], log["link"]) == ("c\x1b[31m1\n\u202e\x00", "exact")
    for form in ("text", "markdown"):
        out = io.BytesIO()
        show(HOSTILE / "control-characters.jsonl", out, form=form)
        text = out.getvalue().decode("utf-8")
        assert not {"\x1b", "\x00", "\x07", "\u202e"} & set(text)


def test_nothing_but_damage(tmp_path: Path) -> None:
    document = build(HOSTILE / "only-damaged-records", tmp_path)
    assert (document["status"], document["steps"], told(document)) == ("partial", [], ["unreadable_line"])
    assert len(document["warnings"]) == 3
    document = build(HOSTILE / "only-damaged-lines.jsonl", tmp_path)
    assert (document["status"], document["steps"]) == ("failed", [])
    assert document["error"]["type"] == "NothingRecordedError"
    assert "could not be read" in document["error"]["message"]
    assert [source["path"] for source in document["sources"]] == ["only-damaged-lines.jsonl"]
    assert [warning.rpartition(":")[2] for warning in document["warnings"]] == ["1)", "2)", "3)", "4)"]


def test_payloads_outside_the_attempt_are_refused(tmp_path: Path) -> None:
    attempt = tmp_path / "attempt"
    shutil.copytree(HOSTILE / "payloads-that-leave", attempt)
    shutil.copy(HOSTILE / "payloads-that-leave-secret.json", tmp_path)
    (attempt / "steps/0001/otel-payloads/link.json").symlink_to(tmp_path / "payloads-that-leave-secret.json")
    document = build(attempt, tmp_path)
    assert [step["output"]["text"] for step in document["steps"]] == ["answer"] * 6
    assert all("messages" not in step["input"] for step in document["steps"])
    assert "secret" not in json.dumps([document["steps"], document["inputs"]])
    reasons = "\n".join(document["warnings"])
    for reason in (
        "/etc/hostname leaves the attempt directory",
        "payloads-that-leave-secret.json leaves the attempt directory",
        "link.json goes through a symbolic link",
        "is no file name",
        "missing_payload",
        "unreadable_document",
    ):
        assert reason in reasons
    assert not any("secret" in source["path"] or "hostname" in source["path"] for source in document["sources"])


def test_a_replay_blob_outside_the_attempt_is_refused(tmp_path: Path) -> None:
    document = build(HOSTILE / "replay-that-leaves", tmp_path)
    (change,) = document["inputs"][0]["file_changes"]
    assert (change["path"], change["diff"]) == ("a.txt", None)
    assert told(document) == ["unreadable_source", "unreadable_value", "unreadable_line"]
    assert "unreadable_value: 2 file changes of an unknown shape (replay/events.jsonl)" in document["warnings"]


@pytest.mark.parametrize(
    "place", ["steps/0001/otel.jsonl", "steps/0001/framework.jsonl", "logs/network.jsonl", "steps"]
)
def test_links_inside_an_attempt_are_refused(place: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    real = AttemptFactory(outside).input("0001").request("call_a", 1).response("call_a", 2, chat_response(text="hi"))
    real.write()
    (outside / "steps/0001/otel.jsonl").write_bytes((HOSTILE / "in-order.jsonl").read_bytes())
    (outside / "steps/0001/framework.jsonl").write_bytes(b"")
    attempt = tmp_path / "attempt"
    shutil.copytree(outside, attempt)
    target = attempt / place
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink()
    target.symlink_to(outside / place)
    document = build(attempt, tmp_path)
    assert (document["status"], document["steps"]) == ("failed", [])
    assert "symbolic link" in document["error"]["message"]
    assert str(tmp_path) not in json.dumps(document)


def test_an_attempt_without_records(tmp_path: Path) -> None:
    (tmp_path / "a" / "steps" / "0001").mkdir(parents=True)
    document = build(tmp_path / "a", tmp_path)
    assert (document["steps"], document["inputs"][0]["step_range"]) == ([], None)
    assert told(document) == ["missing_result"]
    (tmp_path / "b").mkdir()
    document = build(tmp_path / "b", tmp_path)
    assert (document["status"], document["error"]["message"]) == ("failed", "no file is in b")


def test_a_file_that_grows_is_read_to_the_size_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing.jsonl"
    spans = json.loads((HOSTILE / "in-order.jsonl").read_bytes())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    path.write_bytes(otlp(spans) + b"\n")
    from otel2traj.assembly import indexing

    add = vars(indexing)["add_span"]

    def grow(*args: Any) -> None:
        with path.open("ab") as more:
            more.write(otlp([model_span("00000000000000ff", 9, text="later")]) + b"\n")
        add(*args)

    monkeypatch.setattr(indexing, "add_span", grow)
    document = build(path, tmp_path)
    assert links(document) == the_run()
    assert told(document) == ["source_grew"]


def test_huge_ids_and_names(tmp_path: Path) -> None:
    huge = "x" * 300_000
    call = model_span("0000000000000001", 1, calls=[(huge, huge, {})])
    call["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": huge}})
    path = tmp_path / "huge.jsonl"
    path.write_bytes(otlp([call, tool_span("0000000000000002", 2, huge, call_id=huge, result="r")]))
    document = build(path, tmp_path)
    assert document["steps"][0]["tool_logs"][0]["link"] == "exact"
    (tmp_path / "dir").mkdir()
    (built,) = build_path(path, output=tmp_path / "dir")
    assert built.file is not None
    assert len(built.file.name) < 255


def test_a_name_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad-\xff.jsonl")
    shutil.copy(HOSTILE / "in-order.jsonl", tmp_path / name)
    document = build(tmp_path / name, tmp_path)
    assert links(document) == the_run()
    assert document["sources"][0]["path"] == name


def deep(count: int, path: Path) -> Path:
    """One chain of `count` spans, with an execution at every level and a model call at every third."""
    spans = []
    for level in range(count):
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"} if level % 2 else {"x": 1}
        here, above = f"{level + 1:016x}", f"{level:016x}" if level else None
        spans.append(span(here, level / 1000, agent, parent=above))
        spans.append(tool_span(f"1{level:015x}", level / 1000, "t", result="r", parent=here))
        if level % 3 == 0:
            spans.append(model_span(f"2{level:015x}", level / 1000, text="t", parent=here))
    path.write_bytes(b"\n".join(otlp(spans[at : at + 500]) for at in range(0, len(spans), 500)))
    return path


def test_arguments_that_look_like_a_mark_of_truncation_are_recorded_arguments(tmp_path: Path) -> None:
    mark = {"truncated": True, "size": 1, "sha256": "x", "head": "longer"}
    path = tmp_path / "otel.jsonl"
    path.write_bytes(otlp([model_span("a" * 16, 0, calls=[("c1", "f", mark)])]))
    (step,) = build(path, tmp_path)["steps"]
    assert step["output"]["tool_calls"][0]["arguments"] == mark


def test_ten_thousand_spans_of_one_parent_chain(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        path = deep(count, tmp_path / f"{count}.jsonl")
        started = time.process_time()
        document = build(path, tmp_path)
        taken = time.process_time() - started
        assert len(document["steps"]) == count + (count + 2) // 3
        assert {step["agent_name"] for step in document["steps"][1:]} <= {"lead", None}
        return taken

    # what is quadratic is so every time; a busy machine is not busy three times in the same place
    assert any(seconds(10_000) < seconds(1_000) * 25 for _ in range(3))


def test_no_command_prints_what_a_terminal_would_obey(tmp_path: Path) -> None:
    evil = "c\x1b[31m\u202e"
    spans = []
    for number in (1, 2):
        one = model_span(f"{number:016x}", number, text="x", traceId=f"{number:032x}")
        one["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": f"{evil}{number}"}})
        spans.append(one)
    folder = tmp_path / os.fsdecode(b"bad-\xff\x1b[2J")
    folder.mkdir()
    (folder / "t.jsonl").write_bytes(otlp(spans, scope=evil))
    attempt = AttemptFactory(folder / "more" / evil).input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text="hi")).write()
    for command in (
        ["info", str(folder / "t.jsonl")],
        ["show", str(folder / "t.jsonl")],
        ["build", str(folder / "t.jsonl"), "-o", str(tmp_path / "out")],
        ["build", "-r", str(folder / "more"), "-o", str(tmp_path / "many")],
    ):
        done = subprocess.run([sys.executable, "-m", "otel2traj", *command], capture_output=True, check=False)
        told = (done.stdout + done.stderr).replace(os.fsencode(str(folder)), b"")
        assert b"Traceback" not in told
        assert done.returncode in (0, 2)
        assert b"\x1b" not in told
        assert "\u202e".encode() not in told
