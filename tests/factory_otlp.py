"""OTLP payloads made up for tests: deterministic, of any size, as JSON and as protobuf."""

from __future__ import annotations

import json
import random
from typing import Any

_TEXT = (
    "order invoice the customer asked whether a refund could be issued before Friday and nobody had answered yet "
    "table column index query plan scan join rows retry timeout socket branch commit review build lint release"
)
_WORDS = _TEXT.split()
_FOREIGN = ("Größe naïve façade ", "注文を確認します。", "¿Dónde está? ", "déjà vu 🚀 ")


def prose(rng: random.Random, size: int, foreign: bool = True) -> str:
    """About `size` characters of words, code and some text that is not ASCII."""
    out: list[str] = []
    length = 0
    while length < size:
        roll = rng.random()
        if roll < 0.04 and foreign:
            piece = rng.choice(_FOREIGN)
        elif roll < 0.12:
            piece = 'def f(x):\n    return {"ok": True, "n": x + 1}\n'
        else:
            piece = " ".join(rng.choices(_WORDS, k=12)) + ". "
        out.append(piece)
        length += len(piece)
    return "".join(out)


def span(rng: random.Random, trace: str, parent: str | None, size: int, foreign: bool = True) -> dict[str, Any]:
    """One model call span in OTLP JSON whose messages have about `size` characters."""
    start = 1_790_000_000_000_000_000 + rng.randrange(10**12)
    messages = [
        {"role": role, "parts": [{"type": "text", "content": prose(rng, size // 4, foreign)}]}
        for role in ("system", "user", "assistant", "user")
    ]
    texts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.id": f"chatcmpl-{rng.getrandbits(64):016x}",
        "gen_ai.input.messages": json.dumps(messages, ensure_ascii=False),
        "gen_ai.output.messages": json.dumps(messages[2:3], ensure_ascii=False),
    }
    numbers = {"gen_ai.usage.input_tokens": size // 4, "gen_ai.usage.output_tokens": rng.randrange(900)}
    out: dict[str, Any] = {"traceId": trace, "spanId": f"{rng.getrandbits(64) | 1:016x}"}
    if parent is not None:
        out["parentSpanId"] = parent
    out |= {
        "name": "chat gpt-4o",
        "kind": 3,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + rng.randrange(10**9)),
        "attributes": [
            *({"key": key, "value": {"stringValue": value}} for key, value in texts.items()),
            *({"key": key, "value": {"intValue": str(value)}} for key, value in numbers.items()),
            {"key": "gen_ai.request.temperature", "value": {"doubleValue": 0.2}},
        ],
        "status": {},
    }
    return out


def document(spans: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "maker"}, "spans": spans}]}]}


def json_lines(lines: int, spans: int, size: int, seed: int = 1, foreign: bool = True) -> bytes:
    """`lines` export requests of `spans` spans each, one a line."""
    rng = random.Random(seed)
    out: list[bytes] = []
    for _ in range(lines):
        trace = f"{rng.getrandbits(128) | 1:032x}"
        made: list[dict[str, Any]] = []
        for _ in range(spans):
            made.append(
                span(rng, trace, made[0]["spanId"] if made else None, rng.randint(size // 2, size * 2), foreign)
            )
        out.append(json.dumps(document(made), ensure_ascii=False, separators=(",", ":")).encode())
    return b"\n".join(out) + b"\n"


def to_protobuf(line: bytes) -> bytes:
    """One OTLP JSON document as a protobuf message."""
    import base64

    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    data = json.loads(line)
    for resource in data["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for one in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in one:
                        one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
    message = json_format.ParseDict(data, ExportTraceServiceRequest())
    return bytes(message.SerializeToString())


def framed(messages: list[bytes]) -> bytes:
    """Messages as the Collector's file exporter writes them: a 4-byte big-endian length before each."""
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)
