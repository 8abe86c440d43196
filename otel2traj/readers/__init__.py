"""Bytes into records with the address of each record's bytes; the form is told by content, never by name."""

from __future__ import annotations

from ..model.evidence import Source
from .base import RecordFile
from .inflate import INFLATE_LIMIT, Stream
from .otlp_json import OtlpJson
from .otlp_proto import OtlpProto
from .proto_framing import HEAD, framing_of

__all__ = ["INFLATE_LIMIT", "RecordFile", "open_records"]


def open_records(source: Source, *, inflate_limit: int = INFLATE_LIMIT) -> RecordFile:
    """The records of a file, in whichever form it is.

    Raises `EvidenceError`, with a hint, where the file cannot be opened, inflates to more than `inflate_limit` bytes,
    or is in none of the forms of `READERS`.
    """
    stream = Stream(source.file, source.path, inflate_limit)
    if framing_of(stream.peek(HEAD), stream.size):
        return OtlpProto(source, stream)
    return OtlpJson(source, stream)
