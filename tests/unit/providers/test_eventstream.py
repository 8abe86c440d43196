"""Binary frames, whole, cut and damaged."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel2traj.canonical import dumps
from otel2traj.providers import provider_for
from otel2traj.providers.eventstream import frames_of
from otel2traj.providers.sse import frames


def message(event: str, body: Any, header: str = ":event-type") -> bytes:
    def text(name: str, value: str) -> bytes:
        return bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()

    headers = text(":message-type", "event") + b"\x04flag\x00" + b"\x04time\x08" + bytes(8) + text(header, event)
    payload = dumps(body)
    size = 12 + len(headers) + len(payload) + 4
    prelude = size.to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    whole = prelude + zlib.crc32(prelude).to_bytes(4, "big") + headers + payload
    return whole + zlib.crc32(whole).to_bytes(4, "big")


def encoded(*messages: bytes) -> dict[str, str]:
    return {"encoding": "base64", "data": base64.b64encode(b"".join(messages)).decode()}


CONVERSE = [
    message("messageStart", {"role": "assistant"}),
    message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
    message("messageStop", {"stopReason": "end_turn"}),
]


def test_converse() -> None:
    payload = encoded(*CONVERSE)
    provider = provider_for("/model/m/converse-stream", {"messages": []}, payload)
    assert provider is not None
    got = provider.response(payload)
    assert (provider.name, got.output.text, got.output.finish_reason, got.complete) == (
        "bedrock-converse",
        "Hi",
        "end_turn",
        True,
    )


def test_a_wrapped_event_is_unwrapped() -> None:
    def chunk(event: Any) -> bytes:
        return message("chunk", {"bytes": base64.b64encode(dumps(event)).decode(), "p": "abc"})

    events: list[Any] = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "message_stop"},
    ]
    payload = encoded(*(chunk(event) for event in events))
    provider = provider_for("/model/m/invoke-with-response-stream", None, payload)
    assert provider is not None
    assert (provider.name, provider.response(payload).output.text) == ("anthropic", "Hi")


def test_an_exception_is_an_error() -> None:
    payload = encoded(CONVERSE[1], message("throttlingException", {"message": "slow"}, ":exception-type"))
    provider = provider_for("/model/m/converse-stream", None, payload)
    assert provider is not None
    got = provider.response(payload)
    assert (got.output.text, got.error, got.complete) == ("Hi", {"message": "slow"}, False)


def test_cut_and_damaged_messages_end_the_stream() -> None:
    whole = b"".join(CONVERSE)
    assert frames(encoded(whole[:-3])) == [*(frames(encoded(*CONVERSE[:2])) or []), "cut"]
    damaged = bytearray(whole)
    damaged[len(CONVERSE[0]) + 40] ^= 1
    assert frames(encoded(bytes(damaged))) == [{"messageStart": {"role": "assistant"}}, "cut"]


def test_other_binary_is_no_stream() -> None:
    assert frames_of("AAAA") is None
    assert frames_of("not base64!") is None


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_raise(noise: bytes, at: int) -> None:
    whole = b"".join(CONVERSE)
    frames_of(base64.b64encode(whole[:at] + noise + whole[at:]).decode())
    frames_of(base64.b64encode(noise).decode())
