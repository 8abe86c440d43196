"""Random small runs as evidence: agents, calls and tools in any order and depth, with what goes wrong in real ones."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

NAMES = ("read", "walk", "fs.read")
RESULTS: tuple[Any, ...] = ("found", {"rows": [1, 2]}, [1, None], 0, "", True)


class RandomRun:
    """Spans by scope, log records and wire calls. No record is two records' copy unless it says so."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.spans: list[tuple[str, dict[str, Any]]] = []
        self.logs: list[dict[str, Any]] = []
        self.wire: list[tuple[str, str, dict[str, Any]]] = []
        self._count = 0
        self._ids: list[str] = []
        self._agent(None, 0)

    def _id(self) -> str:
        self._count += 1
        return f"{self._count:016x}"

    def _maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def _add(self, made: dict[str, Any], scope: str = "lib") -> str:
        if self._maybe(0.08):
            del made["endTimeUnixNano"]
        if self._maybe(0.1):
            made["status"] = {"code": 2, "message": "broken"}
        if self._maybe(0.05):
            made["parentSpanId"] = "f" * 16
        if self._maybe(0.05):
            made["traceId"] = "cd" * 16
        self.spans.append((scope, made))
        return str(made["spanId"])

    def _agent(self, parent: str | None, depth: int) -> None:
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self.rng.choice(("lead", "helper"))}
        me = self._add(span(self._id(), self._count, told, parent=parent))
        for _ in range(self.rng.randint(1, 3)):
            below = me
            if self._maybe(0.3):
                below = self._add(span(self._id(), self._count, {"http.request.method": "POST"}, parent=me))
            above = self._call(below, depth)
            for call_id, name, given in above:
                if self._maybe(0.8):
                    self._execute(call_id, name, given, me, depth)
        if self._maybe(0.3):
            self._execute(None, self.rng.choice(NAMES), {"key": self._count}, me, depth)

    def _call_id(self) -> str:
        if self._ids and self._maybe(0.1):
            return self.rng.choice(self._ids)
        self._ids.append(
            f"call_{self.rng.randint(0, 2)}" if self._maybe(0.3) else f"toolu_{self.rng.getrandbits(48):x}"
        )
        return self._ids[-1]

    def _call(self, parent: str, depth: int) -> list[tuple[str, str, Any]]:
        calls = [(self._call_id(), self.rng.choice(NAMES), {"key": self._count}) for _ in range(self.rng.randint(0, 2))]
        answer = f"resp-{self._count}" if self._maybe(0.5) else None
        text = "an answer" if self._maybe(0.4) else None
        told = calls if self._maybe(0.8) else None
        me = self._add(model_span(self._id(), self._count, calls=told, text=text, response_id=answer, parent=parent))
        if self._maybe(0.2):  # content capture is off
            made = self.spans[-1][1]
            made["attributes"] = [a for a in made["attributes"] if a["key"] != "gen_ai.output.messages"]
        if self._maybe(0.2):
            other = model_span(self._id(), self._count, calls=calls, text=text, response_id=answer, parent=parent)
            self._add(other, "instrumentor")
        if self._maybe(0.15):
            inner = model_span(self._id(), self._count, calls=calls, text=text, response_id=answer, parent=me)
            self._add(inner, self.rng.choice(("lib", "instrumentor")))
        if self._maybe(0.3):
            self._log(self.rng.choice((me, "e" * 16, None)), calls)
        if self._maybe(0.4):
            self._wire_call(self.rng.choice((me, parent, None)), answer, calls, text)
        return calls

    def _log(self, span_id: str | None, calls: list[tuple[str, str, Any]]) -> None:
        told = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
        body = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "tool_calls": told}}
        self._count += 1
        record: dict[str, Any] = {
            "timeUnixNano": str(1_779_962_400_000_000_000 + self._count),
            "eventName": "gen_ai.choice",
            "body": {"stringValue": json.dumps(body)},
            "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "openai"}}],
        }
        if span_id is not None or self._maybe(0.5):
            record["traceId"] = "ab" * 16
        if span_id is not None:
            record["spanId"] = span_id
        self.logs.append(record)

    def _wire_call(self, names: str | None, answer: str | None, calls: list[Any], text: str | None) -> None:
        call_id = f"w{self._count}"
        self.wire.append(("request", call_id, {"span": names}))
        what = self.rng.random()
        given = [(i, n, json.dumps(a)) for i, n, a in calls]
        payload = chat_response(answer or f"wire-{self._count}", text, given)
        if what < 0.7:
            self.wire.append(("response", call_id, {"payload": payload}))
        elif what < 0.8:
            self.wire.append(("response", call_id, {"payload": {"error": {"message": "slow down"}}, "status": 429}))
        elif what < 0.9:
            self.wire.append(("error", call_id, {}))

    def _execute(self, call_id: str | None, name: str, given: Any, parent: str, depth: int) -> None:
        shown = call_id if self._maybe(0.85) else None
        result = self.rng.choice(RESULTS)
        me = self._add(
            tool_span(self._id(), self._count, name, call_id=shown, arguments=given, result=result, parent=parent)
        )
        what = self.rng.random()
        if what < 0.15 and depth < 2:
            self._agent(me, depth + 1)
        elif what < 0.3:
            again = tool_span(self._id(), self._count, name, call_id=shown, arguments=given, parent=me)
            self._add(again, self.rng.choice(("lib", "instrumentor")))

    def files(self) -> dict[str, bytes]:
        """Spans and log records, one a line."""
        spans = b"".join(otlp([made], scope) + b"\n" for scope, made in self.spans)
        logs = b"".join(
            json.dumps({"resourceLogs": [{"scopeLogs": [{"scope": {"name": "lib"}, "logRecords": [log]}]}]}).encode()
            + b"\n"
            for log in self.logs
        )
        return {"otel.jsonl": spans, **({"otel-logs.jsonl": logs} if logs else {})}

    def bare(self, root: Path) -> Path:
        """A folder of traces."""
        root.mkdir()
        for name, data in self.files().items():
            (root / name).write_bytes(data)
        return root

    def attempt(self, root: Path) -> Path:
        """An attempt directory of one Input, with what the interceptor saw."""
        made = AttemptFactory(root).input("0001")
        made.line(made.wire_path, b'{"schema": "abb.observe.event.v1", "event": "started", "data": {}}')
        for number, (what, call_id, fields) in enumerate(self.wire):
            if what == "request":
                made.request(call_id, number, **fields)
            elif what == "response":
                made.response(call_id, number, **fields)
            else:
                made.error(call_id, number, "transport_error")
        made.write()
        for name, data in self.files().items():
            (root / "steps" / "0001" / name).write_bytes(data)
        return root
