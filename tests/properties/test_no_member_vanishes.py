"""Every member of every recorded body is changed, one at a time, and what is read of the body changes with it."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel2traj.assembly.model_step import output_json
from otel2traj.canonical import dumps, loads
from otel2traj.providers import PROVIDERS
from otel2traj.providers.rest import FRAMES_LEFT_OUT
from otel2traj.providers.sse import frames
from tests.mutated import Place, changed, members, put

ROOT = Path(__file__).parents[2] / "fixtures" / "providers"
CASES = sorted(path.parent for path in ROOT.glob("*/*/response.json"))


def answer(name: str, payload: Any) -> bytes:
    got = PROVIDERS.get(name).response(payload)
    return dumps([output_json(got.output), got.response_id, got.complete, got.error])


def question(name: str, payload: Any) -> bytes:
    got = PROVIDERS.get(name).request(payload)
    return dumps([got.messages, got.system, got.tools, got.model, got.parameters])


def declared(name: str, at: Place) -> bool:
    """Whether the reference page says that the member is left out."""
    frame = re.sub(r"^/(events/)?\d+", "", "".join(f"/{step}" for step in at))
    return any(name == provider and re.search(pattern, frame) for provider, pattern, _ in FRAMES_LEFT_OUT)


def unchanged(name: str, payload: Any, ask: Callable[[str, Any], bytes], odd: bool) -> list[Place]:
    """The members that can be changed without a trace."""
    before = ask(name, payload)
    streamed = isinstance(payload, list) or (isinstance(payload, dict) and "events" in payload)
    out = []
    for at, value in members(payload):
        body = copy.deepcopy(payload)
        if at:
            put(body, at, {"odd": 1} if odd else changed(value))
            if ask(name, body) == before and not (streamed and declared(name, at)):
                out.append(at)
    return out


@pytest.mark.parametrize("odd", [False, True], ids=["another value", "another kind"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_every_member_of_a_body_is_told(case: Path, odd: bool) -> None:
    response = loads((case / "response.json").read_bytes())
    if isinstance(response, dict) and set(response) == {"text"}:
        response = {"events": frames(response)}
    assert unchanged(case.parent.name, response, answer, odd) == []
    assert unchanged(case.parent.name, loads((case / "request.json").read_bytes()), question, odd) == []


def test_an_unknown_member_is_told_wherever_it_stands() -> None:
    lost = []
    for case in CASES:
        name, payload = case.parent.name, loads((case / "response.json").read_bytes())
        before = answer(name, payload)
        first = 1 if isinstance(payload, dict) and ("events" in payload or "text" in payload) else 0
        holders = {place[:n] for place, _ in members(payload) for n in range(first, len(place))}
        for at in sorted(holders, key=str):
            body = copy.deepcopy(payload)
            node = body
            for key in at:
                node = node[key]
            if isinstance(node, dict) and not declared(name, (*at, "x_new")):
                node["x_new"] = "y"
                if answer(name, body) == before:
                    lost.append((case.parent.name, case.name, at))
    assert lost == []
