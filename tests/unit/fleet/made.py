"""Small fleets, and an engine without processes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel2traj.fleet.build import Progress, build_dataset
from otel2traj.fleet.place import Folder
from otel2traj.fleet.query import query
from otel2traj.fleet.trees import LocalTree
from tests.attempt_factory import AttemptFactory, chat_response

FIXTURES = Path(__file__).parents[3] / "fixtures" / "attempts"


def here(function: Callable[[Any], Any], tasks: Iterable[Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    """An engine in this process."""
    for task in tasks:
        try:
            yield task, function(task)
        except Exception as err:
            yield task, err


def fleet(root: Path, count: int, *, text: str = "hello") -> Path:
    """Attempts of one model call, whose answer is `text` and their number."""
    for number in range(count):
        one(root / f"a{number:03d}", f"{text} {number}")
    return root


def one(root: Path, text: str) -> Path:
    made = AttemptFactory(root).input("0001")
    return made.request("c1", 1).response("c1", 2, chat_response(text=text)).write()


def copied(root: Path, *names: str) -> Path:
    """Attempts of the fixtures."""
    for name in names:
        shutil.copytree(FIXTURES / name / "attempt", root / name, symlinks=True)
    return root


def build(tree: Path, out: Path, **options: Any) -> Progress:
    return build_dataset(LocalTree(tree), Folder(out), **options)


def ask(out: Path, sql: str) -> list[tuple[Any, ...]]:
    return list(query(Folder(out), sql).rows)


def files(out: Path) -> dict[str, bytes]:
    """Every Parquet file of a data set, with its bytes."""
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in sorted(out.rglob("*.parquet"))}


@dataclass(frozen=True)
class Deadly:
    """A tree with an attempt that ends every process that tries to read it."""

    inner: LocalTree
    attempt: str

    @property
    def location(self) -> str:
        return self.inner.location

    @property
    def name(self) -> str:
        return self.inner.name

    def attempts(self) -> Iterator[tuple[str, str]]:
        return self.inner.attempts()

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        with self.inner.local(attempt) as path:
            if attempt == self.attempt and (path / "deadly").exists():
                os._exit(9)
            yield path


@dataclass(frozen=True)
class Call:
    """A tool call and what ran for it: seconds of each execution, the answer, and whether that was an error."""

    name: str
    arguments: dict[str, Any]
    answer: str = "ok"
    seconds: tuple[float, ...] = (1.0,)
    failed: bool = False


@dataclass(frozen=True)
class Turn:
    """A model call: tokens in, of which cached, and out, and the calls it asked for; or the error it ended in."""

    tokens: int
    cached: int
    out: int
    calls: tuple[Call, ...] = ()
    error: str | None = None


def told(root: Path, day: str, agent: str, model: str, turns: list[Turn], status: str = "succeeded") -> Path:
    """A run, every turn ten seconds after the one before: the request at 0, its end at 2, the tools from 3 on."""
    step = root / "steps" / "0001"
    step.mkdir(parents=True)
    (root / "logs").mkdir()
    about = {"session_id": root.name, "agent_id": agent, "framework": "langgraph", "input": "do it"}
    (step / "request.json").write_text(json.dumps(about))
    (step / "input.json").write_text(json.dumps({"input_id": "in-1", "payload": "do it"}))
    (step / "result.json").write_text(json.dumps({"status": status}))
    (root / "run.json").write_text(json.dumps({"run_id": root.name, "agent_id": agent, "status": status}))
    history: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
    wire, framework = [], []

    def event(source: str, name: str, second: float, data: dict[str, Any]) -> str:
        stamp = f"{day}T10:{int(second) // 60:02d}:{second % 60:09.6f}+00:00"
        head = {"schema": "abb.observe.event.v1", "run_id": root.name, "source": source}
        return json.dumps({**head, "event": name, "timestamp": stamp, "data": data}) + "\n"

    for number, turn in enumerate(turns):
        at = 10.0 * number
        common = {"call_id": f"call_{number:032x}", "path": "/v1/chat/completions"}
        request = {**common, "payload": {"model": model, "messages": history}}
        wire.append(event("interceptor", "llm_request", at, request))
        if turn.error is not None:
            wire.append(event("interceptor", "llm_error", at + 2, {**common, "error": turn.error, "error_code": "cut"}))
            continue
        message: dict[str, Any] = {"role": "assistant", "content": None if turn.calls else "done"}
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": f"tc_{number}_{place}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for place, call in enumerate(turn.calls)
            ]
        usage = {"prompt_tokens": turn.tokens, "completion_tokens": turn.out, "total_tokens": turn.tokens + turn.out}
        payload = {
            "id": f"chatcmpl-{number}",
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if turn.calls else "stop"}],
            "usage": {**usage, "prompt_tokens_details": {"cached_tokens": turn.cached}},
        }
        wire.append(event("interceptor", "llm_response", at + 2, {**common, "status": 200, "payload": payload}))
        history = [*history, message]
        for place, call in enumerate(turn.calls):
            for go, seconds in enumerate(call.seconds):
                span = f"span-{number}-{place}-{go}"
                begun = {"span_id": span, "parent_span_id": None, "kind": "tool", "name": call.name, "metadata": {}}
                framework.append(
                    event("framework", "span_start", at + 3, {**begun, "input": json.dumps(call.arguments)})
                )
                result = {
                    "type": "tool",
                    "content": call.answer,
                    "name": call.name,
                    "tool_call_id": f"tc_{number}_{place}",
                }
                ended = {"span_id": span, "output": {**result, "status": "error" if call.failed else "success"}}
                framework.append(event("framework", "span_end", at + 3 + seconds, ended))
            history.append({"role": "tool", "tool_call_id": f"tc_{number}_{place}", "content": call.answer})
    (root / "logs" / "network.jsonl").write_text("".join(wire))
    (step / "framework.jsonl").write_text("".join(framework))
    return root
