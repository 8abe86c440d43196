"""Attempt ids of any text to folder names that are safe everywhere and never shared by two ids."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_SAFE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def folder_name(attempt_id: str) -> str:
    """The id itself where it is a safe name; else a readable beginning, `~`, and 16 hex digits of its SHA-256.

    `~` is in no safe name, so an id cannot be given that lands in the folder of another.
    """
    safe = _SAFE.fullmatch(attempt_id) is not None and not attempt_id.endswith(".")
    if safe and _RESERVED.fullmatch(attempt_id) is None:
        return attempt_id
    return marked_name(attempt_id)


def marked_name(attempt_id: str) -> str:
    """The name with a digest, for ids that are not safe, or whose name differs from another's only in case."""
    begin = _UNSAFE.sub("-", attempt_id).strip("-._")[:60]
    digest = hashlib.sha256(attempt_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{begin}~{digest}" if begin else f"attempt~{digest}"
