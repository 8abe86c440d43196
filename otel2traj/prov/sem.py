"""An AER into standoff annotations: what a profile says about its records, in records of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from ..canonical import JsonObject, loads
from ..errors import EvidenceError
from ..messages import PartKind, read_recorded
from ..model.unknown import EvidenceClass
from ..registry import Registry
from . import versions
from .plain import canonical
from .rules import catalogue

ROLES: Final = ("system", "user", "assistant", "tool", "other", "agent", "model", "harness")
OUTCOMES: Final = ("succeeded", "failed", "refused", "unknown", "judged")
INTEGRITY: Final = ("operator", "user", "model", "external", "unknown")

_ROLE: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_call_output": "tool",
    "function_call": "assistant",
    "reasoning": "assistant",
}
_BY_ROLE: Final = {"system": "operator", "user": "user", "assistant": "model", "tool": "external"}
_INPUT_OUTCOME: Final = {"succeeded": "succeeded", "completed": "succeeded", "failed": "failed"}


def read_lines(lines: Iterable[bytes]) -> Iterator[JsonObject]:
    """The records of an AER or a SEM. Raises `EvidenceError` for a line that is not a JSON object."""
    for number, line in enumerate(lines, 1):
        try:
            record = loads(line)
        except ValueError as err:
            raise EvidenceError(f"line {number} is not JSON: {err}", code="prov.line") from err
        if not isinstance(record, dict):
            raise EvidenceError(f"line {number} is not a JSON object", code="prov.line")
        yield record


class Profile(Protocol):
    """Looks at the records of one AER in order, and notes what it has to say of each."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    def start(self) -> Callable[[JsonObject], Iterator[JsonObject]]: ...


def annotation(rule: str, target: str, value: Any, *basis: str) -> JsonObject:
    """One annotation before it gets its id; `basis` are the AER fields that it rests on."""
    entry = catalogue("sem")[rule]
    return {
        "kind": "annotation",
        "type": entry.kind,
        "target": target,
        "value": value,
        "class": entry.evidence.value,
        "by": "profile",
        "rule": entry.id,
        "source": list(basis),
    }


def role_of(message: JsonObject) -> str:
    """The role of an AER message as one word of `ROLES`."""
    for key in ("role", "type"):
        word = message.get(key)
        if isinstance(word, str) and word in _ROLE:
            return _ROLE[word]
    return "other"


def reports_result(message: Any) -> bool:
    """Whether a recorded message, whatever its shape, holds the result of a tool."""
    return any(part.kind is PartKind.TOOL_RESULT for found in read_recorded(message) for part in found.parts)


class Default:
    """Roles, and what an outcome means."""

    name = "default"
    version = 1

    def start(self) -> Callable[[JsonObject], Iterator[JsonObject]]:
        return self._look

    def _look(self, record: JsonObject) -> Iterator[JsonObject]:
        kind, identifier = record.get("kind"), str(record.get("id"))
        if kind == "message":
            basis = [f"{identifier}/{key}" for key in ("role", "type") if key in record] or [identifier]
            yield annotation("message_role", identifier, role_of(record), *basis)
            for path, reason in sorted((record.get("unknown") or {}).items()):
                if path.endswith("/execution"):
                    value = {"outcome": "unknown", "reason": reason}
                    yield annotation("unobserved_outcome", path.removesuffix("/execution"), value, identifier)
        elif kind == "actor" and record.get("role") in ROLES:
            yield annotation("actor_role", identifier, record["role"], f"{identifier}/role")
        elif kind == "model_call":
            yield annotation("model_outcome", identifier, {"outcome": _model_outcome(record)}, f"{identifier}/status")
        elif kind == "tool_execution":
            basis = [f"{identifier}/{key}" for key in ("status", "exit_status") if key in record] or [identifier]
            yield annotation("tool_outcome", identifier, {"outcome": _tool_outcome(record)}, *basis)
        elif kind == "generic_artefact" and record.get("role") == "input_result":
            status = (record.get("content") or {}).get("status")
            outcome = _INPUT_OUTCOME.get(str(status), "unknown")
            yield annotation("input_outcome", identifier, {"outcome": outcome}, f"{identifier}/content")
        elif kind == "judgement" and "verdict" in record:
            value = {"outcome": "judged", "verdict": record["verdict"]}
            yield annotation("judged_outcome", str(record["subject"]), value, f"{identifier}/verdict")


def _model_outcome(record: JsonObject) -> str:
    return {"complete": "succeeded", "failed": "failed"}.get(str(record.get("status")), "unknown")


def _tool_outcome(record: JsonObject) -> str:
    code = (record.get("exit_status") or {}).get("exitCode")
    if record.get("status") == "error" or (isinstance(code, int) and code != 0):
        return "failed"
    return "succeeded" if record.get("status") == "succeeded" else "unknown"


class Injection:
    """Where content came from, where a declared injection shows up, and which calls were exposed to it."""

    name = "injection"
    version = 1

    def start(self) -> Callable[[JsonObject], Iterator[JsonObject]]:
        return _InjectionState().look


