"""Tier 1: the lines of an AER into findings on form, fields, references and seal."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from .. import versions
from ..identity import execution_id
from ..plain import canonical
from ..records import rule_id, seal_digest
from . import agreement as _agreement
from .asked import Asked
from .fields import SEAL, WORDS
from .promised import Promised

RULES: Final = {
    "aer.document": "A document that is checked with an AER is about it.",
    "aer.json": "Every line is a JSON object.",
    "aer.form": "The values of a record have the types they should.",
    "aer.canonical": "Every line is the RFC 8785 form of its object, and ends in LF.",
    "aer.first": "The first line, and no other, is the execution, of a schema that is read here.",
    "aer.identity": "The execution id is the digest of origin, attempt, run id and case id.",
    "aer.kind": "The kind is from the closed list.",
    "aer.id": "Ids are unique and carry the prefix of their kind.",
    "aer.class": "Record and field name class O, D or I.",
    "aer.by": "Record and field name who recorded them, of the closed list: for what is observed, who wrote the range.",
    "aer.made": "A field that nobody records is made by one of the rules for it.",
    "aer.word": "A field with a closed list of words has one of them; what is always known is not declared unknown.",
    "aer.rule": "Class D and I name a rule of the catalogue, of that class; class O names none.",
    "aer.fields": "Every field of a record is listed with its class, and nothing else is.",
    "aer.required": "A field that the kind asks for is there or is declared unknown.",
    "aer.unknown": "Reasons are from the closed list; unknown is a field of the kind, and not one that is there.",
    "aer.reference": "A reference names a record of the kind it should.",
    "aer.after": "Order has no cycle.",
    "aer.link": "A call has one execution, or it is declared unknown why none; and both carry the same tool call id.",
    "aer.place": "What is observed says where it stands: a source of the record, and a place in it.",
    "aer.pointer": "A pointer names a source file of the record, a byte range and its digest.",
    **_agreement.RULES,
    "aer.seal": "The last line, and no other, is the seal: count and digest of all bytes before it, and of itself.",
}
_ID: Final = re.compile("ex_[a-z2-7]{26}")


def validate_aer(lines: Iterable[bytes]) -> list[Finding]:
    """Tier 1 over the lines of one AER, each with its LF (a missing LF is a finding)."""
    checker: Promised | Asked = Promised()
    first: JsonObject = {}
    digest = hashlib.sha256()
    count = 0
    sealed = False
    for number, line in enumerate(lines, 1):
        place = f"line {number}"
        try:
            record = loads(line)
        except ValueError as err:
            checker.say("aer.json", f"not JSON: {err}", place)
            record = None
        if number == 1 and isinstance(record, dict):
            first = record
            checker = Promised() if is_of_here(line, record) else Asked()
        if not isinstance(record, dict):
            if record is not None:
                checker.say("aer.json", "not a JSON object", place)
            digest.update(line)
            count += 1
            continue
        if isinstance(checker, Promised) and not is_canonical(record, line):
            checker.say("aer.canonical", "not the RFC 8785 form with one LF", place)
        place = str(record.get("id", place))
        if sealed:
            checker.say("aer.seal", "there are lines after the seal", place)
        if record.get("kind") == "seal":
            sealed = True
            _seal(checker, record, count, digest.hexdigest())
            if isinstance(checker, Promised):
                _own_seal(checker, record, first)
        else:
            _head(checker, record, number, place)
            checker.record(record, place)
        digest.update(line)
        count += 1
    if not sealed:
        checker.say("aer.seal", "there is no seal", f"line {count}")
    checker.finish()
    return checker.found


def is_of_here(line: bytes, first: JsonObject) -> bool:
    """Whether an AER is held to what the adapter of this package promises: one that names it, or a rule of it."""
    adapter = first.get("adapter")
    named = adapter.get("name") if isinstance(adapter, dict) else None
    return named == versions.ADAPTER or b'"otel2traj.' in line


def remarks(lines: Sequence[bytes]) -> list[str]:
    """What tier 1 does not look at: the promises of an adapter that is not this package's."""
    try:
        first = loads(lines[0]) if lines else None
    except ValueError:
        return []
    if not isinstance(first, dict) or is_of_here(lines[0], first):
        return []
    return ["made by another adapter: held to what aer/0.2 asks of any, not to fields, rules and places of its own"]


def is_canonical(record: JsonObject, line: bytes) -> bool:
    try:
        return canonical(record) + b"\n" == line
    except ValueError:
        return False


def _head(checker: Promised | Asked, record: JsonObject, number: int, place: str) -> None:
    if (number == 1) != (record.get("kind") == "execution"):
        checker.say("aer.first", "the execution is the first record, and the only one of its kind", place)
    if record.get("kind") != "execution":
        return
    schema, name = record.get("schema"), record.get("execution")
    if isinstance(checker, Asked):
        if schema not in (None, *versions.AER_OF_OTHERS):
            checker.say("aer.first", f"schema {schema!r} is none of {', '.join(versions.AER_OF_OTHERS)}", place)
        if name is not None and (not isinstance(name, str) or _ID.fullmatch(name) is None):
            checker.say("aer.identity", f"{name!r} is no execution id", place)
        return
    if schema != versions.AER:
        checker.say("aer.first", f"schema {schema!r} is not {versions.AER}", place)
    origin, attempt = record.get("origin"), record.get("attempt")
    made = execution_id(str(origin), str(attempt), record.get("run_id"), record.get("case_id"))
    if name != made:
        checker.say("aer.identity", f"the execution id should be {made}", place)


def _seal(checker: Promised | Asked, record: JsonObject, count: int, digest: str) -> None:
    """What any seal says: a digest over all before it, and how many records they are where it counts them."""
    if record.get("records", count) != count:
        checker.say("aer.seal", f"the seal counts {record.get('records')} records, there are {count}", "seal/records")
    if record.get("digest") not in (f"sha256:{digest}", *((digest,) if isinstance(checker, Asked) else ())):
        checker.say("aer.seal", "the digest is not that of the bytes before the seal", "seal/digest")


def _own_seal(checker: Promised, record: JsonObject, first: JsonObject) -> None:
    how = {"id": "seal", "class": "D", "by": "adapter", "rule": rule_id("seal")}
    itself = "seal_digest" in record or seals_itself(first)
    members = SEAL if itself else SEAL - {"seal_digest"}
    if record.keys() != members or any(record.get(name) != value for name, value in how.items()):
        checker.say("aer.seal", "the seal has other members than a seal has", "seal")
    if not isinstance(record.get("status"), str) or record["status"] not in WORDS["seal", "status"]:
        checker.say("aer.word", f"status is {record.get('status')!r}, which is none of its words", "seal/status")
    if itself and record.get("seal_digest") != seal_digest(record):
        checker.say("aer.seal", "the seal is not the one that was written: its own digest differs", "seal/seal_digest")
    if not isinstance(record.get("issues"), list):
        checker.say("aer.seal", "the seal lists no issues, not even none", "seal/issues")


def seals_itself(first: JsonObject) -> bool:
    """Whether the version of the adapter that the record of the execution tells gives a seal a digest of its own."""
    return _version(first) >= versions.SEALS_ITSELF


def _version(first: JsonObject) -> tuple[int, ...]:
    """The adapter's version; one that is none is the newest, so that it excuses nothing."""
    adapter = first.get("adapter")
    told = str(adapter.get("version")) if isinstance(adapter, dict) else ""
    good = re.fullmatch(r"\d+\.\d+\.\d+", told, re.ASCII) is not None
    return tuple(int(part) for part in told.split(".")) if good else versions.SEALS_ITSELF
