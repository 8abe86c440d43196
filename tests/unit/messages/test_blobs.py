"""Base64 becomes a line in every shape that holds any; nothing else is touched."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any

import pytest

from otel2traj.messages import Media, blob_line, fold
from tests.conftest import ROOT

CASES = {path.stem: path.read_text() for path in sorted((ROOT / "fixtures" / "messages").glob("*.json"))}
STARTS = ("iVBORw0KGgo", "UklGRiQA")
BYTES = b"\x89PNG\r\n\x1a\n" + bytes(range(70))
PNG = base64.b64encode(BYTES).decode()
LINE = f"image/png {len(BYTES)} bytes sha256 {sha256(BYTES).hexdigest()}"


@pytest.mark.parametrize("name", CASES)
def test_no_recorded_shape_keeps_its_base64(name: str) -> None:
    told = json.loads(CASES[name])
    shown = json.dumps(fold(told))
    assert not any(start in shown for start in STARTS)
    if not any(start in CASES[name] for start in STARTS):
        assert fold(told) is told


@pytest.mark.parametrize(
    "value",
    [
        f"data:image/png;base64,{PNG}",
        PNG,
        json.dumps([{"type": "image", "data": PNG, "mimeType": "image/png"}]),
        {"type": "blob", "mime_type": "image/png", "content": PNG},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"kwargs": {"deep": [{"image": f"see data:image/png;base64,{PNG} here"}]}},
    ],
)
def test_the_line_has_type_size_and_digest(value: Any) -> None:
    shown = json.dumps(fold(value))
    assert shown.count(LINE) == 1
    assert PNG[:20] not in shown


@pytest.mark.parametrize(
    "value",
    [
        "data: the word base64, and a path /9j/short",
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words of a page"}},
        {"type": "file", "mime_type": "text/plain", "data": "a sentence, which is no base64 at all."},
        {"data": PNG[11:40], "name": "x"},
        {"type": "image", "image_url": "https://example.org/a.png"},
        {"type": "text", "text": "x" * 4000},
        [1, 0.0, None, True, {"a": []}],
    ],
)
def test_what_is_no_blob_stands(value: Any) -> None:
    assert fold(value) is value


def test_base64_that_was_cut_is_told_as_cut() -> None:
    shown = fold(f"data:image/png;base64,{PNG[:-3]}")
    assert isinstance(shown, str)
    assert shown.startswith(f"[image/png cut, {len(PNG) - 3} characters of base64 sha256 ")


def test_media_without_data_say_where_they_lie() -> None:
    assert blob_line(Media("image", "image/jpeg", uri="https://example.org/a")) == "image/jpeg https://example.org/a"
    assert blob_line(Media("document", file_id="file-1")) == "document file file-1"


def test_depth_ends_quietly() -> None:
    deep: Any = PNG
    for _ in range(600):
        deep = [deep]
    assert isinstance(fold(deep), list)
