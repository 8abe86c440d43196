"""A trajectory on its way out, with what a profile names replaced; the original is read and never touched."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, BinaryIO, cast

from ..canonical import JsonError, JsonObject, JsonValue, dumps, loads
from ..errors import UsageError
from ..model.codec import (
    header_from_json,
    header_to_json,
    step_from_json,
    step_to_json,
    summary_from_json,
    summary_to_json,
)
from ..model.trajectory import Header, Step, StepSink, Summary, TrajectoryStatus
from .steps_jsonl import StepsJsonl

_KEPT = {"schema", "builder_version", "status", "kind", "source", "link", "execution_status", "step_id"}
_KEPT |= {"coverage", "sources", "evidence"}
_CONTAINERS = {"metadata", "input", "output", "inputs", "warnings", "error", "exit_status"}


@dataclass(frozen=True, slots=True)
class Rule:
    """`keys` are globs over key names, in any case, whose whole value is replaced; `pattern` is a regular expression
    over every text. `replacement` may name groups (`\\1`) when there is a pattern."""

    name: str
    keys: tuple[str, ...]
    pattern: re.Pattern[str] | None
    replacement: str


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    rules: tuple[Rule, ...]
    sha256: str
    """Of the profile file's bytes."""


def read_profile(data: bytes) -> Profile:
    """A profile from TOML. Raises `UsageError` naming the rule and what is wrong with it."""
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
        raise UsageError(f"the redaction profile is no TOML: {err}", hint="see docs/how-to/export.md") from err
    unknown = set(document) - {"name", "rule"}
    if unknown:
        raise UsageError(f"the redaction profile has unknown keys: {', '.join(sorted(unknown))}")
    listed = document.get("rule", [])
    if not isinstance(listed, list) or not listed:
        raise UsageError("the redaction profile has no [[rule]]", hint="a profile without rules would redact nothing")
    rules = tuple(_rule(entry, n) for n, entry in enumerate(listed, 1))
    if len({rule.name for rule in rules}) != len(rules):
        raise UsageError("two rules of the redaction profile have one name", hint="counts are told by name")
    return Profile(str(document.get("name", "unnamed")), rules, hashlib.sha256(data).hexdigest())


def _rule(entry: Any, n: int) -> Rule:
    where = f"rule {n} of the redaction profile"
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise UsageError(f"{where} has no name")
    where = f"rule {entry['name']!r} of the redaction profile"
    unknown = set(entry) - {"name", "keys", "pattern", "replacement"}
    if unknown:
        raise UsageError(f"{where} has unknown keys: {', '.join(sorted(unknown))}")
    keys, pattern = entry.get("keys", []), entry.get("pattern")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise UsageError(f"{where}: keys must be a list of key names")
    if pattern is not None and not isinstance(pattern, str):
        raise UsageError(f"{where}: pattern must be a text")
    if not keys and pattern is None:
        raise UsageError(f"{where} has neither keys nor a pattern")
    replacement = entry.get("replacement", f"[REDACTED:{entry['name']}]")
    if not isinstance(replacement, str):
        raise UsageError(f"{where}: replacement must be a text")
    try:
        compiled = None if pattern is None else re.compile(pattern)
        if compiled is not None:
            re.compile(f"(?:{pattern})|").sub(replacement, "")
    except (re.error, IndexError) as err:
        raise UsageError(f"{where}: {err}") from err
    return Rule(entry["name"], tuple(key.casefold() for key in keys), compiled, replacement)


@dataclass(slots=True)
class Redacting:
    """A sink before a sink. Evidence, digests, coverage, token counts and the words of closed lists stay: they hold no
    content, and a reader with access checks the redacted copy by them. Key names themselves are never changed."""

    profile: Profile
    inner: StepSink
    counts: dict[str, int] = field(default_factory=dict)
    original: str | None = None
    """After `end`: SHA-256 of the unredacted trajectory as `steps-jsonl` writes it."""
    _digest: Any = None
    _raw: StepSink | None = None
    _has_keys: bool = False

    def begin(self, header: Header) -> None:
        self.counts = {rule.name: 0 for rule in self.profile.rules}
        self._has_keys = any(rule.keys for rule in self.profile.rules)
        self._digest = hashlib.sha256()
        self._raw = StepsJsonl().sink(cast(BinaryIO, _Hashing(self._digest)))
        self._raw.begin(header)
        data = {**header_to_json(header, TrajectoryStatus.COMPLETE), "metadata": header.metadata, **header.extra}
        clean = header_from_json(self._object(data))
        clean.extra["redacted"] = {"profile": self.profile.name, "profile_sha256": self.profile.sha256}
        self.inner.begin(clean)

    def step(self, step: Step) -> None:
        if self._raw is not None:
            self._raw.step(step)
        self.inner.step(step_from_json(self._object(step_to_json(step))))

    def end(self, summary: Summary) -> None:
        if self._raw is not None:
            self._raw.end(summary)
            self.original = self._digest.hexdigest()
        data: JsonObject = {"status": summary.status, **summary_to_json(summary)}
        if summary.error is not None:
            data["error"] = summary.error
        self.inner.end(summary_from_json(self._object(data)))

    def report(self) -> JsonObject:
        """What was replaced, by which rules, in which original; deterministic."""
        return {
            "profile": {"name": self.profile.name, "sha256": self.profile.sha256},
            "rules": [{"name": rule.name, "replacements": self.counts[rule.name]} for rule in self.profile.rules],
            "replacements": sum(self.counts.values()),
            "original": {"form": "steps-jsonl", "sha256": self.original},
        }

    def _object(self, data: JsonObject) -> JsonObject:
        """The fields of a header, step, log or summary: what gives the trajectory its form stays, texts are cleaned."""
        out: JsonObject = {}
        for key, value in data.items():
            if key in _KEPT:
                out[key] = value
            elif key == "tool_logs":
                out[key] = [self._object(log) for log in value]
            elif key == "output" and isinstance(value, dict):
                out[key] = {name: item if name == "usage" else self._member(name, item) for name, item in value.items()}
            elif key in _CONTAINERS:
                out[key] = self._value(value)
            else:
                out[key] = self._member(key, value)
        return out

    def _member(self, key: str, value: JsonValue) -> JsonValue:
        rule = self._rule_for(key, value)
        return self._value(value) if rule is None else rule.replacement

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: self._member(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if self._has_keys and text[:1] in ("{", "["):
            text = self._json_text(text)
        for rule in self.profile.rules:
            if rule.pattern is not None:
                text, count = rule.pattern.subn(rule.replacement, text)
                self.counts[rule.name] += count
        return text

    def _json_text(self, text: str) -> str:
        """Arguments and results often travel as JSON text; its members are reached by key rules too."""
        try:
            value = loads(text)
        except JsonError:
            return text
        before = dict(self.counts)
        clean = self._keys_only(value)
        return text if self.counts == before else dumps(clean).decode("utf-8")

    def _keys_only(self, value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [self._keys_only(item) for item in value]
        if not isinstance(value, dict):
            return value
        out: JsonObject = {}
        for key, item in value.items():
            rule = self._rule_for(key, item)
            out[key] = self._keys_only(item) if rule is None else rule.replacement
        return out

    def _rule_for(self, key: str, value: JsonValue) -> Rule | None:
        if value is None:
            return None
        for rule in self.profile.rules:
            if any(fnmatchcase(key.casefold(), glob) for glob in rule.keys):
                self.counts[rule.name] += 1
                return rule
        return None


class _Hashing:
    """The one method of a stream that a line writer uses."""

    def __init__(self, digest: Any) -> None:
        self._digest = digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return len(data)
