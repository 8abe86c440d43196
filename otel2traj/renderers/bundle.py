"""Steps into the compressed parts that a page opens one by one.

Every distinct message, system text and tool list is kept once under a number, in the part where it first appears, so a
growing conversation costs what is new in it. A part is a JSON document `{"f", "s", "v", "o"}`: number of its first
value, step records, values, and for each value the position of the step that brought it. The index is one small object
for the whole trajectory. Held in memory: the index, one digest a value, and the part that is being filled.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from tempfile import SpooledTemporaryFile
from typing import Any, Final

from .. import prices
from ..canonical import JsonObject, JsonValue, dumps
from ..model.codec import coverage_to_json, sdk_input_to_json, step_to_json
from ..model.trajectory import Header, Step, Summary
from .glance import Glance, ended_words, gap_words, inputs_words, title
from .index import step_row
from .safe import value_text
from .words import cost_words

PART: Final = 512 * 1024
"""Bytes of JSON after which a part is closed."""

RAW_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of raw records that are embedded in all; the page names the place of the others."""

RawReader = Callable[[str, int, int], "bytes | None"]
"""`(path, offset, length)` to the recorded bytes, or None where they are not at hand."""


@dataclass(slots=True)
class Bundle:
    """What a page or a server needs of one trajectory. `part(kind, n)` gives zlib bytes; kinds are `c` (content) and
    `r` (raw records, one after the other)."""

    index: JsonObject = field(default_factory=dict)
    places: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {"c": [], "r": []})
    spool: SpooledTemporaryFile[bytes] = field(default_factory=lambda: SpooledTemporaryFile(max_size=1 << 20))  # noqa: SIM115

    def part(self, kind: str, number: int) -> bytes:
        offset, length = self.places[kind][number]
        self.spool.seek(offset)
        return self.spool.read(length)

    def keep(self, kind: str, data: bytes) -> None:
        packed = zlib.compress(data, 6)
        self.spool.seek(0, 2)
        self.places[kind].append((self.spool.tell(), len(packed)))
        self.spool.write(packed)

    @property
    def row(self) -> JsonObject:
        """One line about this trajectory, for a list of many."""
        keys = ("label", "title", "status", "ended", "failures", "unsure")
        return {**{key: self.index[key] for key in keys}, "steps": len(self.index["steps"])}


