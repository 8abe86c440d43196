"""What came through the receiver, shuffled, late, in parts and twice, gives the steps that the file at rest gives."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.receive import build_attempt
from otel2traj.capture.derive import Deriver
from otel2traj.capture.layout import ATTEMPTS, LOG
from otel2traj.capture.segments import Content, Encoding, Signal
from otel2traj.capture.spool import Spool
from tests.conftest import ROOT

SIGNALS = {
    "otel.jsonl": (Signal.TRACES, "resourceSpans", "scopeSpans", "spans"),
    "otel-logs.jsonl": (Signal.LOGS, "resourceLogs", "scopeLogs", "logRecords"),
}
FOLDERS = sorted(
    {
        path.parent
        for path in (ROOT / "fixtures").glob("**/otel*.jsonl")
        if path.name in SIGNALS and SIGNALS[path.name][1].encode() in path.read_bytes()
    }
)


def items(path: Path) -> Iterator[dict[str, Any]]:
    """One request for each item of a file."""
    _, outer, middle, inner = SIGNALS[path.name]
    for line in path.read_bytes().splitlines():
        try:
            request = json.loads(line)
        except ValueError:
            continue
        for resource in request.get(outer, ()):
            for scope in resource.get(middle, ()):
                for item in scope.get(inner, ()):
                    yield {outer: [{**resource, middle: [{**scope, inner: [item]}]}]}


def steps(paths: list[Path]) -> list[str]:
    """Every step of trajectories, without what says where its records lie and which number it has."""
    out = []
    for path in paths:
        document = json.loads(path.read_bytes())
        out += [json.dumps(told(step), sort_keys=True) for step in document["steps"]]
    return sorted(out)


WHERE = ("evidence", "records", "step_id", "input_ordinal", "input_id", "run_id", "attempt_id", "sources")


def told(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items() if key not in WHERE}
    return [told(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT / "fixtures")))
def test_live_equals_offline(folder: Path, tmp_path: Path) -> None:
    offline, live = tmp_path / "offline", tmp_path / "live"
    offline.mkdir()
    for name in SIGNALS:
        if (folder / name).is_file():
            (offline / name).write_bytes((folder / name).read_bytes())
    build_path(offline, write=True)
    chance = random.Random(str(folder.relative_to(ROOT)))
    sent = [(SIGNALS[path.name][0], item) for path in sorted(offline.glob("otel*.jsonl")) for item in items(path)]
    chance.shuffle(sent)
    sent += chance.sample(sent, len(sent) // 4)  # again, in bodies of their own
    deriver = Deriver(live, lambda path: str(build_attempt(path)), 0.0)
    for part in (sent[: len(sent) // 2], sent[len(sent) // 2 :]):
        spool = Spool(live / LOG, min_free=0, sync=False)
        for signal, item in part:
            spool.append_and_wait(signal, Content.JSON, Encoding.IDENTITY, 1, json.dumps(item).encode())
        spool.close()
        deriver.router.drain()
        deriver.build_all()
    deriver.close()
    assert steps(sorted((live / ATTEMPTS).glob("*/trajectory*.json"))) == steps(
        sorted(offline.glob("trajectory*.json"))
    )
