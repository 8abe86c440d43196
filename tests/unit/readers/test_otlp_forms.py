"""One trace told in every OTLP form is the same records."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from otel2traj.errors import EvidenceError
from tests.factory_otlp import framed, json_lines, to_protobuf

from .reading import check_addresses, plain, read, written

FIXTURES = Path(__file__).parents[3] / "fixtures" / "records"
COLLECTOR = (
    "otlp-json/collector.json",
    "otlp-json/collector-framed.json.zst",
    "otlp-json/collector-native.json.zst",
    "otlp-proto/collector.pb",
    "otlp-proto/collector-framed.pb.zst",
    "otlp-proto/collector-native.pb.zst",
)


def zstd_framed(messages: list[bytes]) -> bytes:
    engine = zstandard.ZstdCompressor()
    return framed([engine.compress(message) for message in messages])


def reordered(value: Any) -> Any:
    """The same JSON with members in reverse alphabetical order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in sorted(value, reverse=True)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def forms(lines: list[bytes]) -> dict[str, bytes]:
    """Every arrangement of the same OTLP JSON documents, and the bytes inside."""
    documents = [json.loads(line) for line in lines]
    joined = b"\n".join(lines) + b"\n"
    merged = {"resourceSpans": [one for document in documents for one in document["resourceSpans"]]}
    pretty = "\n".join(json.dumps(one, indent=2, ensure_ascii=False) for one in documents).encode()
    bare = [one for document in documents for one in document["resourceSpans"]]
    return {
        "lines": joined,
        "no-final-newline": joined[:-1],
        "crlf": b"\r\n".join(lines) + b"\r\n",
        "bom": b"\xef\xbb\xbf" + joined,
        "blank-lines": b"\n\n".join(lines),
        "concatenated": b"".join(lines),
        "array": b"[" + b",".join(lines) + b"]",
        "array-of-lines": b"[\n" + b",\n".join(lines) + b"\n]\n",
        "pretty": pretty,
        "pretty-array": json.dumps(documents, indent=1).encode(),
        "one-document": json.dumps(merged, separators=(",", ":"), ensure_ascii=False).encode(),
        "one-document-ascii": json.dumps(merged).encode(),
        "members-reordered": "\n".join(json.dumps(reordered(one)) for one in documents).encode(),
        "without-wrapper": b"\n".join(json.dumps(one).encode() for one in bare),
        "log-prefix": b"\n".join(b"2026-11-30 INFO " + json.dumps(one).encode() for one in bare),
        "url": joined.replace(b'"}]}]}]}', b'"}],"schemaUrl":"https://x/1"}],"schemaUrl":"https://x/2"}]}'),
        "old-names": joined.replace(b'"scopeSpans"', b'"instrumentationLibrarySpans"').replace(
            b'"scope":', b'"instrumentationLibrary":'
        ),
    }


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    return json_lines(3, 4, 500).splitlines()


