"""The HTTP side: who may send, when to try again, what browsers may do, and bodies that never end."""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from google.rpc import error_details_pb2, status_pb2

from otel2traj.capture.intake import Tokens
from otel2traj.capture.layout import LOG
from otel2traj.capture.segments import Content, Encoding, Signal, records_from, segment_files
from otel2traj.capture.spool import Spool

from .requests import as_json, as_protobuf, log, logs, metrics, span, traces
from .serving import serving

JSON = as_json(traces(span()))
PROTO = as_protobuf(traces(span()))


def test_the_body_is_stored_as_it_came(tmp_path: Path) -> None:
    packed = gzip.compress(PROTO)
    with serving(tmp_path) as served:
        assert served.post(packed, "protobuf", content_encoding="gzip").status == 200
        assert served.post(JSON).status == 200
    (path,) = segment_files(tmp_path / LOG)
    with path.open("rb") as file:
        first, second, _ = records_from(file, 0)
    assert (first.signal, first.content, first.encoding) == (Signal.TRACES, Content.PROTOBUF, Encoding.GZIP)
    assert (first.body, first.items) == (packed, 1)
    assert (second.content, second.encoding, second.body) == (Content.JSON, Encoding.IDENTITY, JSON)
    assert abs(second.received_ns - time.time_ns()) < 60e9


def test_a_token_is_asked_for_everywhere_but_health(tmp_path: Path) -> None:
    with serving(tmp_path, tokens=Tokens("s3cret")) as served:
        refused = served.post(JSON)
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert json.loads(refused.body)["code"] == 16
        assert served.post(JSON, authorization="Bearer wrong").status == 401
        assert served.post(JSON, authorization="Basic s3cret").status == 401
        assert served.post(JSON, authorization="Bearer s3cret").status == 200
        assert served.post(JSON, authorization="bearer s3cret").status == 200
        assert served.send("GET", "/").status == 401
        assert served.send("GET", "/metrics").status == 401
        assert served.send("GET", "/metrics", authorization="Bearer s3cret").status == 200
        assert served.send("GET", "/healthz").status == 200
    assert served.intake.figures.items["traces"] == 2


def test_a_failing_disk_is_503_with_retry_after_and_heals(tmp_path: Path) -> None:
    full = threading.Event()

    def write(fd: int, parts: Sequence[bytes]) -> int:
        if full.is_set():
            raise OSError(28, "No space left on device")
        return os.writev(fd, parts)

    spool = Spool(tmp_path / LOG, min_free=0, write=write, pause=0.05)
    with serving(tmp_path, spool=spool) as served:
        assert served.post(JSON).status == 200
        full.set()
        answer = served.post(PROTO, "protobuf")
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) >= 1
        status = status_pb2.Status.FromString(answer.body)
        assert status.code == 14
        detail = error_details_pb2.RetryInfo()
        assert status.details[0].Unpack(detail)
        assert detail.retry_delay.seconds >= 1
        assert json.loads(served.send("GET", "/healthz").body)["status"] == "refusing"
        full.clear()
        time.sleep(0.06)
        assert served.post(JSON).status == 200
        assert json.loads(served.send("GET", "/healthz").body) == {"status": "ok"}
    with segment_files(tmp_path / LOG)[0].open("rb") as file:
        assert [record.body for record in records_from(file, 0)] == [JSON]


def test_more_than_memory_is_set_aside_for_is_429(tmp_path: Path) -> None:
    with serving(tmp_path, limit=1 << 20) as served:
        served.intake.budget.used = (64 << 20) - 10
        answer = served.post(JSON)
        assert answer.status == 429
        assert answer.headers["retry-after"] == "1"
        assert json.loads(answer.body)["details"][0]["retryDelay"] == "1s"
        served.intake.budget.used = 0
        assert served.post(JSON).status == 200
        assert served.intake.budget.used == 0


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    with serving(tmp_path, limit=2048) as served:
        assert served.post(JSON + b" " * 1000).status == 200
        assert served.post(JSON + b" " * 3000).status == 413
        assert served.post(gzip.compress(JSON + b" " * 3000), content_encoding="gzip").status == 413
        assert served.intake.budget.used == 0


