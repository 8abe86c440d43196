"""Checks never raise anything but `BadBody`, and what they accept can be routed."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel2traj.capture.check import BadBody, check
from otel2traj.capture.segments import Content, Signal
from otel2traj.capture.split import split

from .requests import SPAN, TRACE, as_json, as_protobuf, log, logs, metrics, span, traces

REQUESTS = {
    Signal.TRACES: traces(span(a="b"), span(own="c7ad6b7169203331", session__id="s", x="ü")),
    Signal.LOGS: logs(log(session__id="s"), log(trace=TRACE)),
    Signal.METRICS: metrics("s"),
}
BODIES = [
    (signal, content, write(request))
    for signal, request in REQUESTS.items()
    for content, write in ((Content.JSON, as_json), (Content.PROTOBUF, as_protobuf))
]


@pytest.mark.parametrize(("signal", "content", "body"), BODIES)
def test_items_are_counted_without_reading_them(signal: Signal, content: Content, body: bytes) -> None:
    checked = check(signal, content, body)
    assert checked.items == (1 if signal is Signal.METRICS else 2)
    assert checked.rejected == 0
    assert not checked.notes


def _judge(signal: Signal, content: Content, body: bytes) -> None:
    try:
        check(signal, content, body)
    except BadBody:
        return
    split(signal, content, body)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(BODIES),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255), st.booleans()), min_size=1, max_size=6),
)
def test_a_damaged_body_is_bad_or_can_be_routed(
    case: tuple[Signal, Content, bytes], edits: list[tuple[int, int, bool]]
) -> None:
    signal, content, body = case
    damaged = bytearray(body)
    for at, byte, insert in edits:
        at %= len(damaged)
        if insert:
            damaged.insert(at, byte)
        else:
            damaged[at] = byte
    _judge(signal, content, bytes(damaged))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(list(REQUESTS)), st.sampled_from(list(Content)), st.binary(max_size=200))
def test_any_bytes_are_bad_or_can_be_routed(signal: Signal, content: Content, body: bytes) -> None:
    _judge(signal, content, body)


NAMES = [
    *("resourceSpans", "scopeSpans", "spans", "traceId", "spanId", "attributes", "key", "value", "resource", "scope"),
    *("stringValue", "intValue", "resource_spans", "resourceLogs", "scopeLogs", "logRecords", "resourceMetrics"),
    *("scopeMetrics", "metrics", "sum", "dataPoints", "instrumentationLibrarySpans", "arrayValue", "values"),
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(TRACE) | st.just(SPAN),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(REQUESTS)), _JSON)
def test_json_of_any_shape_is_bad_or_can_be_routed(signal: Signal, value: object) -> None:
    _judge(signal, Content.JSON, json.dumps(value).encode())


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_JSON, st.sampled_from(["spans", "span", "attributes", "resource", "scope", "value"]))
def test_any_shape_at_any_place_is_bad_or_can_be_routed(value: object, place: str) -> None:
    request = traces(span(a="b"))
    entry = request["resourceSpans"][0]
    scope = entry["scopeSpans"][0]
    if place == "spans":
        scope["spans"] = value
    elif place == "span":
        scope["spans"].append(value)
    elif place == "attributes":
        scope["spans"][0]["attributes"] = value
    elif place == "resource":
        entry["resource"] = value
    elif place == "scope":
        scope["scope"] = value
    else:
        scope["spans"][0]["attributes"] = [{"key": "session.id", "value": value}]
    _judge(Signal.TRACES, Content.JSON, json.dumps(request).encode())


def test_nesting_beyond_the_runtime_is_read_level_by_level() -> None:
    request = ExportTraceServiceRequest()
    made = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN))
    )
    value = made.attributes.add(key="deep").value
    for _ in range(90):
        pair = value.kvlist_value.values.add(key="k")
        value = pair.value
    value.string_value = "bottom"
    body = request.SerializeToString()
    checked = check(Signal.TRACES, Content.PROTOBUF, body)
    assert (checked.items, checked.rejected) == (1, 0)
    assert checked.notes["deep-nesting"] == 1
    assert split(Signal.TRACES, Content.PROTOBUF, body).pieces[0].line.count(b"kvlistValue") == 90


@pytest.mark.parametrize("signal", list(REQUESTS))
def test_the_empty_request_is_no_error(signal: Signal) -> None:
    assert check(signal, Content.JSON, b"{}").items == 0
    assert check(signal, Content.PROTOBUF, b"").items == 0


def test_a_bad_body_says_why() -> None:
    with pytest.raises(BadBody, match="ExportTraceServiceRequest"):
        check(Signal.TRACES, Content.PROTOBUF, as_protobuf(REQUESTS[Signal.LOGS]))
    with pytest.raises(BadBody, match="resourceSpans"):
        check(Signal.TRACES, Content.JSON, as_json(REQUESTS[Signal.LOGS]))
    with pytest.raises(BadBody, match="`\\{\\}`"):
        check(Signal.TRACES, Content.JSON, b"")
