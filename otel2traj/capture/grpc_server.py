"""OTLP over gRPC: raw request bytes into the log, answers by the table of `outcome`.

The synchronous server with a generic handler: no deserializer, so the bytes are stored as they came.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import grpc  # type: ignore[import-untyped]

from .intake import Intake
from .outcome import Outcome, Refusal, rpc_status, success_body
from .segments import Content, Encoding, Signal
from .spool import Busy

SERVICES: Final = {
    "opentelemetry.proto.collector.trace.v1.TraceService": Signal.TRACES,
    "opentelemetry.proto.collector.logs.v1.LogsService": Signal.LOGS,
    "opentelemetry.proto.collector.metrics.v1.MetricsService": Signal.METRICS,
}
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_log = logging.getLogger("otel2traj.receiver")


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM bytes. `client_ca` asks every client for a certificate signed by it."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None


class GrpcServer:
    """A started server. `port` is the one bound; streams of one connection are bounded, so that a client waits instead
    of filling memory."""

    def __init__(self, intake: Intake, host: str, port: int, *, tls: Tls | None = None, workers: int = 8) -> None:
        self._intake = intake
        self._server = grpc.server(
            ThreadPoolExecutor(workers, thread_name_prefix="otel2traj-grpc"),
            options=[
                ("grpc.max_receive_message_length", intake.limit),
                ("grpc.max_send_message_length", 4 << 20),
                ("grpc.max_concurrent_streams", 16),
                ("grpc.max_metadata_size", 64 << 10),
                ("grpc.http2.bdp_probe", 0),
                ("grpc.so_reuseport", 0),
            ],
        )
        self._server.add_generic_rpc_handlers(tuple(self._handler(name, signal) for name, signal in SERVICES.items()))
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if tls is None:
            self.port = self._server.add_insecure_port(address)
        else:
            credentials = grpc.ssl_server_credentials(
                [(tls.key, tls.certificate)], tls.client_ca, require_client_auth=tls.client_ca is not None
            )
            self.port = self._server.add_secure_port(address, credentials)
        self._server.start()

    def stop(self, grace: float) -> None:
        """Refuse new calls, give running ones `grace` seconds."""
        self._server.stop(grace).wait(grace + 5)

    def _handler(self, service: str, signal: Signal) -> Any:
        def export(requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
            return self._export(signal, requests, context)

        # As a stream of one message, which is the same on the wire: the message is read when it is asked for, after
        # the token was looked at, and no more messages are inflated at once than there are workers.
        return grpc.method_handlers_generic_handler(service, {"Export": grpc.stream_unary_rpc_method_handler(export)})

    def _export(self, signal: Signal, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        intake = self._intake
        held = 0
        try:
            metadata = dict(context.invocation_metadata())
            authorization = metadata.get("authorization", "")
            intake.tokens.allow(authorization.encode() if isinstance(authorization, str) else authorization)
            request = next(requests, None)
            if request is None:
                raise Refusal(Outcome.BAD_BODY, "the call holds no request")
            intake.budget.take(len(request))
            held = len(request)
            checked = intake.check(signal, Content.PROTOBUF, request)
            try:
                intake.spool.append_and_wait(signal, Content.PROTOBUF, Encoding.IDENTITY, checked.items, request)
            except Busy as busy:
                raise Refusal(Outcome.BUSY, str(busy), retry_after=busy.retry_after) from busy
        except Refusal as err:
            refusal = err
        except Exception:
            _log.exception("a call could not be handled")
            refusal = Refusal(Outcome.BUG, "the receiver failed")
        else:
            intake.figures.accepted(signal, checked, len(request))
            intake.figures.request("grpc", signal, Outcome.OK)
            return success_body(signal, Content.PROTOBUF, checked)
        finally:
            intake.budget.give_back(held)
        intake.figures.request("grpc", signal, refusal.outcome)
        context.set_trailing_metadata((("grpc-status-details-bin", rpc_status(refusal).SerializeToString()),))
        context.abort(_CODES[refusal.outcome.value.rpc], refusal.message)
        raise AssertionError("abort does not return")
