"""Every span of every fixture that says it is a model call or a tool stands behind a step, or a notice counts it.

Spans are listed from the JSON itself, and where they ended is read at the addresses that the trajectories name:
`python -m tests.properties.test_every_fixture_adds_up FOLDER...` does the same for any attempts and folders of traces.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.errors import Otel2TrajError
from otel2traj.model.trajectory import Trajectory
from tests.properties.test_every_record_ends_somewhere import addresses, built, counted

FIXTURES = Path(__file__).parents[2] / "fixtures"
KINDS = {
    "gen_ai.operation.name": {"chat", "text_completion", "generate_content", "execute_tool"},
    "openinference.span.kind": {"LLM", "TOOL"},
    "traceloop.span.kind": {"tool"},
}
"""How the conventions say what a span is."""
COUNTING = ("retold_call", "no_step")
"""Notices that count spans left aside."""

Id = tuple[str, str]


def spans(root: Path) -> Iterator[tuple[Id, dict[str, Any]]]:
    """Every span in the OTLP JSON files below a folder, with its attributes."""
    for path in sorted(root.rglob("otel*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                document = json.loads(line)
            except ValueError:
                continue  # a damaged line is the matter of the readers
            for resource in document.get("resourceSpans") or ():
                for scope in resource.get("scopeSpans") or ():
                    for span in scope.get("spans") or ():
                        told = {a["key"]: next(iter(a["value"].values()), None) for a in span.get("attributes") or ()}
                        yield (span["traceId"], span["spanId"]), told


def says_a_step(told: dict[str, Any]) -> bool:
    return any(told.get(key) in words for key, words in KINDS.items())


def named_spans(root: Path, found: list[Trajectory]) -> set[Id]:
    """Trace and span ids at every address that the trajectories name."""
    out: set[Id] = set()
    files: dict[str, bytes] = {}
    for trajectory in found:
        held = [step.evidence for step in trajectory.steps]
        held += [log.evidence for step in trajectory.steps for log in step.tool_logs]
        held += [item.extra.get("evidence", {}) for item in trajectory.summary.inputs]
        for _, path, offset, length in addresses(held):
            if Path(path).name.startswith("otel") and path.endswith(".jsonl"):
                data = files.setdefault(path, (root / path).read_bytes())
                record = json.loads(data[offset : offset + length])
                if "spanId" in record and "eventName" not in record:
                    out.add((record["traceId"], record["spanId"]))
    return out


def unaccounted(root: Path) -> tuple[list[Id], int]:
    """Spans that say they are steps and are nowhere, with how many the notices count."""
    found = built(root)
    named = named_spans(root, found)
    return (
        [key for key, told in dict(spans(root)).items() if says_a_step(told) and key not in named],
        sum(counted(found, code) for code in COUNTING),
    )


ROOTS = sorted(
    {path.parent for path in FIXTURES.glob("dialects/*/*/otel.jsonl")}
    | {path.parent for path in FIXTURES.glob("cli/*/otel.jsonl")}
    | {path for path in FIXTURES.glob("attempts/*/attempt") if not path.parent.name.startswith("abb-20")}
)


@pytest.mark.parametrize("root", ROOTS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_every_span_that_says_it_is_a_step(root: Path) -> None:
    missing, aside = unaccounted(root)
    assert len(missing) <= aside, missing


if __name__ == "__main__":
    for folder in map(Path, sys.argv[1:]):
        try:
            missing, aside = unaccounted(folder)
        except Otel2TrajError as err:
            print(f"{folder}: {err}")
            continue
        if len(missing) > aside:
            print(f"{folder}: {len(missing)} spans are nowhere, {aside} counted: {missing[:5]}")
