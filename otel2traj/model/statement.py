"""An in-toto Statement v1 (https://github.com/in-toto/attestation/blob/v1.1.0/spec/v1/statement.md), not signed."""

from __future__ import annotations

from collections.abc import Iterable

from ..canonical import JsonObject, dumps_pretty


def statement(subjects: Iterable[tuple[str, str]], predicate_type: str, predicate: JsonObject) -> bytes:
    """The bytes of a Statement over `(name, lower-case hex of the SHA-256)` of each subject."""
    return (
        dumps_pretty(
            {
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in subjects],
                "predicateType": predicate_type,
                "predicate": predicate,
            }
        )
        + b"\n"
    )
