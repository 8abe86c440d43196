"""Pictures and other blobs: one line in text and Markdown, no base64 in any view, the stored file untouched."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from otel2traj import load
from otel2traj.renderers.base import Mode
from otel2traj.renderers.bundle import BundleSink
from tests.factory import play, step, tool_log, trajectory
from tests.unit.renderers.helpers import render

BYTES = b"\x89PNG\r\n\x1a\n" + bytes(range(200)) * 30
PNG = base64.b64encode(BYTES).decode()
LINE = f"image/png {len(BYTES)} bytes sha256 {sha256(BYTES).hexdigest()}"
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}
BLOB = {"type": "blob", "mime_type": "image/png", "content": PNG}
SHOT = [{"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}]


def run() -> Any:
    asked = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]}]}
    log = tool_log("c1", "shoot", input_arguments={"image": PNG}, outputs=SHOT)
    return trajectory(step(1, log, input=asked), step(2, tool_log("c2", "shoot", outputs=json.dumps(SHOT))))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("name", ["text", "markdown"])
def test_a_view_holds_lines_and_no_base64(name: str, mode: Mode) -> None:
    shown = render(name, run(), mode=mode).replace("\\", "")
    assert PNG[:40] not in shown
    if mode is Mode.FULL:
        assert shown.count(LINE) == 4, "message, arguments, and both outputs"
        assert f"{LINE}, detail low\n" in shown
    if mode is Mode.TRUNCATE_MIDDLE:
        assert "left out of the middle" not in shown, "a picture makes no request long"


def test_json_lines_are_for_machines_and_whole() -> None:
    assert render("json", run()).count(PNG) == 5, "message, arguments twice, outputs"


def test_the_index_of_the_page_previews_no_base64() -> None:
    sink = BundleSink("run")
    play(run(), sink)
    assert PNG[:30] not in json.dumps(sink.bundle.index)


def test_long_outputs_and_arguments_are_shortened_too() -> None:
    long = "".join(f"line {n}\n" for n in range(900))
    what = trajectory(step(1, tool_log("c1", "cat", input_arguments={"text": long}, outputs=long)))
    shown = render("text", what, mode=Mode.TRUNCATE_MIDDLE)
    assert shown.count("[... truncated middle: ") == 2
    assert "line 450\n" not in shown
    assert "line 450\n" in render("text", what)


def _attributes(**said: str) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]


@pytest.mark.parametrize(
    "given",
    [
        {"gen_ai.input.messages": [{"role": "user", "parts": [BLOB]}]},
        {"input.value": {"contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}]}]}},
        {"input.value": {"messages": [{"role": "user", "content": [PICTURE]}]}},
        {"input.value": ["Look.", f"data:image/png;base64,{PNG}"]},
    ],
    ids=["blob", "inline data", "picture alone", "list of strings"],
)
def test_base64_is_no_prompt(tmp_path: Path, given: dict[str, Any]) -> None:
    base = {"traceId": "1" * 32, "kind": 1, "status": {}}
    times = {"startTimeUnixNano": "1790000000000000000", "endTimeUnixNano": "1790000001000000000"}
    said = {key: json.dumps(value) for key, value in given.items()}
    kind = {"gen_ai.operation.name": "invoke_agent", "openinference.span.kind": "AGENT", "gen_ai.agent.name": "a"}
    root = {**base, **times, "spanId": "1" * 16, "name": "invoke_agent a", "attributes": _attributes(**kind, **said)}
    chat = _attributes(**{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    call = {**base, **times, "spanId": "2" * 16, "parentSpanId": "1" * 16, "name": "chat m", "attributes": chat}
    file = tmp_path / "traces.json"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": [root, call]}]}]}))
    (item,) = load(file).summary.inputs
    assert PNG[:30] not in json.dumps(item.prompt)
    if "input.value" in given:
        assert LINE in item.prompt
