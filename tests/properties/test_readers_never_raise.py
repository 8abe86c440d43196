"""Whatever the bytes, a build raises nothing but this project's own errors, and says what it skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel2traj.api.build import build_path
from otel2traj.model.evidence import Notice, Source, SourceKind
from otel2traj.readers.abb import AbbFile
from tests.attempt_factory import AttemptFactory, chat_response

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLACES = ["logs/network.jsonl", "steps/0001/framework.jsonl", "steps/0001/acp-events.jsonl", "steps/0001/otel.jsonl"]
DOCUMENTS = [
    "run.json",
    "case.json",
    "steps/0001/input.json",
    "steps/0001/result.json",
    "steps/0001/file-evidence.json",
]


def attempt_with(root: Path, place: str, data: bytes) -> Path:
    factory = AttemptFactory(root).input("0001")
    factory.request("call_a", 1).response("call_a", 2, chat_response(text="hi"))
    factory.write()
    file = root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return root


@quick
@given(st.sampled_from(PLACES + DOCUMENTS), st.binary(max_size=400))
def test_any_bytes_anywhere(tmp_path: Path, place: str, data: bytes) -> None:
    (built,) = build_path(attempt_with(tmp_path, place, data))
    if data.strip() and place in PLACES[:1]:
        assert built.failed or built.summary.warnings


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@quick
@given(
    st.sampled_from(["llm_request", "llm_response", "llm_error", "span_start", "span_end", "session_update", "span"]),
    st.dictionaries(
        st.sampled_from(
            ["call_id", "payload", "status", "span_id", "kind", "metadata", "output", "input", "update", "attributes"]
        ),
        json_values,
    ),
)
def test_any_values_in_the_envelope(tmp_path: Path, event: str, data: dict[str, object]) -> None:
    for place in PLACES:
        factory = AttemptFactory(tmp_path).input("0001")
        factory.event(place, event, 1, {"call_id": "c", "span_id": "s", "toolCallId": "t", **data})
        build_path(factory.write())


@quick
@given(st.data())
def test_mutated_real_records(tmp_path: Path, fixtures: Path, data: st.DataObject) -> None:
    real = fixtures / "attempts" / "abb-17a-acp" / "attempt"
    place = data.draw(
        st.sampled_from(["logs/network.jsonl", "steps/0001/framework.jsonl", "steps/0001/acp-events.jsonl"])
    )
    raw = bytearray((real / place).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=20))
    build_path(attempt_with(tmp_path, place, bytes(raw)))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"event": "llm_request", "data"', "unreadable_line"),
        (b"[" * 5000 + b"]" * 5000, "unreadable_line"),
        (b'{"event": "x", "data": {"a": NaN}}', "repaired_record"),
        (b'{"event": "x", "data": {"a": "\xff"}}', "repaired_record"),
        (b'{"event": "x", "data": {"a": "\\ud800"}}', "repaired_record"),
        (b'\xef\xbb\xbf{"event": "x", "data": {}}', "repaired_record"),
        (b'{"no": "event"}', "unreadable_line"),
        (b'"text"', "unreadable_line"),
    ],
)
def test_each_damage_has_its_notice_with_path_and_line(tmp_path: Path, line: bytes, code: str) -> None:
    file = tmp_path / "network.jsonl"
    file.write_bytes(b'{"event": "first", "data": {}}\n' + line + b'\n{"event": "last", "data": {}}\n')
    items = list(AbbFile(Source("network.jsonl", SourceKind.WIRE, file)).records())
    notices = [item for item in items if isinstance(item, Notice)]
    assert [(notice.code, notice.path, notice.line) for notice in notices] == [(code, "network.jsonl", 2)]
    events = [item.event for item in items if not isinstance(item, Notice)]
    assert (events[0], events[-1]) == ("first", "last")


def test_only_newline_ends_a_line(tmp_path: Path) -> None:
    file = tmp_path / "network.jsonl"
    text = "a\u2028b\u0085c\x0cd\re"
    file.write_bytes(
        f'{{"event": "x", "data": {{"t": "{text}"}}}}\n'.encode().replace(b"\r", b"\\r").replace(b"\x0c", b"\\f")
    )
    (record,) = AbbFile(Source("network.jsonl", SourceKind.WIRE, file)).records()
    assert not isinstance(record, Notice)
    assert record.data["t"] == text


def test_integers_keep_all_their_digits(tmp_path: Path) -> None:
    file = tmp_path / "network.jsonl"
    file.write_bytes(b'{"event": "x", "data": {"n": 123456789012345678901234567890}}\n')
    (record,) = AbbFile(Source("network.jsonl", SourceKind.WIRE, file)).records()
    assert not isinstance(record, Notice)
    assert record.data["n"] == 123456789012345678901234567890


def test_the_last_of_two_equal_keys_stands_and_the_loss_is_told(tmp_path: Path) -> None:
    file = tmp_path / "network.jsonl"
    file.write_bytes(b'{"event": "x", "data": {"n": 1, "n": 2}}\n')
    record, notice = AbbFile(Source("network.jsonl", SourceKind.WIRE, file)).records()
    assert not isinstance(record, Notice)
    assert record.data["n"] == 2
    assert isinstance(notice, Notice)
    assert (notice.code, notice.line, notice.lossy) == ("repeated_key", 1, True)
