"""One trace in every file form is one trajectory, but for `sources`, pointers and what a form says it loses."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from otel2traj.api.build import build_bytes
from tests.factory_otlp import framed, to_protobuf

from .test_determinism import without_pointers

DIALECTS = Path(__file__).parents[2] / "fixtures" / "dialects"
RUNS = (
    "otel_genai_1_37/langgraph-genai-langchain-1.3",
    "openinference_langchain/langchain-0.1.80",
    "strands_legacy/strands-agents-1.62",
    "pydantic_ai/pydantic-ai-2.68-v6",
)
Spans = list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]
"""(resource, scope, span) of every span."""


def lines_of(run: str) -> list[dict[str, Any]]:
    """The export requests of a captured run. Times are whole microseconds, since two forms hold no more."""
    out = []
    for line in (DIALECTS / run / "otel.jsonl").read_bytes().splitlines():
        document = json.loads(line)
        for _, _, span in spans_of([document]):
            for key in ("startTimeUnixNano", "endTimeUnixNano"):
                span[key] = f"{int(span[key]) // 1000}000"
        out.append(document)
    return out


def spans_of(documents: list[dict[str, Any]]) -> Spans:
    return [
        (group.get("resource", {}), scope.get("scope", {}), span)
        for document in documents
        for group in document["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def plain(value: Any) -> Any:
    """An OTLP value as the value it stands for."""
    if "arrayValue" in value:
        return [plain(item) for item in value["arrayValue"].get("values", [])]
    if "kvlistValue" in value:
        return attributes(value["kvlistValue"].get("values", []))
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)


def attributes(pairs: Any) -> dict[str, Any]:
    return {pair["key"]: plain(pair["value"]) for pair in pairs or []}


def in_base64(documents: list[dict[str, Any]]) -> bytes:
    """Tempo's answer: ids in base64, groups under `batches`."""
    groups = []
    for document in json.loads(json.dumps(documents)):
        for _, _, span in spans_of([document]):
            for key in ("traceId", "spanId", "parentSpanId"):
                if span.get(key):
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        groups += document["resourceSpans"]
    return compact({"batches": groups})


