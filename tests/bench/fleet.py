"""A fleet of generated attempts, built into a data set on some workers, killed now and then.

`python -m tests.bench.fleet FOLDER ATTEMPTS JOBS [KILLS]` prints time, rate and the driver's memory as it goes, and
what the data set holds. `python -m tests.bench.fleet FOLDER same` builds every attempt of it once more, one after the
other in one process and without a data set, and compares the bytes of each trajectory with those that the data set
names, then the files of the data set with those of a build that nobody killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from otel2traj.api.build import build_bytes
from otel2traj.api.runs import walk_attempts
from otel2traj.fleet.place import Folder
from otel2traj.fleet.query import query

_DAYS = 10


def generate(root: Path, count: int, start: int = 0) -> None:
    """`count` attempts of four model calls and three tool calls each, over ten days, always the same bytes."""
    for number in range(start, start + count):
        _attempt(root / f"{number % 100:02d}" / f"attempt-{number:06d}", number)


def _attempt(root: Path, number: int) -> None:
    step = root / "steps" / "0001"
    step.mkdir(parents=True)
    (root / "logs").mkdir()
    run = f"run-{number}"
    status = "failed" if number % 11 == 0 else "succeeded"
    asked = {"session_id": run, "agent_id": f"agent-{number % 3}", "framework": "langgraph", "input": f"task {number}"}
    (step / "request.json").write_text(json.dumps(asked))
    (step / "input.json").write_text(json.dumps({"input_id": f"in-{number}", "payload": f"task {number}"}))
    (step / "result.json").write_text(json.dumps({"status": status, "output": "done"}))
    (root / "run.json").write_text(json.dumps({"run_id": run, "agent_id": f"agent-{number % 3}", "status": status}))
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "You are careful. " * 100},
        {"role": "user", "content": f"task {number}"},
    ]
    wire, framework = [], []
    for turn in range(4):
        call, tool = f"call_{number:08x}{turn:024x}", f"tc_{number}_{turn}"
        last = turn == 3
        request = {"model": "gpt-4o-mini", "messages": history}
        message: dict[str, Any] = {"role": "assistant", "content": "done" if last else None}
        if not last:
            function = {"name": f"tool_{turn}", "arguments": json.dumps({"q": f"{number} {turn}"})}
            message["tool_calls"] = [{"id": tool, "type": "function", "function": function}]
        body = {
            "id": f"chatcmpl-{number}-{turn}",
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop" if last else "tool_calls"}],
            "usage": {"prompt_tokens": 400 + 100 * turn, "completion_tokens": 20, "total_tokens": 420 + 100 * turn},
        }
        common = {"call_id": call, "path": "/v1/chat/completions"}
        wire.append(_event(run, "interceptor", "llm_request", number, turn, 0, {**common, "payload": request}))
        wire.append(
            _event(run, "interceptor", "llm_response", number, turn, 200, {**common, "status": 200, "payload": body})
        )
        if not last:
            result = f"line {turn} of {number} " * 30
            span = f"span-{number}-{turn}"
            begun = {"span_id": span, "parent_span_id": None, "kind": "tool", "name": f"tool_{turn}", "metadata": {}}
            begun["input"] = json.dumps({"q": f"{number} {turn}"})
            answer = {"type": "tool", "content": result, "name": f"tool_{turn}", "tool_call_id": tool}
            ended = {"span_id": span, "output": {**answer, "status": "success"}}
            framework.append(_event(run, "framework", "span_start", number, turn, 300, begun))
            framework.append(_event(run, "framework", "span_end", number, turn, 400, ended))
            history = [*history, message, {"role": "tool", "tool_call_id": tool, "content": result}]
    (root / "logs" / "network.jsonl").write_text("".join(wire))
    (step / "framework.jsonl").write_text("".join(framework))


def _event(run: str, source: str, event: str, number: int, turn: int, ms: int, data: dict[str, Any]) -> str:
    stamp = f"2026-05-{number % _DAYS + 10}T10:00:{turn:02d}.{ms:03d}000+00:00"
    head = {"schema": "abb.observe.event.v1", "run_id": run, "source": source, "event": event, "timestamp": stamp}
    return json.dumps({**head, "data": data}) + "\n"


def driver(tree: Path, out: Path, jobs: int, batch: int = 64) -> subprocess.Popen[bytes]:
    """A build in a process group of its own."""
    command = [sys.executable, "-m", "otel2traj", "build", str(tree), "--dataset", str(out), "-j", str(jobs)]
    return subprocess.Popen(
        [*command, "--batch", str(batch)], start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a machine that goes away: the driver and its workers at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def committed(out: Path) -> int:
    """Parts with a record."""
    folder = out / "_parts"
    return sum(name.endswith(".json") for name in os.listdir(folder)) if folder.is_dir() else 0


def _memory(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "?"
    return next((line.split(":")[1].strip() for line in told.splitlines() if line.startswith("VmRSS")), "?")


def main(folder: Path, attempts: int, jobs: int, kills: int) -> None:
    tree, out = folder / "tree", folder / "out"
    if not tree.exists():
        generate(tree, attempts)
    shutil.rmtree(out, ignore_errors=True)
    parts = -(-attempts // 64)
    points = sorted(random.Random(20).sample(range(1, parts), kills))
    print(f"{attempts} attempts, {parts} parts, killed after {points}", flush=True)
    begun, last = time.monotonic(), 0
    while True:
        process = driver(tree, out, jobs)
        while process.poll() is None:
            time.sleep(1)
            done = committed(out)
            if points and done >= points[0]:
                kill(process)
                points.pop(0)
                print(f"{time.monotonic() - begun:7.1f} s killed with {done} parts", flush=True)
                break
            if done >= last + 20:
                last = done
                print(f"{time.monotonic() - begun:7.1f} s {done} parts, driver {_memory(process.pid)}", flush=True)
        else:
            break
    used = os.times()
    print(
        f"{time.monotonic() - begun:7.1f} s in all, exit {process.returncode}, children's CPU"
        f" {used.children_user + used.children_system:.0f} s (without those that were killed)"
    )
    size = sum(file.stat().st_size for file in out.rglob("*.parquet"))
    print(f"{sum(1 for _ in out.rglob('*.parquet'))} files, {size} bytes")


def same(folder: Path) -> None:
    """Ends with exit 1 where a trajectory or a file differs."""
    tree, out, whole = folder / "tree", folder / "out", folder / "whole"
    told = dict(query(Folder(out), "SELECT attempt, trajectory_sha256 FROM runs").rows)
    names = [path.relative_to(tree).as_posix() for path in walk_attempts(tree)]
    other = [name for name in names if hashlib.sha256(build_bytes(tree / name)).hexdigest() != told.get(name)]
    print(f"{len(names)} attempts, {len(told)} rows, {len(other)} trajectories differ", flush=True)
    shutil.rmtree(whole, ignore_errors=True)
    driver(tree, whole, 1).wait()
    mine, theirs = (
        {file.relative_to(place): hashlib.sha256(file.read_bytes()).digest() for file in place.rglob("*.parquet")}
        for place in (out, whole)
    )
    differ = [name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)]
    print(f"{len(mine)} files, {len(differ)} differ from those of a build that was not killed")
    sys.exit(1 if other or differ or len(names) != len(told) else 0)


if __name__ == "__main__":
    if sys.argv[2] == "same":
        same(Path(sys.argv[1]))
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