class _InjectionState:
    def __init__(self) -> None:
        self._external: set[str] = set()
        self._requests: dict[str, tuple[list[str], int | None]] = {}
        """Request -> what in it carries content from outside, and the position of the first such message."""
        self._exposed: dict[str, str] = {}
        self._declared: list[tuple[str, str]] = []

    def look(self, record: JsonObject) -> Iterator[JsonObject]:
        kind, identifier = record.get("kind"), str(record.get("id"))
        if kind == "fixture":
            self._declared += _injections(record.get("injections"))
        elif kind == "message":
            yield self._message(record, identifier)
            yield from self._markers(record, identifier)
        elif kind == "generic_artefact" and record.get("role") == "tool_result":
            yield annotation("integrity_external", identifier, "external", f"{identifier}/role")
            yield from self._markers(record, identifier)
        elif kind == "generic_artefact" and record.get("role") == "request":
            self._requests[identifier] = self._seen(record)
        elif kind == "model_call":
            seen, _ = self._requests.get(str(record.get("request")), ([], None))
            if seen:
                if isinstance(record.get("response"), str):
                    self._exposed[record["response"]] = identifier
                yield annotation("exposure", identifier, {"to": seen}, f"{identifier}/request")
        elif kind == "tool_execution" and isinstance(record.get("call"), str):
            call = self._exposed.get(record["call"].partition("-")[0])
            if call is not None:
                yield annotation("taint_policy", identifier, {"exposed": call}, f"{identifier}/call")

    def _seen(self, record: JsonObject) -> tuple[list[str], int | None]:
        """New messages with content from outside, and the earlier request where such content was kept from it."""
        kept = (record.get("kept") or {}).get("messages", 0)
        new = record.get("messages") or []
        seen = [message for message in new if message in self._external]
        first = kept + new.index(seen[0]) if seen else None
        base = str(record.get("extends"))
        _, before = self._requests.get(base, ([], None))
        if before is not None and before < kept:
            return [base, *seen], before
        return seen, first

    def _message(self, record: JsonObject, identifier: str) -> JsonObject:
        role = role_of(record)
        if role == "tool" or reports_result(record.get("content")):
            self._external.add(identifier)
            field = "content" if "content" in record else "role"
            return annotation("integrity_external", identifier, "external", f"{identifier}/{field}")
        label = _BY_ROLE.get(role, "unknown")
        basis = f"{identifier}/role" if "role" in record else identifier
        return annotation("integrity_by_role", identifier, label, basis)

    def _markers(self, record: JsonObject, identifier: str) -> Iterator[JsonObject]:
        if not self._declared:
            return
        field = "content" if "content" in record else "parts"
        text = "\n".join(strings(record.get(field)))
        for name, injection in self._declared:
            if injection in text:
                yield annotation("injection_marker", identifier, {"injection": name}, f"{identifier}/{field}")


def _injections(declared: Any) -> list[tuple[str, str]]:
    """(name, text) of each declared injection: `{name: text}`, `[{"id", "text"}]`, `[text]` or one text."""
    if isinstance(declared, str):
        declared = [declared]
    if isinstance(declared, dict):
        pairs = sorted(declared.items())
    else:
        pairs = []
        for number, one in enumerate(declared if isinstance(declared, list) else []):
            if isinstance(one, dict):
                name = one.get("id", one.get("name", str(number)))
                pairs.append((str(name), one.get("text", one.get("payload", one.get("content")))))
            else:
                pairs.append((str(number), one))
    return [(str(name), text) for name, text in pairs if isinstance(text, str) and text != ""]


def strings(value: Any) -> Iterator[str]:
    """Every string inside a JSON value."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list):
            todo += one


PROFILES: Final[Registry[Profile]] = Registry("semantics profile", Default(), Injection())


def _class(note: JsonObject, record: JsonObject) -> str:
    """The weakest of the rule's class and of the fields that the annotation rests on."""
    fields = record.get("fields") or {}
    classes = [EvidenceClass(note["class"])]
    for pointer in note["source"]:
        _, slash, field = pointer.partition("/")
        how = fields.get(field) if slash else record
        classes.append(EvidenceClass(how["class"]) if how is not None else EvidenceClass.INFERRED)
    return EvidenceClass.weakest(*classes).value


def _looked(look: Callable[[JsonObject], Iterator[JsonObject]], record: JsonObject) -> list[JsonObject]:
    try:
        notes = list(look(record))
        for note in notes:
            note["class"] = _class(note, record)
        return notes
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise EvidenceError(
            f"{record.get('id')!r} is no valid AER record", code="prov.aer", hint="otel2traj prov validate the AER"
        ) from err


def derive_sem(aer: Iterable[bytes], profile: str = "default") -> Iterator[bytes]:
    """The lines of the SEM of one AER under a profile, with LF. Raises `UsageError` for an unknown profile."""
    chosen = PROFILES.get(profile)
    rules = catalogue("sem")
    digest = hashlib.sha256()
    count = 0

    def line(record: JsonObject) -> bytes:
        nonlocal count
        data = canonical(record) + b"\n"
        digest.update(data)
        count += 1
        return data

    look = chosen.start()
    sealed: str | None = None
    number = 0
    for record in read_lines(aer):
        if record.get("kind") == "execution":
            yield line(
                {
                    "id": "sem",
                    "kind": "sem",
                    "schema": versions.SEM,
                    "profile": chosen.name,
                    "profile_version": chosen.version,
                    "execution": record.get("execution"),
                    "catalogue": {"name": rules.name, "version": rules.version, "sha256": rules.digest},
                }
            )
        elif record.get("kind") == "seal":
            sealed = record.get("digest")
        for note in _looked(look, record):
            yield line({"id": f"an{number}", **note})
            number += 1
    seal = {
        "id": "seal",
        "kind": "seal",
        "records": count,
        "digest": f"sha256:{digest.hexdigest()}",
        "aer": sealed,
        "issues": [] if sealed is not None else ["the AER has no seal"],
    }
    yield canonical(seal) + b"\n"
