"""The gRPC side: the same log, the same table of answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel2traj.capture.grpc_server import GrpcServer
from otel2traj.capture.intake import Intake, Tokens
from otel2traj.capture.layout import LOG
from otel2traj.capture.segments import Signal, records_from, segment_files
from otel2traj.capture.spool import Spool

from .requests import as_protobuf, log, logs, metrics, span, traces

PROTO = as_protobuf(traces(span()))
TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@contextmanager
def calling(root: Path, *, spool: Spool | None = None, **intake: Any) -> Iterator[Any]:
    spool = Spool(root / LOG, min_free=0) if spool is None else spool
    server = GrpcServer(Intake(spool, **intake), "127.0.0.1", 0)
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    channel = grpc.insecure_channel(f"127.0.0.1:{server.port}", options=options)

    def call(body: bytes, method: str = TRACES, **options: Any) -> bytes:
        return channel.unary_unary(method)(body, timeout=20, **options)  # type: ignore[no-any-return]

    try:
        yield call
    finally:
        channel.close()
        server.stop(0)
        spool.close()


def details(error: Any) -> status_pb2.Status:
    trailing = dict(error.trailing_metadata())
    return status_pb2.Status.FromString(trailing["grpc-status-details-bin"])


def test_every_service_stores_the_bytes_as_they_came(tmp_path: Path) -> None:
    sent = {
        Signal.TRACES: PROTO,
        Signal.LOGS: as_protobuf(logs(log())),
        Signal.METRICS: as_protobuf(metrics()),
    }
    with calling(tmp_path) as call:
        for kind, name in (
            (Signal.TRACES, "trace.v1.Trace"),
            (Signal.LOGS, "logs.v1.Logs"),
            (Signal.METRICS, "metrics.v1.Metrics"),
        ):
            assert call(sent[kind], f"/opentelemetry.proto.collector.{name}Service/Export") == b""
        assert call(PROTO, compression=grpc.Compression.Gzip) == b""
        assert call(b"") == b""
    with segment_files(tmp_path / LOG)[0].open("rb") as file:
        records = list(records_from(file, 0))[:-1]
    assert [record.body for record in records] == [*sent.values(), PROTO, b""]
    assert [record.items for record in records] == [1, 1, 1, 1, 0]


def test_a_body_that_cannot_be_read_is_invalid_argument(tmp_path: Path) -> None:
    with calling(tmp_path) as call, pytest.raises(grpc.RpcError) as caught:
        call(b"\xff\xff\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    detail = error_details_pb2.BadRequest()
    assert details(caught.value).details[0].Unpack(detail)
    assert detail.field_violations[0].field == "body"


def test_bad_spans_are_a_partial_success(tmp_path: Path) -> None:
    with calling(tmp_path) as call:
        answer = ExportTraceServiceResponse.FromString(call(as_protobuf(traces(span(), span("00" * 16)))))
    assert answer.partial_success.rejected_spans == 1


def test_a_failing_disk_is_unavailable_with_a_delay(tmp_path: Path) -> None:
    def write(fd: int, parts: Any) -> int:
        raise OSError(28, "No space left on device")

    with (
        calling(tmp_path, spool=Spool(tmp_path / LOG, min_free=0, write=write)) as call,
        pytest.raises(grpc.RpcError) as caught,
    ):
        call(PROTO)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    delay = error_details_pb2.RetryInfo()
    assert details(caught.value).details[0].Unpack(delay)
    assert delay.retry_delay.seconds >= 1


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    with calling(tmp_path, tokens=Tokens("s3cret")) as call:
        with pytest.raises(grpc.RpcError) as caught:
            call(PROTO)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert call(PROTO, metadata=(("authorization", "Bearer s3cret"),)) == b""


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_messages_over_the_usual_4_mib_pass_and_the_limit_holds(tmp_path: Path, compression: Any) -> None:
    big = as_protobuf(traces(span(text="x" * (6 << 20))))
    with calling(tmp_path, limit=8 << 20) as call:
        assert call(big, compression=compression) == b""
        with pytest.raises(grpc.RpcError) as caught:
            call(b"\0" * (9 << 20), compression=compression)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(caught.value.trailing_metadata() or ())
