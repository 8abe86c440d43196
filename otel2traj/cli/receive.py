"""`otel2traj receive`: an OTLP endpoint that turns what arrives into attempts and trajectories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..capture.receiver import Bound


def register(app: typer.Typer) -> None:
    app.command("receive")(receive)


def receive(
    out: Annotated[Path, typer.Option("--out", help="Directory for the log and the attempts.")],
    http_port: Annotated[int, typer.Option(help="OTLP/HTTP port; 0 takes any free one, -1 serves no HTTP.")] = 4318,
    grpc_port: Annotated[int, typer.Option(help="OTLP/gRPC port; 0 takes any free one, -1 serves no gRPC.")] = 4317,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(envvar="OTEL2TRAJ_TOKEN", help="Bearer token every request must carry.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Private key (PEM).")] = None,
    client_ca: Annotated[Path | None, typer.Option(help="Ask clients for a certificate of this CA (PEM).")] = None,
    cors: Annotated[list[str] | None, typer.Option(help="Origin that browsers may send from; may be repeated.")] = None,
    build_after: Annotated[
        float, typer.Option(help="Seconds without news after which an attempt is built; negative: on SIGHUP only.")
    ] = 10.0,
    max_body: Annotated[int, typer.Option(help="Largest body, on the wire and inflated (MiB).")] = 64,
) -> None:
    """Receive OTLP traces, logs and metrics until interrupted. Addresses and remarks go to stderr."""
    from ..api.receive import receive as run
    from ..capture.receiver import Settings

    settings = Settings(
        out=out,
        host=host,
        http_port=None if http_port < 0 else http_port,
        grpc_port=None if grpc_port < 0 else grpc_port,
        token=token,
        tls_cert=tls_cert,
        tls_key=tls_key,
        client_ca=client_ca,
        cors=tuple(cors or ()),
        build_after=None if build_after < 0 else build_after,
        max_body=max_body << 20,
    )
    raise typer.Exit(run(settings, say=_say, ready=_ready))


def _say(text: str) -> None:
    print(f"otel2traj: {text}", file=sys.stderr, flush=True)


def _ready(bound: Bound) -> None:
    if bound.http is not None:
        _say(f"OTLP/HTTP on {bound.http} (status page at {bound.http}/)")
    if bound.grpc is not None:
        _say(f"OTLP/gRPC on {bound.grpc}")
