"""`otel2traj receive`: an OTLP endpoint that turns what arrives into attempts and trajectories."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError

if TYPE_CHECKING:
    from ..capture.receiver import Bound


def register(app: typer.Typer) -> None:
    app.command("receive")(receive)


def receive(
    out: Annotated[Path | None, typer.Option("--out", help="Directory for the log and the attempts.")] = None,
    http_port: Annotated[
        int, typer.Option(min=-1, max=65535, help="OTLP/HTTP port; 0 takes any free one, -1 serves no HTTP.")
    ] = 4318,
    grpc_port: Annotated[
        int, typer.Option(min=-1, max=65535, help="OTLP/gRPC port; 0 takes any free one, -1 serves no gRPC.")
    ] = 4317,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(envvar="OTEL2TRAJ_TOKEN", help="Bearer token every request must carry.")
    ] = None,
    auth_file: Annotated[
        Path | None, typer.Option(help="File of bearer tokens, one a line; read again on SIGHUP.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Private key (PEM).")] = None,
    client_ca: Annotated[Path | None, typer.Option(help="Ask clients for a certificate of this CA (PEM).")] = None,
    allow_open: Annotated[
        bool, typer.Option("--allow-open", help="Let other machines send without a token and TLS.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Further name in Host to answer to on the loopback; may be repeated.")
    ] = None,
    cors: Annotated[list[str] | None, typer.Option(help="Origin that browsers may send from; may be repeated.")] = None,
    build_after: Annotated[
        float, typer.Option(help="Seconds without news after which an attempt is built; negative: on SIGHUP only.")
    ] = 10.0,
    max_body: Annotated[int, typer.Option(help="Largest body, on the wire and inflated (MiB).")] = 64,
    keep: Annotated[
        str | None, typer.Option(help="Retention: an age (30d, 12h, 2w) or a size (100GB); what is unbuilt stays.")
    ] = None,
    drain_seconds: Annotated[float, typer.Option(help="How long a stop may take to derive what is left.")] = 300.0,
    log_format: Annotated[str, typer.Option(help="Remarks as text, or as one JSON object a line: text or json.")] = (
        "text"
    ),
    check: Annotated[
        Path | None, typer.Option("--check", help="Read the whole log of this directory instead, and tell of damage.")
    ] = None,
    list_: Annotated[
        Path | None, typer.Option("--list", help="List the attempts of this directory instead, newest first.")
    ] = None,
    find: Annotated[str, typer.Option(help="With --list: only those with this in their id or folder.")] = "",
) -> None:
    """Receive OTLP traces, logs and metrics until interrupted. Addresses and remarks go to stderr.

    Example: otel2traj receive --out runs --keep 30d
    """
    if check is not None:
        raise typer.Exit(_check(check))
    if list_ is not None:
        raise typer.Exit(_list(list_, find))
    if out is None:
        raise UsageError("no directory for the log and the attempts", hint="give --out DIR")
    if log_format not in ("text", "json"):
        raise UsageError(f"{log_format!r} is no form of remarks", hint="give --log-format text or json")
    from ..api.receive import receive as run
    from ..capture.receiver import Settings
    from ..capture.retention import Keep

    settings = Settings(
        out=out,
        host=host,
        http_port=None if http_port < 0 else http_port,
        grpc_port=None if grpc_port < 0 else grpc_port,
        token=token,
        auth_file=auth_file,
        tls_cert=tls_cert,
        tls_key=tls_key,
        client_ca=client_ca,
        cors=tuple(cors or ()),
        allow_open=allow_open,
        allow_hosts=tuple(allow_host or ()),
        build_after=None if build_after < 0 else build_after,
        max_body=max_body << 20,
        keep=None if keep is None else Keep.parse(keep),
        drain_seconds=drain_seconds,
    )
    say = _say_json if log_format == "json" else _say
    raise typer.Exit(run(settings, say=say, ready=lambda bound: _ready(bound, say)))


def _say(text: str, /, event: str = "remark", level: str = "info", **what: Any) -> None:
    """For people: what only an onlooker wants is said where one looks on."""
    if level != "detail" or sys.stderr.isatty():
        _line(f"otel2traj: {text}")


def _say_json(text: str, /, event: str = "remark", level: str = "info", **what: Any) -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    level = "debug" if level == "detail" else level
    line = {"time": now, "level": level, "event": event, **{k: v for k, v in what.items() if k != "message"}}
    _line(json.dumps({**line, "message": text}, ensure_ascii=False))


def _line(text: str) -> None:
    """A line in one piece: threads speak at once, and `print` would write its end apart."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _ready(bound: Bound, say: Any) -> None:
    if bound.http is not None:
        say(f"OTLP/HTTP on {bound.http} (status page at {bound.http}/)", "listening", transport="http")
    if bound.grpc is not None:
        say(f"OTLP/gRPC on {bound.grpc}", "listening", transport="grpc")


def _check(root: Path) -> int:
    """0 when every record is whole and accounted for, 1 when not."""
    from ..api.receive import check_log

    found = check_log(root)
    typer.echo(
        f"{found.segments} segments, {found.records} records, {found.items} items, {found.bytes} bytes of bodies"
    )
    if found.endings is None:
        typer.echo("no readable state: nothing of it is derived, the next start derives all")
    else:
        ended = ", ".join(f"{count} {name}" for name, count in found.endings.items())
        typer.echo(f"read: {ended}; not read yet: {found.waiting}")
    if found.unaccounted:
        typer.echo(f"{found.unaccounted} records that were read ended nowhere")
    for segment, offset, length, items in found.damage:
        held = "an unknown number of items" if items is None else f"{items} items by its header"
        typer.echo(f"damage: {segment} @{offset}+{length}, {held}")
    typer.echo("the log is whole" if found.whole else f"{len(found.damage)} damaged records")
    return 0 if found.whole else 1


def _list(root: Path, find: str) -> int:
    """0; 1 when nothing matches."""
    from ..api.receive import list_attempts
    from ..renderers.safe import inline

    rows = list_attempts(root, find)
    for row in rows:
        state = (
            "no agent"
            if row.no_agent
            else "failed"
            if row.build_error is not None
            else "built"
            if row.built and row.built >= row.changed
            else "not built"
        )
        last = datetime.fromtimestamp(row.last_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
        typer.echo(f"{last}  {state:9}  {row.spans:7} spans  {row.logs:6} logs  {row.folder}  {inline(row.id)}")
    if not rows:
        typer.echo(f"no attempt has {find!r} in its id or folder" if find else "no attempt yet", err=True)
    return 0 if rows or not find else 1
