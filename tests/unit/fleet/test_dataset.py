"""A data set: what is in it after one build, a second one, a change, a failure, and compacting."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from otel2traj.api.build import build_bytes, build_path
from otel2traj.canonical import dumps, loads
from otel2traj.errors import EvidenceError, RefusedError, UsageError
from otel2traj.fleet import engines, parts
from otel2traj.fleet import rows as rows_module
from otel2traj.fleet.build import build_dataset
from otel2traj.fleet.compact import compact
from otel2traj.fleet.place import Folder
from otel2traj.fleet.schema import TABLES, TEXTS, columns
from otel2traj.fleet.trees import LocalTree
from otel2traj.model.trajectory import Header
from tests.unit.fleet.made import FIXTURES, Deadly, ask, build, copied, files, fleet, here, one

NAMES = ("abb-02-parallel-tools", "abb-03-tool-error", "abb-07-transport-error", "abb-20c-steps-symlink")


@pytest.fixture(autouse=True)
def _without_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "processes" not in request.keywords:
        monkeypatch.setitem(engines.ENGINES, "local", here)


def rows(out: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, in one order."""
    return {table: ask(out, f"SELECT * FROM {table} ORDER BY ALL") for table in (*TABLES, TEXTS)}


def test_every_attempt_is_in_it_and_its_trajectory_is_that_of_a_single_build(tmp_path: Path) -> None:
    tree, out = copied(tmp_path / "tree", *NAMES), tmp_path / "out"
    done = build(tree, out, batch=3)
    assert (done.found, done.done, done.failed) == (4, 4, 1)
    told = dict(ask(out, "SELECT attempt, trajectory_sha256 FROM runs WHERE status <> 'failed'"))
    assert sorted(told) == sorted(NAMES[:3])
    for name, digest in told.items():
        assert hashlib.sha256(build_bytes(tree / name)).hexdigest() == digest
    ((error, day),) = ask(out, "SELECT error, day FROM runs WHERE status = 'failed'")
    assert (error, day) == ("steps is not a directory", None)


