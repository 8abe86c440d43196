"""A scripted model server for tests: OpenAI chat completions, plain and streamed, on loopback.

A request that offers a tool gets one call of the first tool, then, once a tool result stands in the messages, a text.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TEXT = "Done: the tool answered."


class ModelServer:
    """Started as a context manager. `requests` are the bodies that came, `headers` what came with each."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.pause = 0.0
        self.break_off = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                number = len(outer.requests)
                message, finish = _answer(body, number)
                if body.get("stream"):
                    self._stream(body, message, finish, number)
                    return
                choice = {"index": 0, "message": message, "finish_reason": finish}
                self._json({**_base(body, number), "object": "chat.completion", "choices": [choice], "usage": _USAGE})

            def _json(self, value: dict[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, body: dict[str, Any], message: dict[str, Any], finish: str, number: int) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for index, call in enumerate(message.get("tool_calls") or []):
                    call["index"] = index
                base = {**_base(body, number), "object": "chat.completion.chunk"}
                frames = [
                    {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                    {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
                    {**base, "choices": [], "usage": _USAGE},
                ]
                for frame in frames:
                    self._chunk(f"data: {json.dumps(frame)}\n\n".encode())
                    if outer.break_off:
                        self.close_connection = True
                        return
                    time.sleep(outer.pause)
                self._chunk(b"data: [DONE]\n\n")
                self.wfile.write(b"0\r\n\r\n")

            def _chunk(self, data: bytes) -> None:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()
        self._server.server_close()


_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _base(body: dict[str, Any], number: int) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number:04d}", "created": 1, "model": body.get("model")}


def _answer(body: dict[str, Any], number: int) -> tuple[dict[str, Any], str]:
    tools = body.get("tools") or []
    if not tools or any(message.get("role") == "tool" for message in body["messages"]):
        return {"role": "assistant", "content": TEXT}, "stop"
    function = tools[0]["function"]
    arguments = dict.fromkeys((function.get("parameters") or {}).get("properties") or {}, "a.txt")
    call = {"name": function["name"], "arguments": json.dumps(arguments)}
    called = {"id": f"call_{number:04d}", "type": "function", "function": call}
    return {"role": "assistant", "content": None, "tool_calls": [called]}, "tool_calls"
