"""A directory, a file or an archive into one sorted listing of what lies in it; nothing is opened, no link followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import EvidenceError
from .names import safe, shown


@dataclass(slots=True)
class Entry:
    """One file of an origin. `reason` says why it is refused; `size` and `sha256` are filled in once it was read.

    `ordinal` is the member's place in its archive; a file of a directory has none.
    """

    path: str
    file: Path | None = None
    size: int = 0
    sha256: str | None = None
    reason: str | None = None
    ordinal: int | None = None


def list_root(root: Path, leave_out: tuple[Path, ...]) -> list[Entry]:
    """Every file below a directory (or the one file), sorted by the bytes of its path whatever the system's order."""
    if root.is_file():
        return [Entry(root.name, root, root.stat().st_size)]
    if not root.is_dir():
        raise EvidenceError(f"there is no {root.name}", hint="give a directory, an archive or a trace file")
    found = list(_walk(root, "", leave_out))
    found.sort(key=lambda entry: entry.path.encode("utf-8"))
    return found


def _walk(folder: Path, prefix: str, leave_out: tuple[Path, ...]) -> Iterator[Entry]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        yield Entry(prefix.rstrip("/"), reason="unreadable")
        return
    for item in entries:
        path = Path(item.path)
        if path in leave_out:
            continue
        if safe(item.name) != item.name:
            yield Entry(prefix + shown(item.name), reason="unsafe_name")
            continue
        name = prefix + item.name
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            yield Entry(name, reason="symbolic_link")
        elif stat.S_ISDIR(mode):
            yield from _walk(path, name + "/", leave_out)
        elif stat.S_ISREG(mode):
            yield Entry(name, path, item.stat(follow_symlinks=False).st_size)
        else:
            yield Entry(name, reason="special_file")
