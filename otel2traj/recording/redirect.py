"""A script that mitmdump loads in its own Python: every plain request goes to the recording's proxy, with its origin.

WebSockets and gRPC are left on their way: that proxy carries HTTP alone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

_HEADER = "x-otel2traj-upstream"
_port = int(os.environ["OTEL2TRAJ_RECORD_PORT"])
_ready = Path(os.environ["OTEL2TRAJ_RECORD_READY"])
_tasks: list[asyncio.Task[None]] = []
_token = os.environ["OTEL2TRAJ_RECORD_TOKEN"]


async def running() -> None:
    """Say which port was taken, and go when the recording is gone."""
    from mitmproxy import ctx  # type: ignore[import-not-found,unused-ignore]

    (address, *_) = ctx.master.addons.get("proxyserver").listen_addrs()
    temporary = _ready.with_name(f"{_ready.name}.tmp")
    temporary.write_text(str(address[1]), "ascii")
    temporary.replace(_ready)
    _tasks.append(asyncio.create_task(_go_with(os.getppid(), ctx.master)))


async def _go_with(parent: int, master: Any) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(1)
    shutil.rmtree(_ready.parent, ignore_errors=True)
    master.shutdown()


def requestheaders(flow: Any) -> None:
    request = flow.request
    grpc = request.headers.get("content-type", "").startswith("application/grpc")
    if request.headers.get("upgrade") or grpc:
        return
    host = f"[{request.pretty_host}]" if ":" in request.pretty_host else request.pretty_host
    request.headers[_HEADER] = f"{_token} {request.scheme}://{host}:{request.port}"
    request.host, request.port, request.scheme = "127.0.0.1", _port, "http"
    request.stream = True


def responseheaders(flow: Any) -> None:
    flow.response.stream = True
