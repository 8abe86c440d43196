"""Files of wire records: the interceptor's own lines, or exchanges as a browser or a proxy exported them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from ..model.evidence import AbbRecord, EvidenceRef, Notice, Source
from ..registry import Registry
from .abb import AbbFile, Members
from .abb_otel import is_enveloped
from .base import Described
from .har import HAR
from .histories import Body
from .http import HttpFile
from .inflate import Stream
from .mitmproxy import MITMPROXY
from .outline import Head

_LOOK: Final = 1 << 16


class WireFile(Protocol):
    """Wire records of one file in order, and any again by its address. See `AbbFile`."""

    def records(self) -> Iterator[AbbRecord | Notice]: ...

    def fetch(self, ref: EvidenceRef) -> AbbRecord: ...

    def fetch_request(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body, list[Notice]]: ...

    def fetch_response(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body, list[Notice]]: ...

    def repeated(self, ref: EvidenceRef, payload: Body) -> Iterator[Notice]: ...

    def raw(self, ref: EvidenceRef) -> bytes: ...

    def close(self) -> None: ...


class WireReader(Described, Protocol):
    """One form of recorded exchanges: a line in `WIRE_READERS`."""

    def recognises(self, head: Head) -> bool: ...

    def open(self, source: Source, stream: Stream) -> HttpFile: ...


WIRE_READERS: Final = Registry[WireReader]("wire reader", HAR, MITMPROXY)
"""Told by content, as the forms of `READERS` are."""


def open_wire(source: Source, members: Members | None = None) -> WireFile:
    """The wire records of a file; `members` names those of the `data` of interceptor records that `records` gives.
    Raises `EvidenceError` where the file cannot be opened."""
    if not is_enveloped(source):
        stream = Stream(source.file, source.path)
        head = Head(stream.peek(_LOOK), stream.size)
        for reader in WIRE_READERS:
            if reader.recognises(head):
                return reader.open(source, stream)
        stream.close()
    return AbbFile(source, members)


def holds_exchanges(file: Path, start: bytes) -> bool:
    """Whether a file that starts so is in one of the forms of `WIRE_READERS`; asked of every file of a folder, so the
    start alone decides."""
    head = Head(start, len(start))
    return any(reader.recognises(head) for reader in WIRE_READERS) or (
        start.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) and ".har" in file.suffixes
    )
