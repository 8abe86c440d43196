"""Fleets on a real Ray: two worker processes of this machine, and two nodes by Ray's own test utilities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from otel2traj.fleet import engines
from otel2traj.fleet.build import build_dataset
from otel2traj.fleet.place import Folder
from otel2traj.fleet.trees import LocalTree
from tests.bench.fleet import generate
from tests.unit.fleet.made import Deadly, ask, build, files, here

pytestmark = pytest.mark.interop
ATTEMPTS, BATCH = 24, 2


@pytest.fixture
def ray() -> Iterator[Any]:
    found = pytest.importorskip("ray", exc_type=ImportError)
    pytest.importorskip("ray.data", exc_type=ImportError)
    yield found
    found.shutdown()


@dataclass(frozen=True)
class Watched(Deadly):
    """Notes the process and the node that each attempt is read in."""

    notes: Path = Path()

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        import os

        import ray

        if ray.is_initialized():
            (self.notes / f"{ray.get_runtime_context().get_node_id()} {os.getpid()}").touch()
        with Deadly.local(self, attempt) as path:
            yield path


def on_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Builds a fleet with an attempt in it that ends its process; (node, process) of all who worked."""
    tree, notes = tmp_path / "tree", tmp_path / "notes"
    generate(tree, ATTEMPTS)
    notes.mkdir()
    deadly = "05/attempt-000005"
    (tree / deadly / "deadly").write_text("")
    watched = Watched(LocalTree(tree), deadly, notes)
    done = build_dataset(watched, Folder(tmp_path / "out"), engine="ray", jobs=2, batch=BATCH)
    assert (done.done, done.failed) == (ATTEMPTS, 1)
    assert ask(tmp_path / "out", "SELECT attempt, error_type FROM runs WHERE status = 'failed'") == [
        (deadly, "ProcessDied")
    ]
    (tree / deadly / "deadly").unlink()
    done = build_dataset(watched, Folder(tmp_path / "out"), engine="ray", jobs=2, batch=BATCH)
    assert (done.done, done.failed) == (1, 0)
    monkeypatch.setitem(engines.ENGINES, "local", here)
    build(tree, tmp_path / "whole", batch=BATCH)
    sql = "SELECT * FROM steps ORDER BY run, step_id"
    assert ask(tmp_path / "out", sql) == ask(tmp_path / "whole", sql)
    assert len(files(tmp_path / "out")) > len(files(tmp_path / "whole")) - 8
    return [file.name.split() for file in notes.iterdir()]


def test_two_processes(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.init(num_cpus=2, logging_level="warning", log_to_driver=False)
    assert len({process for _, process in on_ray(tmp_path, monkeypatch)}) >= 2


def test_two_nodes(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, logging_level="warning", log_to_driver=False)
        assert len(ray.nodes()) == 2
        assert len({node for node, _ in on_ray(tmp_path, monkeypatch)}) == 2
    finally:
        ray.shutdown()
        cluster.shutdown()
