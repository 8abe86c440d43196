"""Records become lines: by trace or by the attempt they name, the same from protobuf as from JSON."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj import dialects
from otel2traj.capture.claims import BY_TRACE, Claim, places
from otel2traj.capture.segments import Content, Signal
from otel2traj.capture.split import Piece, split
from otel2traj.errors import EvidenceError
from otel2traj.model.evidence import Source, SourceKind, SpanRecord
from otel2traj.readers import open_records

from .requests import SPAN, TRACE, as_json, as_protobuf, attribute, lines, log, logs, metrics, span, traces

OTHER = "11111111111111111111111111111111"
CASES = ["langgraph_og", "adk_v1", "vercel_v5_generate", "claude_code"]


def pieces(request: dict[str, Any], signal: Signal = Signal.TRACES) -> list[Piece]:
    """The pieces of a request, after a check that protobuf gives the same."""
    from_json = split(signal, Content.JSON, as_json(request)).pieces
    from_proto = split(signal, Content.PROTOBUF, as_protobuf(request)).pieces
    assert [(p.group, p.claim, p.items) for p in from_json] == [(p.group, p.claim, p.items) for p in from_proto]
    for one, other in zip(from_json, from_proto, strict=True):
        assert _plain(one.line) == _plain(other.line)
    return from_json


def _plain(line: bytes) -> Any:
    return _without_defaults(json.loads(line)) if line else None


def _without_defaults(value: Any) -> Any:
    """What protobuf cannot tell from absent is left out: empty text, zero and empty lists outside of values."""
    if isinstance(value, list):
        return [_without_defaults(item) for item in value]
    if isinstance(value, dict):
        out = {key: _without_defaults(item) for key, item in value.items()}
        return {key: item for key, item in out.items() if key.endswith("Value") or item not in ("", 0, "0", [], {})}
    return value


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_is_the_same_from_protobuf(fixtures: Path, case: str) -> None:
    for name, signal in (("otel.jsonl", Signal.TRACES), ("otel-logs.jsonl", Signal.LOGS)):
        path = fixtures / "capture" / case / name
        for line in lines(path) if path.exists() else ():
            assert pieces(line, signal)


@pytest.mark.parametrize("case", CASES)
def test_every_span_of_a_recorded_run_is_in_one_piece_letter_for_letter(fixtures: Path, case: str) -> None:
    for line in (fixtures / "capture" / case / "otel.jsonl").read_bytes().splitlines():
        found = split(Signal.TRACES, Content.JSON, line).pieces
        text = b"".join(piece.line for piece in found)
        spans = [s for r in json.loads(line)["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
        assert sum(piece.items for piece in found) == len(spans)
        for one in spans:
            assert text.count(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()) == 1


def test_spans_of_a_trace_stay_together_and_the_best_claim_wins() -> None:
    found = pieces(
        traces(
            span(own="0000000000000001"),
            span(own="0000000000000002", session__id="s-1"),
            span(own="0000000000000003", gen_ai__conversation__id="c-1"),
            span(OTHER, "0000000000000004"),
        )
    )
    assert [(p.group.trace, p.claim, p.items) for p in found] == [
        (TRACE, Claim(places()["gen_ai.conversation.id"].rank, "c-1"), 3),
        (OTHER, None, 1),
    ]


def test_a_span_that_names_its_attempt_goes_there_and_claims_its_trace() -> None:
    request = traces(
        span(own="0000000000000001", otel2traj__attempt__id="a"),
        span(own="0000000000000002", otel2traj__attempt__id="b"),
        span(own="0000000000000003"),
    )
    found = {p.group: (p.claim, p.items) for p in pieces(request)}
    assert {(g.trace, g.name): v for g, v in found.items()} == {
        (None, "a"): (Claim(0, "a"), 1),
        (None, "b"): (Claim(0, "b"), 1),
        (TRACE, None): (Claim(0, "a"), 1),
    }


def test_a_resource_speaks_for_its_spans_and_a_span_speaks_louder() -> None:
    request = traces(span(), resource={"abb.attempt_id": "of-resource"})
    assert {(p.group.name, p.items) for p in pieces(request)} == {("of-resource", 1), (None, 0)}
    request = traces(span(session__id="mine"), resource={"session.id": "of-resource"})
    assert pieces(request)[0].claim == Claim(places()["session.id"].rank, "mine")


def test_logs_without_a_trace_go_by_what_they_name() -> None:
    request = logs(log(session__id="s"), log(trace=TRACE), log())
    found = [(p.group.trace, p.group.name, p.items) for p in pieces(request, Signal.LOGS)]
    assert found == [(None, "s", 1), (TRACE, None, 1), (None, None, 1)]


def test_metrics_go_by_their_first_data_point() -> None:
    assert [(p.group.name, p.items) for p in pieces(metrics("s"), Signal.METRICS)] == [("s", 1)]
    assert [(p.group.name, p.items) for p in pieces(metrics(), Signal.METRICS)] == [(None, 1)]


def test_an_id_may_be_a_number_but_not_blank() -> None:
    request = traces(span())
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = [
        {"key": "session.id", "value": {"intValue": "42"}},
        attribute("gen_ai.conversation.id", "  "),
    ]
    assert pieces(request)[0].claim == Claim(places()["session.id"].rank, "42")
    assert all(place.rank <= BY_TRACE for place in places().values())


def test_scope_and_resource_stay_with_their_spans() -> None:
    first, second = traces(span()), traces(span(own="0000000000000009"), resource={"host": "h"})
    request = {"resourceSpans": first["resourceSpans"] + second["resourceSpans"]}
    (piece,) = pieces(request)
    made = json.loads(piece.line)["resourceSpans"]
    assert [len(r["scopeSpans"][0]["spans"]) for r in made] == [1, 1]
    assert made[1]["resource"]["attributes"][1]["key"] == "host"
    assert made[0]["scopeSpans"][0]["schemaUrl"] == "https://x/1"
    assert made[0]["scopeSpans"][0]["scope"]["name"] == "scope"


def test_unknown_json_fields_are_kept() -> None:
    body = as_json(traces(span()))
    body = body.replace(b'"kind":3', b'"kind":3,"future":{"a":1}').replace(
        b'"scopeSpans"', b'"tomorrow":7,"scopeSpans"'
    )
    line = split(Signal.TRACES, Content.JSON, body).pieces[0].line
    assert b'"future":{"a":1}' in line
    assert b'"tomorrow":7' in line


@pytest.mark.parametrize(
    ("change", "note", "expected"),
    [
        (
            (b'"attributes":[]', b'"attributes":[{"key":"k","value":{"doubleValue":null}}]'),
            "null-values",
            b'"value":{}',
        ),
        ((b'"chat"', b'"ch\xffat"'), "invalid-utf-8", "ch\ufffdat".encode()),
        ((b"resourceSpans", b"resource_spans"), "snake-case-keys", b'{"resourceSpans"'),
        ((b"scopeSpans", b"instrumentationLibrarySpans"), "old-scope-names", b'"scopeSpans"'),
        ((TRACE.encode(), b"CvdlGRbNQ92ESOshHIAxnA=="), "base64-ids", TRACE.encode()),
        (
            (b'"attributes":[]', b'"attributes":[{"key":"k","value":{"intValue":100000000000000000000}}]'),
            "integers-over-64-bits",
            b'"intValue":100000000000000000000',
        ),
        (
            (b'"attributes":[]', b'"attributes":[{"key":"k","value":{"doubleValue":NaN}}]'),
            "non-finite-number",
            b'"NaN"',
        ),
    ],
)
def test_what_was_repaired_is_written_clean_and_noted(change: tuple[bytes, bytes], note: str, expected: bytes) -> None:
    body = as_json(traces(span()))
    assert change[0] in body
    done = split(Signal.TRACES, Content.JSON, body.replace(*change))
    assert done.notes[note] >= 1
    assert expected in done.pieces[0].line
    assert json.loads(done.pieces[0].line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] == SPAN


def test_invalid_utf8_in_protobuf_is_replaced_and_noted() -> None:
    body = as_protobuf(traces(span(name="AAAA"))).replace(b"AAAA", b"A\xff\xfeA")
    done = split(Signal.TRACES, Content.PROTOBUF, body)
    assert done.notes == {"invalid-utf-8": 1}
    assert "A\ufffd\ufffdA".encode() in done.pieces[0].line


def test_spans_without_identity_are_dropped_and_counted() -> None:
    done = split(Signal.TRACES, Content.JSON, as_json(traces(span(), span("0" * 32))))
    assert (done.dropped, [p.items for p in done.pieces]) == (1, [1])


def test_a_pretty_printed_request_becomes_one_line() -> None:
    body = json.dumps(traces(span(a="line\nbreak")), indent=2).encode()
    line = split(Signal.TRACES, Content.JSON, body).pieces[0].line
    assert line.count(b"\n") == 1
    assert b"line\\nbreak" in line


def test_every_conversation_key_of_every_dialect_is_known_to_the_splitter() -> None:
    """Derived from the dialects' own tables; a key inside JSON is found there too."""
    keys = dialects.conversation_keys()
    assert len(keys) >= 30
    for name, way in keys:
        value: object = "c-77"
        for part in reversed(way):
            value = {part: value}
        text = value if isinstance(value, str) else json.dumps(value)
        (piece,) = pieces(traces(span(**{name.replace(".", "__"): text})))
        assert piece.claim is not None, (name, way)
        assert piece.claim.value == "c-77", (name, way)


def test_what_the_offline_build_groups_by_the_splitter_finds(fixtures: Path) -> None:
    """Over every span of every dialect's fixtures: the same conversation, from the same attributes."""
    told = 0
    for file in sorted((fixtures / "dialects").rglob("*")):
        if not file.is_file() or file.suffix not in (".jsonl", ".json") or "expected" in file.parts:
            continue
        try:
            with contextlib.closing(open_records(Source(file.name, SourceKind.OTLP_TRACES, file))) as opened:
                found = [record for record in opened.records() if isinstance(record, SpanRecord)]
        except EvidenceError:
            continue
        for record in found:
            conversation = dialects.classify(record).conversation_id
            if conversation is None:
                continue
            given = {**record.resource, **record.attributes}
            words = {key.replace(".", "__"): value for key, value in given.items() if isinstance(value, str)}
            (piece,) = pieces(traces(span(**words)))
            assert piece.claim is not None, (file, record.name)
            assert piece.claim.value == conversation, (file, record.name)
            told += 1
    assert told > 20
