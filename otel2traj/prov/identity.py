"""Facts into names: execution ids, shards and statement ids, by digest and never by counter or clock."""

from __future__ import annotations

import base64
import hashlib

from .plain import canonical


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode("ascii").lower().rstrip("=")


def execution_id(origin: str, attempt_path: str, run_id: str | None, case_id: str | None) -> str:
    """`ex_` and 26 base32 characters: the first 16 bytes of SHA-256 over the RFC 8785 form of the four."""
    return "ex_" + _base32(hashlib.sha256(canonical([origin, attempt_path, run_id, case_id])).digest()[:16])


def shard(execution: str) -> str:
    """The directory of an execution: the first two hex digits of SHA-256 over the id's text."""
    return hashlib.sha256(execution.encode()).hexdigest()[:2]


def statement_id(rule: str, subject: str, object_: str | None, role: str | None) -> str:
    """`x:<rule>.<16 base32 characters>`: 10 bytes of SHA-256 over the RFC 8785 form of rule, subject, object, role.

    `rule` is the full name with its version, e.g. `aprov.use_request@1`; the name shown is its short form."""
    short = rule.partition(".")[2].partition("@")[0] or rule
    return f"x:{short}.{_base32(hashlib.sha256(canonical([rule, subject, object_, role])).digest()[:10])}"
