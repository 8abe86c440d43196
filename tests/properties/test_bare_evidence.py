"""Folders and files of traces without an attempt around them: what becomes one trajectory, and what is passed over."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import zstandard

from otel2traj.api.build import build_path, safe_name
from otel2traj.api.info import info
from otel2traj.api.source import drive
from otel2traj.errors import UsageError
from otel2traj.model.trajectory import Collect
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

DIALECTS = Path(__file__).parents[2] / "fixtures" / "dialects"


def turn(trace: int, number: int, conversation: str | None = None) -> list[dict[str, Any]]:
    """One trace: an agent asked `question N`, one call, one execution, one answer."""
    base, named = trace * 100 + number * 10, {} if conversation is None else {"gen_ai.conversation.id": conversation}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead", **named}
    asked = [{"role": "user", "parts": [{"type": "text", "content": f"question {number}"}]}]
    ids = [f"{base + n:016x}" for n in range(1, 5)]
    spans = [
        span(ids[0], base, {**agent, "gen_ai.input.messages": asked}),
        model_span(ids[1], base + 1, calls=[(f"c{base}", "search", {"q": base})], parent=ids[0]),
        tool_span(ids[2], base + 2, "search", call_id=f"c{base}", result=f"found {base}", parent=ids[0]),
        model_span(ids[3], base + 3, text=f"answer {number}", parent=ids[0]),
    ]
    return [{**one, "traceId": f"{base:032x}"} for one in spans]


def documents(path: Path, out: Path) -> dict[str, dict[str, Any]]:
    """Every trajectory of a path by the name of its file."""
    out.mkdir(parents=True)
    built = build_path(path, output=out)
    assert sorted(item.file.name for item in built if item.file) == sorted(os.listdir(out))
    return {file.name: json.loads(file.read_bytes()) for file in sorted(out.iterdir())}


def answers(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (step["input_ordinal"], step["output"]["text"], [(log["link"], log["outputs"]) for log in step["tool_logs"]])
        for step in document["steps"]
    ]


class TestConversations:
    def test_traces_of_one_conversation_are_inputs_in_order_of_their_start(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        path.write_bytes(b"\n".join(otlp(turn(1, number, "talk")) for number in (2, 1, 3)))
        found = documents(path, tmp_path / "out")
        document = found.pop("talk.json")
        assert found == {}
        assert [(item["ordinal"], item["prompt"], item["step_range"]) for item in document["inputs"]] == [
            ("0001", "question 1", [1, 2]),
            ("0002", "question 2", [3, 4]),
            ("0003", "question 3", [5, 6]),
        ]
        assert (document["run_id"], document["status"]) == ("talk", "complete")

    def test_several_in_one_file_are_one_trajectory_each(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        path.write_bytes(otlp([*turn(1, 1, "a"), *turn(2, 1, "b"), *turn(3, 1)]) + b"\n" + otlp(turn(1, 2, "a")))
        found = documents(path, tmp_path / "out")
        assert sorted(found) == [f"{310:032x}.json", "a.json", "b.json"]
        assert [len(found[name]["steps"]) for name in ("a.json", "b.json")] == [4, 2]
        assert answers(found["b.json"]) == [("0001", None, [("exact", "found 210")]), ("0001", "answer 1", [])]

    def test_one_in_several_files_is_one_trajectory(self, tmp_path: Path) -> None:
        folder = tmp_path / "traces"
        for number in (1, 2):
            (folder / f"day{number}").mkdir(parents=True)
            (folder / f"day{number}" / "t.jsonl").write_bytes(otlp(turn(1, number, "talk")))
        (document,) = documents(folder, tmp_path / "out").values()
        assert [item["step_range"] for item in document["inputs"]] == [[1, 2], [3, 4]]
        assert [source["path"] for source in document["sources"]] == ["day1/t.jsonl", "day2/t.jsonl"]

    def test_one_trace_in_two_files_links_across_them(self, tmp_path: Path) -> None:
        spans, folder = turn(1, 1), tmp_path / "traces"
        folder.mkdir()
        (folder / "client.jsonl").write_bytes(otlp(spans[1:2]))
        (folder / "server.json").write_bytes(otlp([spans[0], *spans[2:]]))
        (document,) = documents(folder, tmp_path / "out").values()
        assert answers(document) == [("0001", None, [("exact", "found 110")]), ("0001", "answer 1", [])]

    def test_equal_call_ids_in_two_conversations_do_not_meet(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        spans = [*turn(1, 1, "a"), *turn(2, 1, "b")]
        path.write_bytes(otlp(spans).replace(b"c210", b"c110"))
        for document in documents(path, tmp_path / "out").values():
            assert document["steps"][0]["tool_logs"][0]["link"] == "exact"

    def test_equal_results_of_two_conversations_are_both_reported(self, tmp_path: Path) -> None:
        path, spans = tmp_path / "t.jsonl", []
        for number, conversation in ((1, "a"), (2, "b")):
            asking, calling, _, answering = turn(number, 1, conversation)
            reported = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "ok"}]}]
            answering["attributes"].append(
                {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(reported)}}
            )
            spans += [asking, calling, answering]
        path.write_bytes(otlp(spans).replace(b"c110", b"c1").replace(b"c210", b"c1"))
        for document in documents(path, tmp_path / "out").values():
            (log,) = document["steps"][0]["tool_logs"]
            assert log["execution_status"] == "not_observed"
            assert log["evidence"]["reported_result"]["position"] == 0

    def test_one_is_named_to_be_shown(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        path.write_bytes(otlp([*turn(1, 1, "a"), *turn(2, 1, "b")]))
        with pytest.raises(UsageError) as caught:
            drive(path, Collect())
        assert "--conversation (a, b)" in str(caught.value.hint)
        with pytest.raises(UsageError):
            drive(path, Collect(), conversation="c")
        collect = Collect()
        drive(path, collect, conversation="b")
        assert [step.output["text"] for step in collect.trajectory.steps] == [None, "answer 1"]

    def test_a_file_is_no_place_for_several(self, tmp_path: Path) -> None:
        path, out = tmp_path / "t.jsonl", tmp_path / "out.json"
        path.write_bytes(otlp([*turn(1, 1, "a"), *turn(2, 1, "b")]))
        out.write_bytes(b"mine")
        with pytest.raises(UsageError):
            build_path(path, output=out)
        assert out.read_bytes() == b"mine"

    def test_no_two_names_meet(self) -> None:
        names = ["a", ".a", "..a", "a/b", "a%2Fb", "a b", "A", "", "x" * 300, "x" * 300 + "y", "\ud800", "é"]
        files = [safe_name(name) for name in names]
        assert len(set(files)) == len(names)
        assert all("/" not in file and not file.startswith(".") and len(file) <= 200 for file in files)


class TestFiles:
    @pytest.mark.parametrize("copies", [1, 2])
    def test_packed_and_rotated_sets_are_read_once(self, copies: int, tmp_path: Path) -> None:
        folder = tmp_path / "traces"
        folder.mkdir()
        one, two, three, four = (otlp(turn(1, number, "talk")) + b"\n" for number in (1, 2, 3, 4))
        (folder / "traces.jsonl").write_bytes(one)
        (folder / "traces-2026-11-30T13-03-00.000.jsonl.gz").write_bytes(gzip.compress(two))
        (folder / "traces.jsonl.2.zst").write_bytes(zstandard.ZstdCompressor().compress(three))
        (folder / "traces.jsonl.3").write_bytes(four)
        if copies == 2:  # an archive that kept the file beside the packed one
            (folder / "traces.jsonl.gz").write_bytes(gzip.compress(one))
        (document,) = documents(folder, tmp_path / "out").values()
        assert (len(document["inputs"]), len(document["steps"]), document["status"]) == (4, 8, "complete")
        assert len(document["sources"]) == 3 + copies

    def test_what_is_no_evidence_is_passed_over(self, tmp_path: Path) -> None:
        folder = tmp_path / "traces"
        folder.mkdir()
        (folder / "t.jsonl").write_bytes(otlp(turn(1, 1)))
        (folder / "README.md").write_text("# spans")
        (folder / "package.json").write_text('{"name": "x", "version": 1}')
        (folder / "rows.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
        (folder / "broken.json").write_text("{")
        (folder / "empty.json").write_bytes(b"")
        (folder / "image.pb").write_bytes(bytes(range(256)))
        build_path(folder, write=True)
        build_path(folder / "t.jsonl", write=True)
        build_path(folder / "t.jsonl", output=folder / "mine.json")
        assert (folder / "trajectory.json").is_file()
        (document,) = documents(folder, tmp_path / "out").values()
        assert answers(document) == [("0001", None, [("exact", "found 110")]), ("0001", "answer 1", [])]
        passed = [warning for warning in document["warnings"] if warning.startswith("foreign_file")]
        assert [warning.rpartition("(")[2] for warning in passed] == [
            "broken.json)",
            "image.pb)",
            "package.json)",
            "rows.jsonl)",
        ]
        assert document["status"] == "complete"
        assert {source["path"] for source in document["sources"]} <= {"t.jsonl", "empty.json"}

    def test_one_file_has_no_neighbours(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_text(json.dumps({"run_id": "other", "agent_id": "stranger"}))
        (tmp_path / "case.json").write_text(json.dumps({"case_id": "other"}))
        (tmp_path / "t.jsonl").write_bytes(otlp(turn(1, 1)))
        (document,) = documents(tmp_path / "t.jsonl", tmp_path / "out").values()
        assert (document["run_id"], document["case_id"]) == (f"{110:032x}", None)
        assert [source["path"] for source in document["sources"]] == ["t.jsonl"]

    def test_a_link_is_refused(self, tmp_path: Path) -> None:
        real = tmp_path / "real.jsonl"
        real.write_bytes(otlp(turn(1, 1)))
        (tmp_path / "link.jsonl").symlink_to(real)
        (built,) = build_path(tmp_path / "link.jsonl")
        assert built.summary.error is not None
        assert built.summary.error["message"] == "link.jsonl is a symbolic link"

    def test_links_in_a_folder_are_told(self, tmp_path: Path) -> None:
        folder, outside = tmp_path / "traces", tmp_path / "outside"
        folder.mkdir()
        outside.mkdir()
        (outside / "t.jsonl").write_bytes(otlp(turn(2, 2)))
        (folder / "t.jsonl").write_bytes(otlp(turn(1, 1)))
        (folder / "link.jsonl").symlink_to(outside / "t.jsonl")
        (folder / "more").symlink_to(outside)
        (document,) = documents(folder, tmp_path / "out").values()
        assert [warning.rpartition("(")[2] for warning in document["warnings"]] == ["link.jsonl)", "more)"]
        assert document["status"] == "partial"

    def test_what_is_no_file_is_not_waited_for(self, tmp_path: Path) -> None:
        (tmp_path / "t.jsonl").write_bytes(otlp(turn(1, 1)))
        os.mkfifo(tmp_path / "pipe.jsonl")
        (built,) = build_path(tmp_path)
        assert [warning.partition(":")[0] for warning in built.summary.warnings] == ["unreadable_source"]

    @pytest.mark.parametrize("name", ["network.jsonl", "calls.jsonl"])
    def test_wire_records_alone(self, name: str, tmp_path: Path) -> None:
        factory = AttemptFactory(tmp_path / "attempt").input("0001")
        factory.request("call_a", 1).response("call_a", 2, chat_response(text="hi")).write()
        shutil.copy(tmp_path / "attempt/logs/network.jsonl", tmp_path / name)
        (document,) = documents(tmp_path / name, tmp_path / "out").values()
        (step,) = document["steps"]
        assert (step["source"], step["output"]["text"]) == ("wire", "hi")

    def test_wire_records_beside_spans_are_joined(self, tmp_path: Path) -> None:
        factory = AttemptFactory(tmp_path / "attempt").input("0001")
        factory.request("call_a", 1, span=f"{112:016x}")
        factory.response("call_a", 2, chat_response(calls=[("c110", "search", '{"q": 110}')])).write()
        folder = tmp_path / "traces"
        folder.mkdir()
        shutil.copy(tmp_path / "attempt/logs/network.jsonl", folder / "calls.jsonl")
        (folder / "t.jsonl").write_bytes(otlp(turn(1, 1)))
        (document,) = documents(folder, tmp_path / "out").values()
        assert [step["source"] for step in document["steps"]] == ["wire+framework", "framework"]
        assert document["steps"][0]["tool_logs"][0]["link"] == "exact"


class TestLogs:
    def test_a_conversation_that_only_logs_tell(self, tmp_path: Path) -> None:
        cases = sorted(DIALECTS.glob("claude_code_logs/*"))
        for case in [path for path in cases if path.is_dir()]:
            folder = tmp_path / case.name
            folder.mkdir()
            for file in case.glob("otel-logs*.jsonl"):
                shutil.copy(file, folder / "anything.jsonl")
            (document,) = documents(folder, tmp_path / f"out-{case.name}").values()
            assert document["coverage"]["model_calls"] > 0

    def test_info_tells_forms_and_conversations(self, tmp_path: Path) -> None:
        (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(otlp([*turn(1, 1, "a"), *turn(2, 1, "b")])))
        told = info(tmp_path)
        assert [(file["path"], file["form"]) for file in told["files"]] == [("t.jsonl.gz", "otlp-json+gzip")]
        assert [(part["name"], part["model_spans"], part["tool_spans"]) for part in told["conversations"]] == [
            ("a", 2, 1),
            ("b", 2, 1),
        ]


def test_a_folder_and_its_shuffled_copy_give_the_same(tmp_path: Path) -> None:
    """Which file holds which span changes nothing but pointers."""
    from .test_determinism import without_pointers

    spans = [*turn(1, 1, "a"), *turn(1, 2, "a")]
    told = []
    for name, step in (("one", 1), ("other", -1)):
        folder = tmp_path / name
        folder.mkdir()
        for number, part in enumerate((spans[::2][::step], spans[1::2][::step])):
            (folder / f"{number if step == 1 else 9 - number}.jsonl").write_bytes(otlp(part))
        (document,) = documents(folder, tmp_path / f"out-{name}").values()
        text = json.dumps(without_pointers(document))
        told.append(list(json.loads(text)["steps"]))
    for one, other in zip(*told, strict=True):
        for evidence in (one["evidence"], other["evidence"]):
            evidence.pop("interaction_id")
        assert {**one, "tool_logs": []} == {**other, "tool_logs": []}
        assert [log["outputs"] for log in one["tool_logs"]] == [log["outputs"] for log in other["tool_logs"]]


def test_building_prints_every_conversation(tmp_path: Path) -> None:
    from otel2traj.api.build import print_bytes

    path = tmp_path / "t.jsonl"
    path.write_bytes(otlp([*turn(1, 1, "a"), *turn(2, 1, "b")]))
    out = io.BytesIO()
    assert len(print_bytes(path, out)) == 2
    decoder, text, found = json.JSONDecoder(), out.getvalue().decode(), []
    while text.strip():
        document, end = decoder.raw_decode(text)
        found.append(document["run_id"])
        text = text[end:].lstrip()
    assert found == ["a", "b"]
