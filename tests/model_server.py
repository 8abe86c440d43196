"""A scripted model server for tests, plain and streamed, on loopback: the three APIs of `model_apis`."""

from __future__ import annotations

import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from .model_apis import TEXT, Script, called, first_tool

__all__ = ["TEXT", "ModelServer"]


class ModelServer:
    """Started as a context manager. `requests` are the bodies that came, `headers` what came with each; `tls` serves
    HTTPS."""

    def __init__(self, script: Script = first_tool, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.delay = 0.0
        self.pause = 0.0
        self.break_off = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                self._json({"object": "list", "data": [], "models": []})

            def do_POST(self) -> None:
                body = json.loads(self._body())
                found = called(urlsplit(self.path).path, body)
                if found is None:
                    self._json({"error": {"message": "no such API"}}, 404)
                    return
                api, model, stream = found
                outer.requests.append(body)
                outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                number = len(outer.requests)
                time.sleep(outer.delay)
                answer = script(api.tools(body), api.turn(body))
                if not stream:
                    self._json(api.whole(answer, model, number))
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for frame in api.frames(answer, model, number):
                    event = f"event: {frame['type']}\n" if "type" in frame else ""
                    self._chunk(f"{event}data: {json.dumps(frame)}\n\n".encode())
                    if outer.break_off:
                        self.close_connection = True
                        return
                    time.sleep(outer.pause)
                if api.done:
                    self._chunk(api.done)
                self.wfile.write(b"0\r\n\r\n")

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers["Content-Length"]))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def _json(self, value: dict[str, Any], status: int = 200) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _chunk(self, data: bytes) -> None:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.origin = f"http{'' if tls is None else 's'}://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.origin}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()
        self._server.server_close()
