"""Fleets in stores: the tree, the data set, or both behind URLs give what folders give."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from otel2traj.errors import UsageError
from otel2traj.fleet import engines
from otel2traj.fleet.build import build_dataset
from otel2traj.fleet.compact import compact
from otel2traj.fleet.places import place_of, tree_of
from otel2traj.fleet.query import query
from otel2traj.fleet.schema import TABLES, TEXTS
from tests.unit.fleet.made import build, fleet, here, one


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setitem(engines.ENGINES, "local", here)
    found = fsspec.filesystem("memory")
    found.store.clear()
    found.pseudo_dirs[:] = [""]
    yield found
    found.store.clear()


def rows(out: str) -> dict[str, list[tuple[Any, ...]]]:
    return {table: list(query(place_of(out), f"SELECT * FROM {table} ORDER BY ALL").rows) for table in (*TABLES, TEXTS)}


def test_a_data_set_in_a_store_is_that_of_a_folder(memory: Any, tmp_path: Path) -> None:
    tree = fleet(tmp_path / "lab", 5, text="long " * 300)
    memory.put(f"{tree}/", "/lab", recursive=True)
    done = build_dataset(tree_of("memory://lab"), place_of("memory://out/set"), batch=2)
    assert (done.found, done.done, done.failed) == (5, 5, 0)
    build(tree, tmp_path / "out", batch=2)
    assert rows("memory://out/set") == rows(str(tmp_path / "out"))
    ours = {
        key.removeprefix("/out/set/"): memory.cat_file(key) for key in memory.find("/out/set") if "_parts" not in key
    }
    theirs = {f.relative_to(tmp_path / "out").as_posix(): f.read_bytes() for f in (tmp_path / "out").rglob("*.parquet")}
    assert {name: data for name, data in ours.items() if name.endswith(".parquet")} == theirs


def test_only_what_changed_comes_again(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = fleet(tmp_path / "lab", 4)
    memory.put(f"{tree}/", "/lab", recursive=True)
    source, out = tree_of("memory://lab"), place_of("memory://out")
    build_dataset(source, out, batch=2)
    assert build_dataset(source, out, batch=2).waiting == 0
    memory.put(f"{one(tmp_path / 'new', 'changed')}/", "/lab/a001", recursive=True)
    fetched: list[str] = []
    real = type(memory).get_file

    def get_file(self: Any, path: str, *rest: Any, **options: Any) -> None:
        fetched.append(path.split("/")[2])
        real(self, path, *rest, **options)

    monkeypatch.setattr(type(memory), "get_file", get_file)
    assert build_dataset(source, out, batch=2).done == 1
    assert set(fetched) == {"a001"}
    told = list(query(out, "SELECT text FROM messages WHERE direction = 'output' ORDER BY 1").rows)
    assert told == [("changed",), ("hello 0",), ("hello 2",), ("hello 3",)]
    before = rows("memory://out")
    compact(out)
    assert rows("memory://out") == before


def test_an_archive_is_a_tree(memory: Any, tmp_path: Path) -> None:
    tree = fleet(tmp_path / "lab", 2)
    with zipfile.ZipFile(tmp_path / "lab.zip", "w") as archive:
        for file in sorted(tree.rglob("*")):
            if file.is_file():
                archive.write(file, "lab/" + file.relative_to(tree).as_posix())
    build(tree, tmp_path / "plain")
    for number, url in enumerate((f"zip://lab::{tmp_path / 'lab.zip'}", f"zip://::{tmp_path / 'lab.zip'}")):
        done = build_dataset(tree_of(url), place_of(str(tmp_path / f"out{number}")), root="lab")
        assert (done.found, done.failed) == (2, 0)
    assert rows(str(tmp_path / "out0")) == rows(str(tmp_path / "plain"))


def test_a_query_reads_nothing_else(memory: Any, tmp_path: Path) -> None:
    memory.put(f"{fleet(tmp_path / 'lab', 1)}/", "/lab", recursive=True)
    memory.pipe_file("/secret/x.csv", b"a\n1\n")
    build_dataset(tree_of("memory://lab"), place_of("memory://out"))
    with pytest.raises(UsageError, match="disabled by configuration"):
        list(query(place_of("memory://out"), "SELECT * FROM read_csv('memory://secret/x.csv')").rows)
    with pytest.raises(UsageError, match="disabled by configuration"):
        list(query(place_of("memory://out"), "SELECT * FROM read_text('/etc/hostname')").rows)
