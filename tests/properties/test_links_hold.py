"""Random small runs with a known truth: no stated exact link is ever wrong; what is missed is counted and printed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from tests.attempt_factory import model_span, otlp, span, tool_span

NAMES = ("read", "walk", "fs.read", "ask")


class Run:
    """Agents that call tools, nest, retry, start sub-agents and number their call ids anew for each answer. Every
    execution's result tells which call it answers, so that a link can be judged."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.spans: list[tuple[str, dict[str, Any]]] = []
        self.count = 0

    def add(self, scope: str, made: dict[str, Any]) -> None:
        self.spans.append((scope, made))

    def id(self) -> str:
        self.count += 1
        return f"{self.count:016x}"

    def agent(self, name: str, parent: str | None, depth: int) -> None:
        me = self.id()
        self.add(
            "lib",
            span(me, self.count, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}, parent=parent),
        )
        for _ in range(self.rng.randint(1, 3)):
            calls = [self._call(n) for n in range(self.rng.randint(1, 2))]
            told = self.id()
            self.add("lib", model_span(told, self.count, calls=[c[:3] for c in calls], parent=me))
            if self.rng.random() < 0.2:
                other = self.id()
                self.add("instrumentor", model_span(other, self.count, calls=[c[:3] for c in calls], parent=me))
            for call_id, tool, arguments in calls:
                self._execute(call_id, tool, arguments, me, depth)

    def _call(self, position: int) -> tuple[str, str, dict[str, Any]]:
        self.count += 1
        call_id = f"call_{position}" if self.rng.random() < 0.7 else f"call_{self.rng.getrandbits(64):016x}x"
        return call_id, self.rng.choice(NAMES), {"key": f"k{self.count}"}

    def _execute(self, call_id: str, tool: str, arguments: dict[str, Any], parent: str, depth: int) -> None:
        me = self.id()
        answer = f"answers {arguments['key']}"
        self.add(
            "lib", tool_span(me, self.count, tool, call_id=call_id, arguments=arguments, result=answer, parent=parent)
        )
        what = self.rng.random()
        if what < 0.15 and depth < 2:
            self.agent(f"sub{self.count}", me, depth + 1)
        elif what < 0.3:
            inner, name = self.id(), self.rng.choice((tool, "x." + tool, "other"))
            given = arguments if self.rng.random() < 0.3 else {"key": f"inner{self.count}"}
            self.add("lib", tool_span(inner, self.count, name, arguments=given, result=f"inner of {answer}", parent=me))
        elif what < 0.4:
            again = self.id()
            self.add(
                "lib",
                tool_span(again, self.count, tool, call_id=call_id, arguments=arguments, result=answer, parent=me),
            )


def written(root: Path, spans: list[tuple[str, dict[str, Any]]]) -> Path:
    path = root / "trace.jsonl"
    path.write_bytes(b"".join(otlp([made], scope).rstrip(b"\n") + b"\n" for scope, made in spans))
    return path


@pytest.mark.parametrize("loss", [0.0, 0.3, 0.5])
def test_no_stated_link_is_wrong(tmp_path: Path, loss: float) -> None:
    exact = missed = 0
    for seed in range(40):
        rng = random.Random(f"{loss} {seed}")
        run = Run(rng)
        run.agent("lead", None, 0)
        spans = [found for found in run.spans if rng.random() >= loss]
        if not spans:
            continue
        here = tmp_path / str(seed)
        here.mkdir()
        for step in load(written(here, spans)).steps:
            for log in step.tool_logs if step.kind == "model" else ():
                if log.link != "exact":
                    missed += 1
                    continue
                exact += 1
                assert isinstance(log.input_arguments, dict)
                assert log.outputs == f"answers {log.input_arguments['key']}", (seed, step.step_id, log)
                assert log.evidence["link_rule"]
                assert "contradicts" not in log.evidence["witness"].values()
    print(f"loss {loss:.0%}: {exact} exact links, none wrong; {missed} calls without one")
    assert exact > 10
