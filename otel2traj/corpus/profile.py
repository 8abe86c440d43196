"""A source profile (TOML) into rules: which account paths to label, which raw objects to withhold."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from ..canonical import JsonObject, sha256_canonical
from ..errors import EvidenceError, UsageError
from ..prov.redaction import Redactor

_SHORTEST_SALT: Final = 16


@dataclass(frozen=True, slots=True)
class Withhold:
    """One rule: raw files whose path in their origin matches `path`; `executions` says whether what cites them goes."""

    path: str
    executions: bool
    reason: str

    def matches(self, path: str) -> bool:
        return fnmatchcase(path, self.path)


@dataclass(frozen=True, slots=True)
class SourceProfile:
    """What a profile file says. The salt itself is never written to a corpus, only its digest."""

    name: str
    version: int
    patterns: tuple[str, ...] = ()
    salt: bytes = b""
    withhold: tuple[Withhold, ...] = ()

    def to_json(self) -> JsonObject:
        """What the manifest records: enough to tell whether somebody has the same profile and the same salt."""
        return {
            "name": self.name,
            "version": self.version,
            "redact": {"patterns": list(self.patterns), "salt_sha256": hashlib.sha256(self.salt).hexdigest()}
            if self.patterns
            else None,
            "withhold": [
                {"path": rule.path, "executions": rule.executions, "reason": rule.reason} for rule in self.withhold
            ],
        }

    def redactor(self) -> Redactor | None:
        return Redactor(self.patterns, self.salt) if self.patterns else None


def read_profile(file: Path) -> SourceProfile:
    """Raises `EvidenceError` for a file that cannot be read, `UsageError` for a profile that says something unknown.

    `name`, `version`; `[redact]` with `patterns` and `salt_file` (beside the profile, 16 bytes or more);
    `[[withhold]]` with `path`, and where wanted `executions` and `reason`.
    """
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8"))
    except (OSError, ValueError) as err:
        raise EvidenceError(f"cannot read the profile {file.name}: {err}", hint="a TOML file is needed") from err
    _only(table, {"name", "version", "redact", "withhold"}, "the profile")
    name, version = table.get("name"), table.get("version")
    if not isinstance(name, str) or not isinstance(version, int):
        raise UsageError("a profile has a name and an integer version")
    redact = table.get("redact")
    patterns: tuple[str, ...] = ()
    salt = b""
    if redact is not None:
        _only(redact, {"patterns", "salt_file"}, "[redact]")
        patterns = _patterns(redact.get("patterns"))
        salt = _salt(file, redact.get("salt_file"))
    rules = table.get("withhold", [])
    if not isinstance(rules, list):
        raise UsageError("[[withhold]] is a list of tables")
    return SourceProfile(name, version, patterns, salt, tuple(_rule(rule) for rule in rules))


def _only(table: Any, known: set[str], where: str) -> None:
    if not isinstance(table, dict):
        raise UsageError(f"{where} is no table")
    for key in table:
        if key not in known:
            raise UsageError(f"{where} has an unknown key {key!r}", hint=f"known: {', '.join(sorted(known))}")


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise UsageError("[redact] patterns is a list of regular expressions")
    for pattern in value:
        try:
            re.compile(pattern)
        except re.error as err:
            raise UsageError(f"{pattern!r} is no regular expression: {err}") from err
    return tuple(value)


def _salt(file: Path, name: Any) -> bytes:
    if not isinstance(name, str):
        raise UsageError("[redact] names a salt_file", hint="16 random bytes or more, kept out of what is released")
    try:
        salt = (file.parent / name).read_bytes()
    except OSError as err:
        raise EvidenceError(f"cannot read the salt {name}: {err.strerror}") from err
    if len(salt) < _SHORTEST_SALT:
        raise UsageError(f"the salt has {len(salt)} bytes", hint=f"{_SHORTEST_SALT} random bytes or more")
    return salt


def _rule(table: Any) -> Withhold:
    _only(table, {"path", "executions", "reason"}, "[[withhold]]")
    path, executions = table.get("path"), table.get("executions", True)
    reason = table.get("reason", "withheld_by_profile")
    if not isinstance(path, str) or not isinstance(executions, bool) or not isinstance(reason, str):
        raise UsageError("[[withhold]] has a path (a glob), and executions = true or false")
    return Withhold(path, executions, reason)


def check_same(recorded: JsonObject | None, profile: SourceProfile | None) -> None:
    """Raises `UsageError` where a corpus was made with another profile, or another salt, than the one given."""
    given = None if profile is None else profile.to_json()
    if sha256_canonical(recorded) != sha256_canonical(given):
        raise UsageError(
            "the corpus was made with another source profile than the one given",
            hint="give the same --profile (with the same salt), or begin another corpus",
            code="corpus.profile",
        )