class _Names:
    """Words to small numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.list: list[str | None] = []
        self._of: dict[str | None, int] = {}

    def number(self, name: str | None) -> int:
        if name not in self._of:
            self._of[name] = len(self.list)
            self.list.append(name)
        return self._of[name]


class BundleSink:
    """Fills `bundle`; it is complete after `end`."""

    def __init__(
        self,
        label: str,
        *,
        raw: RawReader | None = None,
        inference: bool = True,
        spool: SpooledTemporaryFile[bytes] | None = None,
    ) -> None:
        self.bundle = Bundle() if spool is None else Bundle(spool=spool)
        self._label, self._raw, self._inference = label, raw, inference
        self._names = {"agents": _Names(), "models": _Names(), "tools": _Names(), "ordinals": _Names()}
        self._rows: list[list[Any]] = []
        self._glance = Glance(inference=inference)
        self._header = Header()
        self._numbers: dict[bytes, int] = {}
        self._first_of_part: list[int] = []
        self._steps: list[bytes] = []
        self._values: list[bytes] = []
        self._owners: list[int] = []
        self._size = 0
        self._raw_places: dict[tuple[str, int, int], list[JsonValue]] = {}
        self._raw_part = bytearray()
        self._raw_total = 0

    def begin(self, header: Header) -> None:
        self._header = header
        self._glance.begin(header)

    def step(self, step: Step) -> None:
        self._glance.add(step)
        data = step_to_json(step)
        if not self._inference:
            _drop_inference(data)
        asked = dict(data.pop("input"))
        record: JsonObject = {"i": {**data, "input": asked}}
        if isinstance(asked.get("messages"), list):
            record["m"] = _spans([self._value(message) for message in asked.pop("messages")])
        for key, short in (("system", "y"), ("tools", "t")):
            if asked.get(key) is not None:
                record[short] = self._value(asked.pop(key))
        raw = self._raw_records(step)
        if raw:
            record["r"] = raw
        number = {key: names.number for key, names in self._names.items()}
        self._rows.append(
            [*step_row(step, number, inference=self._inference), len(self.bundle.places["c"]), len(self._steps)]
        )
        self._add(self._steps, dumps(record))

    def end(self, summary: Summary) -> None:
        inputs = [self._value(sdk_input_to_json(item)) for item in summary.inputs]
        metadata = self._value(self._header.metadata)
        warnings = self._value(list(summary.warnings))
        sources = self._value(summary.sources)
        self._close_part()
        if self._raw_part:
            self._close_raw()
        glance = self._glance
        glance.end(summary)
        outcome = glance.outcome
        self.bundle.index = {
            "label": self._label,
            "title": title(self._header, summary),
            "status": summary.status,
            "error": summary.error,
            "header": {
                "schema": self._header.schema,
                "builder_version": self._header.builder_version,
                "run_id": self._header.run_id,
                "case_id": self._header.case_id,
                "agent_id": self._header.agent_id,
                "framework": self._header.framework,
            },
            "ended": [*ended_words(outcome.ended), outcome.ended.said_by],
            "mixed": inputs_words(outcome),
            "answer": None if glance.answer is None else value_text(glance.answer),
            "answer_of": glance.answer_of,
            "seconds": glance.seconds,
            "failures": len(outcome.failures),
            "unsure": len(outcome.unknowns),
            "cost": [
                None if glance.cost is None else cost_words(glance.cost),
                glance.unpriced,
                None if glance.cost is None else prices.label(),
            ],
            "tokens": [glance.tokens_in, glance.tokens_out],
            "coverage": coverage_to_json(summary.coverage),
            "exact": glance.links.get("exact", 0),
            "problems": [
                [f.kind, True, f.step_id, f.agent, f.tool or f.model, f.reason, f.recovered, f.input_ordinal]
                for f in outcome.failures
            ]
            + [[g.kind, False, g.step_id, g.agent, gap_words(g), "", None, g.input_ordinal] for g in outcome.unknowns],
            **{key: names.list for key, names in self._names.items()},
            "steps": self._rows,
            "firsts": self._first_of_part,
            "raws": len(self.bundle.places["r"]),
            "inputs": inputs,
            "metadata": metadata,
            "warnings": [len(summary.warnings), warnings],
            "sources": [len(summary.sources), sources],
        }

    def _value(self, value: JsonValue) -> int:
        """The number of a value; kept in the open part when it is new."""
        data = dumps(value)
        key = blake2b(data, digest_size=16).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._owners.append(len(self._rows))
            self._add(self._values, data)
        return number

    def _add(self, group: list[bytes], data: bytes) -> None:
        group.append(data)
        self._size += len(data)
        if self._size >= PART and group is self._steps:
            self._close_part()

    def _close_part(self) -> None:
        if not self._steps and not self._values:
            return
        first = len(self._numbers) - len(self._values)
        head = b'{"f":%d,"o":%s,' % (first, dumps(self._owners))
        self.bundle.keep("c", head + b'"s":[' + b",".join(self._steps) + b'],"v":[' + b",".join(self._values) + b"]}")
        self._first_of_part.append(first)
        self._steps, self._values, self._owners, self._size = [], [], [], 0

    def _raw_records(self, step: Step) -> JsonObject:
        """Where the raw bytes of each record of the step stand: `[part, offset, length, digest holds]`."""
        if self._raw is None:
            return {}
        found: JsonObject = {}
        for record in records_of(step):
            path, offset, length = record.get("path"), record.get("offset"), record.get("length")
            if not (isinstance(path, str) and isinstance(offset, int) and isinstance(length, int)):
                continue
            place = self._raw_places.get((path, offset, length)) or self._embed(
                path, offset, length, record.get("sha256")
            )
            if place is not None:
                found[f"{path}@{offset}+{length}"] = place
        return found

    def _embed(self, path: str, offset: int, length: int, digest: JsonValue) -> list[JsonValue] | None:
        if self._raw is None or self._raw_total + length > RAW_LIMIT:
            return None
        data = self._raw(path, offset, length)
        if data is None:
            return None
        place: list[JsonValue] = [
            len(self.bundle.places["r"]),
            len(self._raw_part),
            len(data),
            sha256(data).hexdigest() == digest,
        ]
        self._raw_places[(path, offset, length)] = place
        self._raw_part += data
        self._raw_total += len(data)
        if len(self._raw_part) >= PART:
            self._close_raw()
        return place

    def _close_raw(self) -> None:
        self.bundle.keep("r", bytes(self._raw_part))
        self._raw_part = bytearray()


def records_of(step: Step) -> list[JsonObject]:
    """The evidence records of a step and of its tool logs."""
    out: list[JsonObject] = []
    for evidence in (step.evidence, *(log.evidence for log in step.tool_logs)):
        records = evidence.get("records")
        if isinstance(records, list):
            out += [record for record in records if isinstance(record, dict)]
    return out


def _spans(numbers: list[int]) -> list[list[int]]:
    """Numbers as stretches `[first, last]`, in their order."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return spans


def _drop_inference(data: JsonObject) -> None:
    data["evidence"] = {key: value for key, value in data["evidence"].items() if key != "inferred_call"}
    for log in data["tool_logs"]:
        log["evidence"] = {key: value for key, value in log["evidence"].items() if key != "inferred"}