def jaeger(documents: list[dict[str, Any]]) -> bytes:
    def tags(found: dict[str, Any]) -> list[dict[str, Any]]:
        kinds = {bool: "bool", int: "int64", float: "float64", str: "string"}
        out = []
        for key, value in found.items():
            kind = kinds.get(type(value))
            out.append({"key": key, "type": kind or "string", "value": value if kind else json.dumps(value)})
        return out

    processes, spans = {}, []
    for number, (resource, scope, span) in enumerate(spans_of(documents)):
        told = attributes(resource.get("attributes"))
        processes[f"p{number}"] = {"serviceName": told.pop("service.name", "x"), "tags": tags(told)}
        start, end = (int(span[key]) // 1000 for key in ("startTimeUnixNano", "endTimeUnixNano"))
        code = {2: "ERROR", 1: "OK"}.get(span.get("status", {}).get("code"))
        more = {"otel.scope.name": scope.get("name"), "otel.scope.version": scope.get("version")}
        more = {**more, "otel.status_code": code, "otel.status_description": span.get("status", {}).get("message")}
        parent = span.get("parentSpanId")
        events = [
            {
                "timestamp": int(event["timeUnixNano"]) // 1000,
                "fields": tags({"event": event["name"], **attributes(event.get("attributes"))}),
            }
            for event in span.get("events") or []
        ]
        reference = {"refType": "CHILD_OF", "traceID": span["traceId"], "spanID": parent}
        spans.append(
            {
                "traceID": span["traceId"],
                "spanID": span["spanId"],
                "operationName": span["name"],
                "references": [reference] if parent else [],
                "startTime": start,
                "duration": end - start,
                "tags": tags(
                    {**attributes(span.get("attributes")), **{key: value for key, value in more.items() if value}}
                ),
                "logs": events,
                "processID": f"p{number}",
            }
        )
    return compact({"data": [{"traceID": spans[0]["traceID"], "spans": spans, "processes": processes}]})


def zipkin(documents: list[dict[str, Any]]) -> bytes:
    out = []
    for resource, scope, span in spans_of(documents):
        start, end = (int(span[key]) // 1000 for key in ("startTimeUnixNano", "endTimeUnixNano"))
        told = {**attributes(resource.get("attributes")), **attributes(span.get("attributes"))}
        told["otel.scope.name"], told["otel.scope.version"] = scope.get("name"), scope.get("version")
        if span.get("status", {}).get("code") == 2:
            told["otel.status_code"] = "ERROR"
            told["error"] = span["status"].get("message", "")
        tags = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in told.items()
            if value is not None
        }
        one = {
            "traceId": span["traceId"],
            "id": span["spanId"],
            "name": span["name"],
            "timestamp": start,
            "duration": end - start,
            "localEndpoint": {"serviceName": told.get("service.name", "x")},
            "tags": tags,
        }
        if span.get("parentSpanId"):
            one["parentId"] = span["parentSpanId"]
        out.append(one)
    return compact(out)


def python_console(documents: list[dict[str, Any]]) -> bytes:
    """What `ReadableSpan.to_json` writes, one after the other, with the scope that newer versions add."""

    def when(nanos: str) -> str:
        from datetime import UTC, datetime

        return (
            datetime.fromtimestamp(int(nanos) / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
            + f"{int(nanos) // 1000 % 1_000_000:06d}Z"
        )

    out = []
    for resource, scope, span in spans_of(documents):
        code = ("UNSET", "OK", "ERROR")[span.get("status", {}).get("code", 0)]
        parent = span.get("parentSpanId")
        one = {
            "name": span["name"],
            "context": {"trace_id": f"0x{span['traceId']}", "span_id": f"0x{span['spanId']}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": f"0x{parent}" if parent else None,
            "start_time": when(span["startTimeUnixNano"]),
            "end_time": when(span["endTimeUnixNano"]),
            "status": {"status_code": code, "description": span.get("status", {}).get("message")},
            "attributes": attributes(span.get("attributes")),
            "events": [
                {
                    "name": event["name"],
                    "timestamp": when(event["timeUnixNano"]),
                    "attributes": attributes(event.get("attributes")),
                }
                for event in span.get("events") or []
            ],
            "links": [],
            "resource": {"attributes": attributes(resource.get("attributes")), "schema_url": ""},
            "instrumentation_scope": {"name": scope.get("name"), "version": scope.get("version")},
        }
        out.append(json.dumps(one, indent=4))
    return "\n".join(out).encode()


def forms(documents: list[dict[str, Any]]) -> dict[str, bytes]:
    lines = [compact(document) for document in documents]
    joined = b"\n".join(lines) + b"\n"
    whole = {"resourceSpans": [group for document in documents for group in document["resourceSpans"]]}
    messages = [to_protobuf(line) for line in lines]
    zstd = zstandard.ZstdCompressor().compress
    return {
        "lines": joined,
        "one-object": compact(whole),
        "pretty": json.dumps(whole, indent=2).encode(),
        "concatenated": b"".join(lines),
        "gzip": gzip.compress(joined),
        "zstd": zstd(joined),
        "zstd-framed": framed([zstd(line) for line in lines]),
        "protobuf": b"".join(messages),
        "protobuf-framed": framed(messages),
        "protobuf-gzip": gzip.compress(b"".join(messages)),
        "protobuf-zstd-framed": framed([zstd(message) for message in messages]),
        "tempo": in_base64(documents),
        "jaeger": jaeger(documents),
        "zipkin": zipkin(documents),
        "python-console": python_console(documents),
    }


NAMES = tuple(forms([{"resourceSpans": [{"scopeSpans": [{"spans": [{
    "traceId": "ab" * 16, "spanId": "cd" * 8, "name": "x", "startTimeUnixNano": "1000", "endTimeUnixNano": "2000"
}]}]}]}]))  # fmt: skip


FOREIGN = ("jaeger", "zipkin", "tempo", "python-console")
WITHOUT_SCOPE = ("python-console",)
"""Which of two dialects of one span speaks first is told by the scope."""
NUMBERS_ARE_TEXT = ("zipkin",)


def told(document: Any, form: str, other: str) -> Any:
    """The trajectory but for where its bytes stand and what `other` cannot hold; a foreign form may warn of what it
    loses, and of nothing else."""
    out = without_pointers(document)
    warnings = out.pop("warnings")
    assert all(form in FOREIGN and warning.startswith(("lossy_form", "repaired_record")) for warning in warnings)
    for step in out["steps"]:
        if other in WITHOUT_SCOPE:
            for evidence in (step["evidence"], *(log["evidence"] for log in step["tool_logs"])):
                evidence.pop("said_by", None)
        if other in NUMBERS_ARE_TEXT:
            found = step["input"].get("parameters", {})
            step["input"]["parameters"] = {key: str(value) for key, value in found.items()}
    return json.loads(json.dumps(out, sort_keys=True))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("form", NAMES)
def test_the_form_of_a_file_changes_nothing(run: str, form: str, tmp_path: Path) -> None:
    documents = lines_of(run)
    base, other = tmp_path / "base" / "t", tmp_path / "other" / "t"
    for path, data in (
        (base, compact({"resourceSpans": [g for d in documents for g in d["resourceSpans"]]})),
        (other, forms(documents)[form]),
    ):
        path.parent.mkdir()
        path.write_bytes(data)
    if run.startswith("strands") and form == "zipkin":
        pytest.skip("Zipkin folds events into strings: the content of Strands' spans stands in events")
    expected, actual = (
        told(json.loads(build_bytes(path)), name, form) for path, name in ((base, "lines"), (other, form))
    )
    assert len(expected["steps"]) > 1
    assert actual == expected


COLLECTOR = (
    "otlp-json/collector.json", "otlp-json/collector-framed.json.zst", "otlp-json/collector-native.json.zst",
    "otlp-proto/collector.pb", "otlp-proto/collector-framed.pb.zst", "otlp-proto/collector-native.pb.zst",
)  # fmt: skip


def test_what_the_collector_wrote_is_found_alike_in_its_six_forms() -> None:
    from otel2traj.api.info import info

    found = []
    for name in COLLECTOR:
        document = info(Path(__file__).parents[2] / "fixtures" / "records" / name)
        found.append({key: document[key] for key in ("spans", "roles", "dialects", "scopes", "conversations")})
    for document in found[1:]:
        assert {**document, "spans": 0} == {**found[0], "spans": 0}
