"""A server for this machine alone."""

from __future__ import annotations

import http.client
import io
import shutil
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from otel2traj.canonical import loads
from otel2traj.errors import RefusedError, UsageError
from otel2traj.server.live_page import LiveRuns, ViewServer, fingerprint
from otel2traj.writers.trajectory import TrajectoryWriter
from tests.conftest import ROOT
from tests.factory import play, step, trajectory


def save(path: Path, count: int) -> None:
    out = io.BytesIO()
    play(trajectory(*(step(n) for n in range(1, count + 1))), TrajectoryWriter().sink(out))
    path.write_bytes(out.getvalue())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    save(tmp_path / "run.json", 2)
    runs = LiveRuns([tmp_path / "run.json"])
    runs.refresh()
    made = ViewServer(runs, every=0.05)
    thread = threading.Thread(target=made.run, args=(lambda text: None,), daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(10)
    assert not thread.is_alive()


def ask(server: ViewServer, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    out = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    connection.close()
    return out


def test_the_page_carries_its_policy_twice(server: ViewServer) -> None:
    status, headers, body = ask(server, "/")
    assert status == 200
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert b"connect-src 'self'" in body
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_another_name_for_this_machine_is_refused(server: ViewServer) -> None:
    """A page elsewhere can make its own name point here (DNS rebinding); it cannot make it ours."""
    port = urlsplit(server.url).port
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "127.0.0.1"):
        assert ask(server, "/state", Host=host)[0] == 421
    assert ask(server, "/state", Host=f"localhost:{port}")[0] == 200


def test_other_pages_cannot_ask(server: ViewServer) -> None:
    assert ask(server, "/state", Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "/state", Sec_Fetch_Site="same-site")[0] == 403
    assert ask(server, "/state", Sec_Fetch_Site="same-origin")[0] == 200


@pytest.mark.parametrize("path", ["/data/", "/data/a0", "/data/a9-index", "/data/a0-c99", "/data/a0-x0", "/data/a-1-index", "/data/a0-c-1", "/data/../etc/passwd", "/favicon.ico", "/data/a0-index?v=none"])  # fmt: skip  # noqa: E501
def test_other_names_are_not_there(server: ViewServer, path: str) -> None:
    assert ask(server, path)[0] == 404


def test_parts_come_by_name_and_version(server: ViewServer) -> None:
    state = loads(ask(server, "/state")[2])
    assert isinstance(state, dict)
    (run,) = state["runs"]
    index = loads(zlib.decompress(ask(server, f"/data/a0-index?v={run['version']}")[2]))
    assert isinstance(index, dict)
    assert len(index["steps"]) == run["steps"] == 2
    assert zlib.decompress(ask(server, "/data/a0-c0")[2]).startswith(b'{"f":0')


def test_only_loopback(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        with pytest.raises(RefusedError):
            ViewServer(LiveRuns([tmp_path]), host=host)
    with pytest.raises(UsageError):
        ViewServer(LiveRuns([tmp_path]), host="example.org")


def test_a_run_is_read_again_when_its_files_change_and_not_else(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    save(path, 2)
    runs = LiveRuns([path])
    assert runs.refresh()
    assert not runs.refresh()
    (before,) = runs.state()["runs"]
    save(path, 3)
    assert runs.refresh()
    (after,) = runs.state()["runs"]
    assert (before["steps"], after["steps"]) == (2, 3)
    assert runs.data("a0-index", before["version"]) is not None, "a page that is reading can go on"
    save(path, 4)
    runs.refresh()
    assert runs.data("a0-index", before["version"]) is None


def test_what_the_build_itself_writes_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "network.jsonl").write_bytes(b"{}\n")
    before = fingerprint(tmp_path)
    (tmp_path / "trajectory.json").write_bytes(b"{}")
    (tmp_path / "trajectory.json.tmp").write_bytes(b"{}")
    assert fingerprint(tmp_path) == before
    (tmp_path / "network.jsonl").write_bytes(b"{}\n{}\n")
    assert fingerprint(tmp_path) != before


def test_runs_come_while_the_server_looks(tmp_path: Path) -> None:
    (tmp_path / "receiver.lock").touch()
    runs = LiveRuns([tmp_path])
    assert not runs.refresh()
    assert runs.state()["runs"] == []
    trace = ROOT / "fixtures" / "attempts" / "langgraph-toolerror" / "attempt" / "steps" / "0001" / "otel.jsonl"
    (tmp_path / "attempts" / "thread-1").mkdir(parents=True)
    shutil.copy(trace, tmp_path / "attempts" / "thread-1")
    assert runs.refresh()
    (row,) = runs.state()["runs"]
    assert (row["label"], row["steps"], row["failures"]) == ("thread-1", 4, 2)


def test_a_run_that_cannot_be_read_yet_is_shown_as_such(tmp_path: Path) -> None:
    runs = LiveRuns([tmp_path / "later.json"])
    runs.refresh()
    (row,) = runs.state()["runs"]
    assert (row["status"], row["steps"]) == ("failed", 0)