def test_columns_are_those_that_are_declared(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    build(copied(tmp_path / "tree", *NAMES), tmp_path / "out")
    for name in files(tmp_path / "out"):
        schema = pyarrow.read_schema(tmp_path / "out" / name)
        table = name.partition("/")[0]
        told = [(field.name, str(field.type).replace("element", "item")) for field in schema]
        kinds = {"float64": "double", "list<int32>": "list<item: int32>"}
        assert told == [(column, kinds.get(kind, kind)) for column, kind in columns(table)]
        assert schema.metadata[b"otel2traj"] == b"otel2traj.dataset.v1"


def test_a_second_build_touches_nothing(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 5), tmp_path / "out"
    build(tree, out, batch=2)
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*.parquet")}
    again = build(tree, out, batch=2)
    assert (again.found, again.waiting, again.done) == (5, 0, 0)
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*.parquet")} == before


def test_only_what_is_new_or_changed_is_built(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 5), tmp_path / "out"
    build(tree, out, batch=2)
    shutil.rmtree(tree / "a001")
    one(tree / "a001", "changed")
    one(tree / "a005", "new")
    again = build(tree, out, batch=2)
    assert (again.found, again.done) == (6, 2)
    told = ask(
        out,
        "SELECT r.attempt, m.text FROM runs r JOIN messages m USING (run) WHERE m.direction = 'output' ORDER BY 1",
    )
    assert told == [
        ("a000", "hello 0"),
        ("a001", "changed"),
        ("a002", "hello 2"),
        ("a003", "hello 3"),
        ("a004", "hello 4"),
        ("a005", "new"),
    ]
    fresh = tmp_path / "fresh"
    build(tree, fresh, batch=2)
    assert rows(fresh) == rows(out)


def test_an_attempt_that_is_changed_back_is_there_once(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 1), tmp_path / "out"
    kept = tmp_path / "kept"
    shutil.copytree(tree / "a000", kept)
    build(tree, out)
    first = rows(out)
    for source in ("changed", None):
        shutil.rmtree(tree / "a000")
        if source is None:
            shutil.copytree(kept, tree / "a000")
        else:
            one(tree / "a000", source)
        build(tree, out)
        assert ask(out, "SELECT count(*) FROM runs") == [(1,)]
    assert rows(out) == first


def test_files_that_were_only_touched_are_read_and_not_built(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 2), tmp_path / "out"
    build(tree, out)
    before = files(out)
    os.utime(tree / "a000" / "run.json")
    again = build(tree, out)
    assert (again.waiting, again.same, again.done) == (1, 1, 0)
    assert build(tree, out).waiting == 0
    assert build(tree, out, reread=True).same == 2
    assert files(out) == before


def test_what_a_killed_build_left_is_swept(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 2), tmp_path / "out"
    build(tree, out)
    before = files(out)
    (out / "runs" / "day=2026-05-28" / "half.parquet").write_bytes(b"PAR1")
    (out / "_scratch" / "x").mkdir(parents=True)
    build(tree, out)
    assert files(out) == before
    assert not (out / "_scratch").exists()


def test_a_part_whose_record_is_missing_is_built_again_with_the_same_bytes(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 5), tmp_path / "out"
    build(tree, out, batch=2)
    before = files(out)
    sorted((out / "_parts").iterdir())[1].unlink()
    assert build(tree, out, batch=2).done in (1, 2)
    assert files(out) == before


@pytest.mark.processes
def test_an_attempt_that_ends_its_process_is_a_row_and_costs_no_other(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 3), tmp_path / "out"
    (tree / "a001" / "deadly").write_text("")
    done = build_dataset(Deadly(LocalTree(tree), "a001"), Folder(out), batch=3)
    assert (done.done, done.failed) == (3, 1)
    told = ask(out, "SELECT attempt, status, error_type, error FROM runs ORDER BY 1")
    assert told == [
        ("a000", "complete", None, None),
        ("a001", "failed", "ProcessDied", "the process that built it died"),
        ("a002", "complete", None, None),
    ]
    (tree / "a001" / "deadly").unlink()
    assert build_dataset(Deadly(LocalTree(tree), "a001"), Folder(out), batch=3).done == 1
    assert ask(out, "SELECT count(*), count(error) FROM runs") == [(3, 0)]


def test_rows_of_a_run_that_fails_half_way_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, out = copied(tmp_path / "tree", *NAMES[:2]), tmp_path / "out"
    from otel2traj.fleet import rows as module

    real = module.log_rows

    def broken(step: module.Step) -> list[module.Row]:
        if any(log.tool_name == "flaky_service" for log in step.tool_logs):
            raise ValueError("boom")
        return real(step)

    monkeypatch.setattr(module, "log_rows", broken)
    for held in (parts._HELD_BYTES, 1):  # at once, and after rows have left for their files
        monkeypatch.setattr(parts, "_HELD_BYTES", held)
        shutil.rmtree(out, ignore_errors=True)
        build(tree, out)
        assert ask(out, "SELECT attempt, status FROM runs ORDER BY 1") == [(NAMES[0], "complete"), (NAMES[1], "failed")]
        assert ask(out, "SELECT count(*) FROM steps s LEFT JOIN runs r USING (run) WHERE r.status <> 'complete'") == [
            (0,)
        ]
        assert ask(out, "SELECT count(*) > 0 FROM steps") == [(True,)]


def test_row_groups_leave_as_they_fill_and_hold_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = copied(tmp_path / "tree", *NAMES)
    build(tree, tmp_path / "whole")
    monkeypatch.setattr(parts, "_HELD_BYTES", 2000)
    monkeypatch.setattr(parts, "_OPEN_FILES", 2)
    build(tree, tmp_path / "small")
    assert len(files(tmp_path / "small")) > len(files(tmp_path / "whole"))
    assert rows(tmp_path / "small") == rows(tmp_path / "whole")


def test_long_texts_stand_once(tmp_path: Path) -> None:
    tree, out, long = tmp_path / "tree", tmp_path / "out", "long " * 1000
    for number in range(4):
        one(tree / f"a{number}", long)
    build(tree, out, batch=2)
    digest = hashlib.sha256(long.encode()).hexdigest()
    assert ask(out, "SELECT sha256, bytes, text FROM texts") == [(digest, 5000, long)]
    told = ask(out, "SELECT DISTINCT text, text_sha256, text_bytes FROM messages WHERE direction = 'output'")
    assert told == [(None, digest, 5000)]
    assert ask(out, "SELECT DISTINCT text_of(text, text_sha256) FROM messages WHERE direction = 'output'") == [(long,)]


def test_compacting_changes_no_row_and_leaves_few_files(tmp_path: Path) -> None:
    tree, out = copied(tmp_path / "tree", *NAMES), tmp_path / "out"
    for number in range(3):
        one(tree / f"long{number}", "long " * 1000)
    build(tree, out, batch=1)
    before, count = rows(out), len(files(out))
    assert compact(Folder(out)) == (count, len(files(out)))
    assert len(files(out)) == len({name.rpartition("/")[0] for name in files(out)}) < count / 2
    assert rows(out) == before
    assert len(list((out / "texts").iterdir())) == 1
    assert build(tree, out).waiting == 0
    shutil.rmtree(tree / "long0")
    one(tree / "long0", "short")
    build(tree, out)
    assert ask(out, "SELECT count(*) FROM runs") == [(7,)]


def test_compacting_drops_texts_that_no_row_names(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    one(tree / "a", "first " * 1000)
    build(tree, out)
    shutil.rmtree(tree / "a")
    one(tree / "a", "second " * 1000)
    build(tree, out)
    assert ask(out, "SELECT count(*) FROM texts") == [(2,)]
    compact(Folder(out))
    assert ask(out, "SELECT left(text, 6) FROM texts") == [("second",)]


def test_two_trees_become_one_data_set(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("first", "second"):
        fleet(tmp_path / name / "attempts", 2, text=name)
    build(tmp_path / "first" / "attempts", out, root="recv-1")
    fleet(tmp_path / "recv-1", 1)
    with pytest.raises(UsageError, match="another tree named 'recv-1'"):
        build(tmp_path / "recv-1", out)
    build(tmp_path / "second" / "attempts", out, root="recv-2")
    assert ask(out, "SELECT root, count(*) FROM runs GROUP BY 1 ORDER BY 1") == [("recv-1", 2), ("recv-2", 2)]


def test_one_file_with_many_conversations_is_many_runs(tmp_path: Path) -> None:
    from tests.bench.attempts import windowed_traces

    windowed_traces(tmp_path / "traces.json", runs=3, turns=2)
    build(tmp_path / "traces.json", tmp_path / "out")
    told = ask(tmp_path / "out", "SELECT attempt, model_calls FROM runs")
    assert told == [(".", 2)] * 3
    assert len(ask(tmp_path / "out", "SELECT DISTINCT conversation FROM runs")) == 3


def many_conversations(file: Path, count: int) -> Path:
    """A trace file of as many conversations, each one model call over ten days."""
    spans = [
        {
            "traceId": f"{number + 1:032x}",
            "spanId": f"{number + 1:016x}",
            "name": "chat",
            "startTimeUnixNano": str((1_779_000_000 + number % 10 * 86_400) * 10**9),
            "endTimeUnixNano": str((1_779_000_001 + number % 10 * 86_400) * 10**9),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
                {"key": "gen_ai.conversation.id", "value": {"stringValue": f"c{number}"}},
            ],
        }
        for number in range(count)
    ]
    file.write_bytes(dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + b"\n")
    return file


@pytest.mark.parametrize("jobs", [1, 2])
def test_conversations_of_one_file_are_shared_out_and_the_files_are_the_same(tmp_path: Path, jobs: int) -> None:
    file, alone = many_conversations(tmp_path / "traces.json", 150), tmp_path / "alone"
    built = build(file, tmp_path / "out", jobs=jobs)
    assert (built.done, built.failed) == (1, 0)
    names = {name.rpartition("/")[2].split("-")[-1] for name in files(tmp_path / "out") if name.startswith("runs/")}
    assert names == {"s00000.parquet", "s00001.parquet", "s00002.parquet"}
    build_path(file, output=alone)
    told = dict(ask(tmp_path / "out", "SELECT conversation, trajectory_sha256 FROM runs"))
    assert len(told) == 150
    assert told == {one.stem: hashlib.sha256(one.read_bytes()).hexdigest() for one in alone.iterdir()}
    build(file, tmp_path / "one", jobs=1)
    assert files(tmp_path / "out") == files(tmp_path / "one")
    compact(Folder(tmp_path / "out"))
    assert dict(ask(tmp_path / "out", "SELECT conversation, trajectory_sha256 FROM runs")) == told


def test_a_share_that_does_not_end_takes_the_others_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, real = many_conversations(tmp_path / "traces.json", 150), rows_module.RunRows.begin

    def begin(self: rows_module.RunRows, header: Header) -> None:
        if self._conversation == "c100":
            raise KeyboardInterrupt
        real(self, header)

    monkeypatch.setattr(rows_module.RunRows, "begin", begin)
    with pytest.raises(KeyboardInterrupt):
        build(file, tmp_path / "out", jobs=1)
    assert files(tmp_path / "out") == {}
    monkeypatch.undo()
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert build(file, tmp_path / "out").done == 1
    assert not (tmp_path / "out" / "_scratch").exists()


def test_a_repeated_history_is_stored_once_and_can_be_laid_out_again(tmp_path: Path) -> None:
    tree, out = copied(tmp_path / "tree", NAMES[0]), tmp_path / "out"
    build(tree, out)
    told = ask(out, "SELECT step_id, message_ids, answer_id FROM steps ORDER BY 1")
    assert told == [(1, [1, 2], 3), (2, [1, 2, 4, 5, 6, 7], 8)]
    second = ask(
        out,
        "SELECT m.role, m.kind, m.text FROM steps s, unnest(s.message_ids) u(message_id)"
        " JOIN messages m ON m.run = s.run AND m.message_id = u.message_id WHERE s.step_id = 2"
        " ORDER BY list_position(s.message_ids, m.message_id), m.part",
    )
    assert second[:4] == [
        ("system", "text", "You are LEAD, a careful workspace agent."),
        ("user", "text", "Look up a and b, read notes.txt."),
        ("assistant", "text", "Three lookups."),
        ("assistant", "tool_call", '{"key":"a"}'),
    ]
    assert second[-1] == ("tool", "tool_result", "alpha\nbeta\ngamma\n")


def test_what_is_no_data_set_is_said(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 1), tmp_path / "out"
    with pytest.raises(UsageError, match="no data set"):
        ask(out, "SELECT 1")
    with pytest.raises(UsageError, match="no data set"):
        compact(Folder(out))
    with pytest.raises(UsageError, match="no engine"):
        build(tree, out, engine="slurm")
    with pytest.raises(EvidenceError, match="there is no"):
        build(tmp_path / "nowhere", out)
    build(tree, out)
    with pytest.raises(UsageError, match=r"DuckDB: .*no_such_table"):
        ask(out, "SELECT * FROM no_such_table")
    with pytest.raises(UsageError, match="disabled by configuration"):
        ask(out, f"SELECT * FROM read_text('{FIXTURES.parent / 'README.md'}')")
    about = loads((out / "_dataset.json").read_bytes())
    assert isinstance(about, dict)
    assert set(about["tables"]) == {*TABLES, TEXTS}
    (out / "_dataset.json").write_text('{"schema": "otel2traj.dataset.v0", "roots": {}}')
    with pytest.raises(UsageError, match=r"otel2traj\.dataset\.v0"):
        build(tree, out)


def test_a_data_set_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    tree, out = fleet(tmp_path / "tree", 1), tmp_path / "out"
    build(tree, out)
    with (out / "_lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RefusedError, match="written by another process"):
            build(tree, out)


def test_what_a_receiver_writes_is_one_attempt_a_folder(tmp_path: Path) -> None:
    from tests.bench.attempts import windowed_traces

    for number in range(2):
        folder = tmp_path / "attempts" / f"demo-{number}"
        folder.mkdir(parents=True)
        windowed_traces(folder / "otel.jsonl", runs=1, turns=number + 1)
        (folder / "trajectory.json").write_text("{}")
    done = build(tmp_path / "attempts", tmp_path / "out")
    assert (done.found, done.failed) == (2, 0)
    assert ask(tmp_path / "out", "SELECT attempt, model_calls FROM runs ORDER BY 1") == [("demo-0", 1), ("demo-1", 2)]
    (tmp_path / "attempts" / "demo-0" / "trajectory.json").write_text("[]")
    assert build(tmp_path / "attempts", tmp_path / "out").waiting == 0
