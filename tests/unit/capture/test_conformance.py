"""What the receiver answers, request by request, with the reason where the specification leaves room.

https://opentelemetry.io/docs/specs/otlp/#otlphttp and the JSON encoding of the same page.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
import zstandard
from google.rpc import status_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from .requests import SPAN, TRACE, as_json, as_protobuf, log, logs, metrics, span, traces
from .serving import Answer, Served, serving

ONE = traces(span())
JSON = as_json(ONE)
PROTO = as_protobuf(ONE)
OK = 200


@dataclass(frozen=True)
class Probe:
    name: str
    body: bytes | Callable[[], bytes]
    status: int
    kind: str = "json"
    path: str = "/v1/traces"
    rejected: int = 0
    headers: dict[str, str] = field(default_factory=dict)


def _proto_span(**fields: object) -> bytes:
    request = ExportTraceServiceRequest()
    made = request.resource_spans.add().scope_spans.add().spans.add()
    for name, value in {
        "trace_id": bytes.fromhex(TRACE),
        "span_id": bytes.fromhex(SPAN),
        "name": "x",
        **fields,
    }.items():
        setattr(made, name, value)
    return request.SerializeToString()


def _value(raw: str) -> bytes:
    return JSON.replace(b'"attributes":[]', b'"attributes":[{"key":"k","value":%s}]' % raw.encode())


def _with_bad_utf8() -> bytes:
    return _proto_span(name="AAAA").replace(b"AAAA", b"A\xff\xfeA")


def _deflated_raw() -> bytes:
    engine = zlib.compressobj(6, zlib.DEFLATED, -15)
    return engine.compress(JSON) + engine.flush()


def _nested(depth: int) -> str:
    return '{"arrayValue":{"values":[' * depth + '{"stringValue":"x"}' + "]}}" * depth


PROBES = (
    # encodings of the message
    Probe("protobuf", PROTO, OK, "protobuf"),
    Probe("protobuf-empty-body", b"", OK, "protobuf"),
    Probe("protobuf-garbage", b"\xff\xff\xff\xff", 400, "protobuf"),
    Probe("protobuf-cut", PROTO[:-3], 400, "protobuf"),
    Probe("json", JSON, OK),
    Probe("json-charset", JSON, OK, headers={"content-type": "application/json; charset=utf-8"}),
    Probe("json-upper-case-type", JSON, OK, headers={"content-type": "Application/JSON"}),
    Probe("json-empty-object", b"{}", OK),
    Probe("json-empty-body", b"", 400),  # no JSON document at all
    Probe("json-null", b"null", 400),  # a message is an object
    Probe("json-list", b"[]", 400),
    Probe("json-two-documents", JSON + b"\n" + JSON, 400),  # one body is one request: the second must not be lost
    Probe("json-byte-order-mark", b"\xef\xbb\xbf" + JSON, OK),  # RFC 8259 section 8.1: may be ignored
    Probe("json-pretty", json.dumps(ONE, indent=2).encode(), OK),
    Probe("json-under-protobuf-type", JSON, 400, "protobuf"),
    Probe("protobuf-under-json-type", PROTO, 400),
    Probe("type-missing", JSON, 415, headers={"content-type": ""}),
    Probe("type-text", JSON, 415, headers={"content-type": "text/plain"}),
    # compression
    Probe("gzip", gzip.compress(JSON), OK, headers={"content-encoding": "gzip"}),
    Probe("gzip-upper-case", gzip.compress(JSON), OK, headers={"content-encoding": "GZIP"}),
    Probe(
        "gzip-two-members",
        gzip.compress(JSON[:50]) + gzip.compress(JSON[50:]),
        OK,
        headers={"content-encoding": "gzip"},
    ),
    Probe("gzip-cut", gzip.compress(JSON)[:-6], 400, headers={"content-encoding": "gzip"}),
    Probe("gzip-not-gzip", JSON, 400, headers={"content-encoding": "gzip"}),
    Probe("gzip-protobuf", gzip.compress(PROTO), OK, "protobuf", headers={"content-encoding": "gzip"}),
    Probe("deflate-zlib", zlib.compress(JSON), OK, headers={"content-encoding": "deflate"}),
    Probe("deflate-raw", _deflated_raw, OK, headers={"content-encoding": "deflate"}),
    Probe("zstd", zstandard.compress(JSON), OK, headers={"content-encoding": "zstd"}),
    Probe("zstd-cut", zstandard.compress(JSON)[:-4], 400, headers={"content-encoding": "zstd"}),
    Probe("identity", JSON, OK, headers={"content-encoding": "identity"}),
    Probe("brotli", JSON, 415, headers={"content-encoding": "br"}),
    Probe("stacked-encodings", JSON, 415, headers={"content-encoding": "gzip, gzip"}),
    # size
    Probe("21-mb-plain", lambda: _value('{"stringValue":"%s"}' % ("x" * 21_000_000)), OK),
    Probe("65-mib-plain", lambda: b" " * (65 << 20), 413),
    Probe("65-mib-protobuf", lambda: b"\0" * (65 << 20), 413, "protobuf"),
    Probe("gzip-bomb", lambda: gzip.compress(b" " * (256 << 20), 1), 413, headers={"content-encoding": "gzip"}),
    Probe("zstd-bomb", lambda: zstandard.compress(b" " * (256 << 20)), 413, headers={"content-encoding": "zstd"}),
    # identity of spans: 16 and 8 bytes, not all zero; other spans of the batch are kept (partial success)
    Probe("trace-id-15-bytes", _proto_span(trace_id=b"x" * 15), OK, "protobuf", rejected=1),
    Probe("trace-id-empty", _proto_span(trace_id=b""), OK, "protobuf", rejected=1),
    Probe("trace-id-zero", _proto_span(trace_id=b"\0" * 16), OK, "protobuf", rejected=1),
    Probe("span-id-zero", _proto_span(span_id=b"\0" * 8), OK, "protobuf", rejected=1),
    Probe("trace-id-hex-text", _proto_span(trace_id=TRACE.encode(), span_id=SPAN.encode()), OK, "protobuf"),
    Probe("json-trace-id-short", as_json(traces(span(TRACE[:-2]))), OK, rejected=1),
    Probe("json-trace-id-upper-case", as_json(traces(span(TRACE.upper()))), OK),
    Probe("json-ids-base64", JSON.replace(TRACE.encode(), b"CvdlGRbNQ92ESOshHIAxnA=="), OK),
    Probe("json-one-of-two-bad", as_json(traces(span(), span("00" * 16))), OK, rejected=1),
    # names and values of the JSON encoding
    Probe(
        "snake-case-keys", JSON.replace(b"resourceSpans", b"resource_spans").replace(b"scopeSpans", b"scope_spans"), OK
    ),
    Probe("old-scope-names", JSON.replace(b"scopeSpans", b"instrumentationLibrarySpans"), OK),
    Probe("unknown-names", JSON.replace(b'"kind":3', b'"kind":3,"newThing":{"a":[1]}'), OK),
    Probe("enum-names", JSON.replace(b'"kind":3', b'"kind":"SPAN_KIND_CLIENT"'), OK),
    Probe("times-as-numbers", JSON.replace(b'"1700000000000000000"', b"1700000000000000000"), OK),
    Probe("double-null", _value('{"doubleValue":null}'), OK),
    Probe("double-nan-text", _value('{"doubleValue":"NaN"}'), OK),
    Probe("bare-nan", _value('{"doubleValue":NaN}'), OK),  # repaired: the other spans of the batch must not be lost
    Probe("int-over-int64", _value('{"intValue":100000000000000000000}'), OK),
    Probe("value-empty", _value("{}"), OK),
    Probe("array-empty", _value('{"arrayValue":{}}'), OK),
    Probe("attributes-null", JSON.replace(b'"attributes":[]', b'"attributes":null'), OK),
    Probe("parent-null", JSON.replace(b'"kind":3', b'"kind":3,"parentSpanId":null'), OK),
    Probe("key-without-value", JSON.replace(b'"attributes":[]', b'"attributes":[{"key":"k"}]'), OK),
    Probe("invalid-utf8-protobuf", _with_bad_utf8(), OK, "protobuf"),
    Probe("invalid-utf8-json", JSON.replace(b'"chat"', b'"ch\xff\xfeat"'), OK),
    Probe("lone-surrogate", JSON.replace(b'"chat"', b'"\\ud83d"'), OK),
    Probe("nested-100", _value(_nested(100)), OK),
    Probe("nested-20000", _value(_nested(20_000)), 400),
    Probe(
        "spans-not-a-list",
        JSON.replace(b'"spans":[', b'"spans":{"x":[').replace(b'],"schemaUrl"', b']},"schemaUrl"'),
        400,
    ),
    # other signals and other paths
    Probe("logs-protobuf", as_protobuf(logs(log())), OK, "protobuf", "/v1/logs"),
    Probe("logs-json", as_json(logs(log())), OK, path="/v1/logs"),
    Probe("metrics-protobuf", as_protobuf(metrics()), OK, "protobuf", "/v1/metrics"),
    Probe("metrics-json", as_json(metrics()), OK, path="/v1/metrics"),
    Probe("logs-body-on-traces", as_protobuf(logs(log())), 400, "protobuf"),
    Probe("logs-json-on-traces", as_json(logs(log())), 400),
    Probe("traces-body-on-logs", PROTO, 400, "protobuf", "/v1/logs"),
    Probe("path-with-slash", JSON, 404, path="/v1/traces/"),
    Probe("path-doubled", JSON, 404, path="/v1/traces/v1/traces"),
    Probe("path-double-slash", JSON, 404, path="//v1/traces"),
    Probe("path-unknown", JSON, 404, path="/v1/spans"),
    Probe("path-root", JSON, 405, path="/"),
    Probe("path-missing-protobuf", PROTO, 404, "protobuf", "/v2/traces"),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("conformance")) as it:
        yield it


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_each_request_is_answered_as_the_specification_says(served: Served, probe: Probe) -> None:
    body = probe.body if isinstance(probe.body, bytes) else probe.body()
    media = {"json": "application/json", "protobuf": "application/x-protobuf"}[probe.kind]
    answer = served.send("POST", probe.path, body, **{"content-type": media, **probe.headers})
    assert answer.status == probe.status, answer.body
    if probe.name.startswith("type-"):
        media = "application/json"
    assert answer.headers["content-type"] == media
    if answer.status == OK:
        _check_success(answer, probe)
    else:
        _check_status_message(answer, probe)


def _check_success(answer: Answer, probe: Probe) -> None:
    if probe.rejected == 0:  # partial_success MUST be unset
        assert answer.body == (b"{}" if probe.kind == "json" else b"")
    elif probe.kind == "json":
        partial = json.loads(answer.body)["partialSuccess"]
        assert partial["rejectedSpans"] == str(probe.rejected)
        assert "16 bytes" in partial["errorMessage"]
    else:
        response = ExportTraceServiceResponse.FromString(answer.body)
        assert response.partial_success.rejected_spans == probe.rejected
        assert response.partial_success.error_message


def _check_status_message(answer: Answer, probe: Probe) -> None:
    assert "retry-after" not in answer.headers  # nothing of this kind gets better by sending it again
    if answer.headers["content-type"] == "application/json":
        status = json.loads(answer.body)
        assert status["code"] > 0
        assert status["message"]
        kinds = [detail["@type"].rpartition(".")[2] for detail in status.get("details", ())]
    else:
        message = status_pb2.Status.FromString(answer.body)
        assert message.code > 0
        assert message.message
        kinds = [detail.type_url.rpartition(".")[2] for detail in message.details]
    assert kinds == (["BadRequest"] if answer.status == 400 else [])


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_named_as_not_allowed(served: Served, path: str, method: str) -> None:
    answer = served.send(method, path)
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


def test_a_wrong_path_is_told_the_right_one(served: Served) -> None:
    answer = served.post(JSON, path="/v1/traces/v1/traces")
    assert "/v1/traces?" in json.loads(answer.body)["message"]


def test_a_chunked_body_without_a_length_is_read(served: Served) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    halves = iter((JSON[:40], JSON[40:]))
    connection.request("POST", "/v1/traces", halves, {"Content-Type": "application/json"}, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