def test_a_body_that_never_ends_is_408(tmp_path: Path) -> None:
    with serving(tmp_path, app_options={"body_seconds": 0.2}) as served:
        with socket.create_connection(("127.0.0.1", served.port), 5) as sock:
            head = (
                "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            )
            sock.sendall(head.encode())
            assert sock.recv(1000).startswith(b"HTTP/1.1 408")
        assert served.intake.budget.used == 0


def test_a_client_that_leaves_holds_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with socket.create_connection(("127.0.0.1", served.port), 5) as sock:
            sock.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
            sock.sendall(b"Content-Length: 500000\r\n\r\n" + b" " * 100_000)
            time.sleep(0.1)
        end = time.monotonic() + 30
        while served.intake.budget.used and time.monotonic() < end:
            time.sleep(0.01)
        assert served.intake.budget.used == 0
        assert served.post(JSON).status == 200


def test_browsers_may_send_only_when_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert served.send("OPTIONS", "/v1/traces", origin="https://app.example").status == 405
        assert "access-control-allow-origin" not in served.post(JSON, origin="https://app.example").headers
    with serving(tmp_path / "open", app_options={"cors": ("https://app.example",)}) as served:
        asked = served.send(
            "OPTIONS",
            "/v1/traces",
            origin="https://app.example",
            access_control_request_headers="content-type,authorization",
        )
        assert asked.status == 204
        assert asked.headers["access-control-allow-origin"] == "https://app.example"
        assert asked.headers["access-control-allow-headers"] == "content-type,authorization"
        assert served.post(JSON, origin="https://app.example").headers["access-control-allow-origin"]
        other = served.send("OPTIONS", "/v1/traces", origin="https://other.example")
        assert other.status == 405
        assert "access-control-allow-origin" not in other.headers


def test_pages_take_get_and_head_only(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert served.send("HEAD", "/healthz").body == b""
        answer = served.send("POST", "/metrics", b"")
        assert answer.status == 405
        assert answer.headers["allow"] == "GET, HEAD"


def test_fuzzed_requests_never_give_a_500(tmp_path: Path) -> None:
    rng = random.Random(7)
    seeds = [
        (path, kind, body)
        for path, request in (
            ("/v1/traces", traces(span(session__id="s"))),
            ("/v1/logs", logs(log())),
            ("/v1/metrics", metrics("m")),
        )
        for kind, body in (("json", as_json(request)), ("protobuf", as_protobuf(request)))
    ]
    statuses = set()
    with serving(tmp_path) as served:
        for _ in range(600):
            path, kind, body = rng.choice(seeds)
            damaged = bytearray(body)
            for _ in range(rng.randint(1, 5)):
                at = rng.randrange(len(damaged))
                damaged[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
                damaged = damaged or bytearray(b"x")
            headers = {} if rng.random() < 0.7 else {"content_encoding": rng.choice(["gzip", "deflate", "zstd", "x"])}
            sent = bytes(damaged)
            if headers.get("content_encoding") == "gzip" and rng.random() < 0.7:
                sent = gzip.compress(sent)
            statuses.add(served.post(sent, kind, path, **headers).status)
    assert statuses <= {200, 400, 415}
    assert {200, 400} <= statuses


@pytest.mark.parametrize("path", ["/v1/traces", "/", "/healthz", "/nowhere"])
def test_no_answer_names_the_server(tmp_path: Path, path: str) -> None:
    with serving(tmp_path) as served:
        assert "server" not in served.send("GET", path).headers


def test_a_slow_look_at_one_body_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as served:
        looking, go_on = threading.Event(), threading.Event()
        real = served.intake.check_tolerantly

        def slowly(*arguments: object) -> object:
            looking.set()
            go_on.wait(10)
            return real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(served.intake, "check_tolerantly", slowly)
        odd = JSON.replace(b"resourceSpans", b"resource_spans") + b" " * 100_000
        statuses: list[int] = []
        slow = threading.Thread(target=lambda: statuses.append(served.post(odd).status))
        slow.start()
        assert looking.wait(5)
        assert served.post(JSON).status == 200
        go_on.set()
        slow.join(10)
        assert statuses == [200]
