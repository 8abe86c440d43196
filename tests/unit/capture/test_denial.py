"""What a stranger sends to wear the receiver out: bombs, half heads, long heads, other names, no token."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import socket
import threading
import time
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
import zstandard

from otel2traj.capture import protocol
from otel2traj.capture.asgi import App
from otel2traj.capture.grpc_server import GrpcServer
from otel2traj.capture.intake import Budget, Intake, Tokens
from otel2traj.capture.layout import LOG
from otel2traj.capture.outcome import Refusal
from otel2traj.capture.segments import Signal
from otel2traj.capture.spool import Spool
from otel2traj.errors import UsageError

from .requests import as_json, as_protobuf, span, traces
from .serving import serving

JSON = as_json(traces(span()))
BOMB = zstandard.ZstdCompressor(level=3).compress(bytes(63 << 20))
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def test_small_bodies_that_inflate_much_are_bounded_together_and_others_are_answered(tmp_path: Path) -> None:
    assert len(BOMB) < 10_000
    answers: list[int] = []
    waits: list[float] = []

    def bomb(port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request(
            "POST", "/v1/traces", BOMB, {"Content-Type": "application/x-protobuf", "Content-Encoding": "zstd"}
        )
        answer = connection.getresponse()
        if answer.status == 429:
            assert answer.headers["Retry-After"]
        answers.append(answer.status)
        connection.close()

    with serving(tmp_path) as served:
        threads = [threading.Thread(target=bomb, args=(served.port,)) for _ in range(24)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            begin = time.monotonic()
            assert served.send("GET", "/healthz").status == 200
            waits.append(time.monotonic() - begin)
        for thread in threads:
            thread.join(60)
        assert served.intake.budget.used == 0
        assert served.intake.budget.peak <= 8 * served.intake.limit
    assert set(answers) <= {400, 429}
    assert 429 in answers
    assert max(waits) < 20


def test_a_body_that_inflates_over_what_is_done_at_once_is_taken(tmp_path: Path) -> None:
    body = as_json(traces(span(text="x" * 300_000)))
    with serving(tmp_path) as served:
        for encoding, packed in (("gzip", gzip.compress(body)), ("zstd", zstandard.compress(body))):
            assert served.post(packed, content_encoding=encoding).status == 200
        assert served.intake.budget.used == 0


def test_the_budget_is_one_for_all_threads() -> None:
    budget = Budget(1000)
    threads = [
        threading.Thread(target=lambda: [(budget.take(1), budget.give_back(1)) for _ in range(5000)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.used == 0
    with pytest.raises(Refusal):
        budget.take(1001)


def test_grpc_reads_no_message_before_it_knows_the_token(tmp_path: Path) -> None:
    spool = Spool(tmp_path / LOG, min_free=0)
    read: list[int] = []

    class Watching(Intake):
        def check(self, signal: Signal, content: Any, plain: bytes) -> Any:
            read.append(len(plain))
            return super().check(signal, content, plain)

    server = GrpcServer(Watching(spool, tokens=Tokens("s3cret")), "127.0.0.1", 0)
    asked = threading.Event()

    def slowly() -> Any:
        yield as_protobuf(traces(span(text="x" * 1_000_000)))
        asked.set()

    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.stream_unary(EXPORT)(slowly(), timeout=10)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert read == []
        call = channel.unary_unary(EXPORT)
        assert call(as_protobuf(traces(span())), timeout=10, metadata=(("authorization", "Bearer s3cret"),)) == b""
    server.stop(1)
    spool.close()
    assert len(read) == 1


def test_grpc_bodies_count_in_the_same_budget(tmp_path: Path) -> None:
    spool = Spool(tmp_path / LOG, min_free=0)
    intake = Intake(spool, limit=8 << 20)
    server = GrpcServer(intake, "127.0.0.1", 0)
    intake.budget.take((64 << 20) - 10)
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(EXPORT)(as_protobuf(traces(span())), timeout=10)
    server.stop(1)
    spool.close()
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert any(key == "grpc-status-details-bin" for key, _ in caught.value.trailing_metadata())


def test_a_head_that_is_too_long_is_431(tmp_path: Path) -> None:
    with serving(tmp_path) as served, socket.create_connection(("127.0.0.1", served.port), 10) as client:
        client.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n")
        client.sendall(b"x-a: " + b"y" * 70_000)  # just over the limit, so that nothing is left unread at the answer
        assert client.recv(1000).startswith(b"HTTP/1.1 431 ")
        assert served.post(JSON, x_long="y" * 70_000).status in (400, 431)
        assert served.post(JSON).status == 200


def test_half_a_head_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with serving(tmp_path) as served:
        for begin in (b"", b"POST /v1/traces HT"):
            with socket.create_connection(("127.0.0.1", served.port), 10) as client:
                client.sendall(begin)
                client.settimeout(5)
                answer = client.recv(1000)
                assert b" 408 " in answer
                assert client.recv(10) == b""
        kept = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        for _ in range(2):  # a connection that is kept and silent between requests is no half head
            kept.request("POST", "/v1/traces", JSON, {"Content-Type": "application/json"})
            answered = kept.getresponse()
            answered.read()
            assert answered.status == 200
            time.sleep(0.5)
        kept.close()


def test_connections_over_the_limit_are_sent_away(tmp_path: Path) -> None:
    class Few(protocol.BoundedProtocol):
        max_connections = 2

    async def run() -> list[bytes]:
        import uvicorn

        spool = Spool(tmp_path / LOG, min_free=0)
        app = App(Intake(spool))
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", http=Few)
        server = uvicorn.Server(config)
        sock = socket.create_server(("127.0.0.1", 0))
        task = asyncio.create_task(server.serve(sockets=[sock]))
        while not server.started:
            await asyncio.sleep(0.01)
        port = sock.getsockname()[1]
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        got = await asyncio.wait_for(reader.read(200), 5)
        for _, open_writer in [*held, (reader, writer)]:
            open_writer.close()
        server.should_exit = True
        await task
        spool.close()
        return [got]

    (answer,) = asyncio.run(run())
    assert b" 503 " in answer


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:4318", 200),
        ("[::1]:4318", 200),
        ("evil.example", 403),
        ("evil.example:4318", 403),
    ],
)
def test_on_the_loopback_only_its_own_names_are_answered(tmp_path: Path, host: str, status: int) -> None:
    options = {"hosts": ("127.0.0.1", "localhost", "[::1]")}
    with serving(tmp_path, app_options=options) as served:
        assert served.post(JSON, host=host).status == status
        assert served.send("GET", "/", host=host).status == status


def test_tokens_come_from_a_file_and_are_read_again(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    file.write_text("# two teams\nalpha\n\nbeta\n")
    tokens = Tokens(None, file)
    tokens.allow(b"Bearer alpha")
    tokens.allow(b"Bearer beta")
    file.write_text("gamma\n")
    assert tokens.reload() == 1
    with pytest.raises(Refusal):
        tokens.allow(b"Bearer alpha")
    file.write_text("# nobody\n")
    with pytest.raises(UsageError):
        tokens.reload()
    tokens.allow(b"Bearer gamma")  # what stood stays in force
    with pytest.raises(Refusal):
        tokens.allow(b"Bearer # nobody")
