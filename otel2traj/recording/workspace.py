"""A folder before and after a run to file evidence (`defuzex.file_evidence.v1`), by content digests."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..canonical import JsonObject
from .secrets import Masker

_CACHES: Final = ".mypy_cache .pytest_cache .ruff_cache .tox .cache"
_IGNORED: Final = frozenset(f".git .hg .svn node_modules .venv venv __pycache__ otel2traj-runs {_CACHES}".split())
MAX_FILES: Final = 20_000
_MAX_FILE: Final = 64 << 20
_MAX_TEXT: Final = 256 << 10
_MAX_TOTAL: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. `text` is kept for a diff where it is small UTF-8."""

    digest: str | None
    size: int
    mode: int
    kind: str
    text: str | None


class Workspace:
    """What lies in `root` now; `evidence` compares it with what lies there later. `skip` is left out: the attempt."""

    def __init__(self, root: Path, skip: Path) -> None:
        self._root = root
        self._skip = skip.resolve()
        self._errors: list[JsonObject] = []
        self._before = self._scan()

    def evidence(self, masker: Masker) -> JsonObject:
        after = self._scan()
        before = self._before
        changes = [
            _change(path, before.get(path), after.get(path), masker)
            for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path)
        ]
        return {
            "complete": not self._errors,
            "scope": "local",
            "changes": changes,
            "errors": self._errors,
            "schema_version": "defuzex.file_evidence.v1",
            "extensions": {},
        }

    def _scan(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        texts = 0
        for path in self._paths():
            if len(found) >= MAX_FILES:
                self._error("file_limit", f"more than {MAX_FILES} files; the rest is not compared")
                break
            file = self._root / path
            try:
                entry = _entry(file, keep=texts < _MAX_TOTAL)
            except FileNotFoundError:
                continue
            except OSError as err:
                self._error("unreadable", f"{path}: {err.strerror}")
                continue
            if entry.digest is None and entry.kind == "file":
                self._error("size_limit", f"{path} is over {_MAX_FILE >> 20} MiB; its content is not compared")
            texts += entry.size if entry.text is not None else 0
            found[path] = entry
        return found

    def _error(self, code: str, message: str) -> None:
        error: JsonObject = {"code": code, "message": message}
        if error not in self._errors:
            self._errors.append(error)

    def _paths(self) -> list[str]:
        """Of a repository what git does not ignore, else all below the root but for caches and environments."""
        listed = self._git()
        if listed is not None:
            return [path for path in listed if not self._skipped(self._root / path)]
        out = []
        for folder, names, files in os.walk(self._root):
            here = Path(folder)
            names[:] = sorted(name for name in names if name not in _IGNORED and not self._skipped(here / name))
            out += [(here / name).relative_to(self._root).as_posix() for name in sorted(files)]
            if len(out) > MAX_FILES:
                break
        return out

    def _skipped(self, path: Path) -> bool:
        absolute = path.absolute()
        return absolute == self._skip or self._skip in absolute.parents

    def _git(self) -> list[str] | None:
        command = ["git", "-C", str(self._root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(command, capture_output=True, timeout=30, env=env, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0:
            return None
        return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})


def _entry(file: Path, *, keep: bool) -> Entry:
    info = file.lstat()
    mode = stat.S_IMODE(info.st_mode)
    if stat.S_ISLNK(info.st_mode):
        target = os.fsencode(os.readlink(file))
        return Entry(_hash(target), info.st_size, mode, "symlink", None)
    if not stat.S_ISREG(info.st_mode):
        return Entry(None, 0, mode, "directory" if stat.S_ISDIR(info.st_mode) else "special", None)
    if info.st_size > _MAX_FILE:
        return Entry(None, info.st_size, mode, "file", None)
    data = file.read_bytes()
    text = None
    if keep and len(data) <= _MAX_TEXT and b"\0" not in data:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = None
    return Entry(_hash(data), len(data), mode, "file", text)


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _change(path: str, before: Entry | None, after: Entry | None, masker: Masker) -> JsonObject:
    kind = "created" if before is None else "deleted" if after is None else "modified"
    one = after or before
    return {
        "path": masker.text(path),
        "change_type": kind,
        "file_type": None if one is None else one.kind,
        "before_hash": None if before is None else before.digest,
        "after_hash": None if after is None else after.digest,
        "before_size": None if before is None else before.size,
        "after_size": None if after is None else after.size,
        "before_mode": None if before is None else f"{before.mode:04o}",
        "after_mode": None if after is None else f"{after.mode:04o}",
        "old_path": None,
        "complete": True,
        "reason": None,
        "diff": masker.text(diff) if (diff := _diff(path, before, after)) is not None else None,
    }


def _diff(path: str, before: Entry | None, after: Entry | None) -> str | None:
    if any(entry is not None and entry.text is None for entry in (before, after)):
        return None
    old = [] if before is None else (before.text or "").splitlines(keepends=True)
    new = [] if after is None else (after.text or "").splitlines(keepends=True)
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = []
    for line in difflib.unified_diff(old, new, *names):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