@pytest.fixture(scope="module")
def truth(lines: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    records, notices, _ = read(written(tmp_path_factory.mktemp("truth"), b"\n".join(lines)))
    assert len(records) == 12
    assert notices == []
    return [plain(record) for record in records]


@pytest.mark.parametrize("name", sorted(forms([b'{"resourceSpans":[]}'])))
def test_every_arrangement_of_json_gives_the_same_records(
    name: str, lines: list[bytes], truth: list[dict[str, Any]], tmp_path: Path
) -> None:
    data = forms(lines)[name]
    path = written(tmp_path, data)
    records, notices, file = read(path)
    assert [plain(record) for record in records] == truth
    assert all(not notice.lossy for notice in notices)
    assert {notice.code for notice in notices} <= {"repaired_record"}
    check_addresses(path, records, file, data)
    for record in records:
        raw = file.raw(record.ref)
        assert json.loads(raw)["spanId"] == record.span_id
        assert record.ref.line == data[: record.ref.offset].count(b"\n") + 1
    assert (file.source.sha256, file.source.size) == (hashlib.sha256(data).hexdigest(), len(data))


def packed(lines: list[bytes]) -> dict[str, tuple[bytes, bytes]]:
    """Name -> bytes of the file, bytes inside."""
    joined = b"\n".join(lines) + b"\n"
    messages = [to_protobuf(line) for line in lines]
    varints = b"".join(_varint(len(message)) + message for message in messages)
    return {
        "json+gzip": (gzip.compress(joined), joined),
        "json+gzip-members": (b"".join(gzip.compress(line + b"\n") for line in lines), joined),
        "json+zstd": (zstandard.ZstdCompressor().compress(joined), joined),
        "json+zstd-frames": (zstd_framed(lines), joined),
        "proto": (b"".join(messages), b"".join(messages)),
        "proto-one": (messages[0], messages[0]),
        "proto-framed": (framed(messages), framed(messages)),
        "proto-varint": (varints, varints),
        "proto+gzip": (gzip.compress(b"".join(messages)), b"".join(messages)),
        "proto+zstd": (zstandard.ZstdCompressor().compress(framed(messages)), framed(messages)),
        "proto+zstd-frames": (zstd_framed(messages), framed(messages)),
    }


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize("name", sorted(packed([b'{"resourceSpans":[]}'])))
def test_compressed_and_protobuf_give_the_same_records(
    name: str, lines: list[bytes], truth: list[dict[str, Any]], tmp_path: Path
) -> None:
    data, inside = packed(lines)[name]
    path = written(tmp_path, data)
    records, notices, file = read(path)
    assert [plain(record) for record in records] == (truth[:4] if name == "proto-one" else truth)
    assert notices == []
    check_addresses(path, records, file, inside)
    assert (file.source.sha256, file.source.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert file.form == "otlp-" + name.partition("-")[0]


@pytest.mark.parametrize("name", COLLECTOR)
def test_what_the_collector_wrote_is_the_same_in_its_six_forms(name: str) -> None:
    records, notices, file = read(FIXTURES / name)
    expected, _, _ = read(FIXTURES / COLLECTOR[0])
    assert [plain(record) for record in records[:3]] == [plain(record) for record in expected[:3]]
    assert len(records) % 3 == 0
    assert [notice.code for notice in notices] == ["repaired_record", "missing_id"] * (len(records) // 3)
    for record in records:
        assert plain(file.fetch(record.ref), ref=True) == plain(record, ref=True)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    for data in (gzip.compress(bytes(1 << 20)), zstandard.ZstdCompressor().compress(bytes(1 << 20))):
        with pytest.raises(EvidenceError) as caught:
            read(written(tmp_path, data), inflate_limit=1 << 16)
        assert caught.value.error_code == "evidence.too_large"
    frame = zstandard.ZstdCompressor().compress(b'{"resourceSpans":[]}' + b" " * (1 << 20))
    with pytest.raises(EvidenceError):
        read(written(tmp_path, framed([frame])), inflate_limit=1 << 16)


@pytest.mark.parametrize("name", [name for name in sorted(packed([b'{"resourceSpans":[]}'])) if "+" in name])
def test_a_cut_container_gives_what_came_before_the_cut(name: str, lines: list[bytes], tmp_path: Path) -> None:
    data, _ = packed(lines)[name]
    records, notices, file = read(written(tmp_path, data[: len(data) - 20]))
    assert len(records) < 12
    assert any(notice.lossy for notice in notices)
    assert file.source.size == len(data) - 20


def test_a_cut_frame_is_told(lines: list[bytes], tmp_path: Path) -> None:
    messages = [to_protobuf(line) for line in lines]
    records, notices, _ = read(written(tmp_path, framed(messages)[:-5]))
    assert len(records) == 8
    assert [notice.code for notice in notices] == ["unreadable_record"]


def test_fields_in_reverse_order_change_nothing(
    lines: list[bytes], truth: list[dict[str, Any]], tmp_path: Path
) -> None:
    from otel2traj.readers.wirescan import fields

    def reverse(message: bytes, depth: int) -> bytes:
        parts: list[bytes] = []
        at = 0
        for field in fields(message, 0, len(message)):
            whole = message[at : field.end]
            if depth and field.wire == 2:
                inner = reverse(message[field.start : field.end], depth - 1)
                whole = message[at : field.start] + inner
            parts.append(whole)
            at = field.end
        # fields of equal number keep their order, as a writer that goes backwards over the schema does
        numbered = [(next(iter(fields(part, 0, len(part)))).number, part) for part in parts]
        return b"".join(part for _, part in sorted(numbered, key=lambda one: -one[0]))

    data = b"".join(reverse(to_protobuf(line), 3) for line in lines)
    records, notices, _ = read(written(tmp_path, data))
    assert [plain(record) for record in records] == truth
    assert notices == []
