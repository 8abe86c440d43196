"""Names of files and members: which of them may be used, and how one that may not is written down."""

from __future__ import annotations

import re
from typing import Final

_DRIVE: Final = re.compile(r"[A-Za-z]:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_LONGEST: Final = 1024
_LONGEST_PART: Final = 240


def safe(name: str) -> str | None:
    """The name as a plain relative path, or None for one that is absolute, leaves its directory, has a control
    character, a backslash or a drive letter, or is longer than file systems take."""
    if name.startswith("/") or "\\" in name or _DRIVE.match(name) or _CONTROL.search(name):
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or len(name.encode()) > _LONGEST:
        return None
    if any(len(part.encode()) > _LONGEST_PART for part in parts):
        return None
    return "/".join(parts)


def shown(name: str) -> str:
    """Any name as printable text: what cannot stand in a UTF-8 file is written as an escape."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", name)[:_LONGEST]


def extension(name: str) -> str:
    """The extension that a raw object keeps, for people: letters and digits of the file's own, else `bin`."""
    last = name.rpartition("/")[2]
    found = re.fullmatch(r".+?\.((?:tar\.)?[A-Za-z0-9]{1,8})", last)
    return found[1].lower() if found is not None else "bin"
