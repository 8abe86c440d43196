"""A saved trajectory file, streamed step by step where it is laid out a step a line, into sinks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..canonical import WRITTEN_DEPTH, JsonError, JsonObject, loads_tolerant
from ..errors import EvidenceError
from ..model.codec import header_from_json, step_from_json, summary_from_json
from ..model.trajectory import SCHEMA, Event, StepSink, Summary, drive
from .upgrade import upgrade_header, upgrade_step

_STEPS = b'"steps": ['
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_DECLARED = re.compile(rb'"schema"\s*:\s*"' + re.escape(SCHEMA.encode()) + b'"')


def is_stored(path: Path) -> bool:
    """Whether the file is a saved trajectory; decided by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(4096)
    return head.lstrip()[:1] == b"{" and _declares(head)


def _declares(head: bytes) -> bool:
    """Whether the document itself declares the schema; one inside it may name what it was made from."""
    depth = 0
    for token in _TOKEN.finditer(head):
        mark = token[0]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return False
        elif depth == 1 and _DECLARED.match(head, token.start()) is not None:
            return True
    return False


def replay(path: Path, *sinks: StepSink) -> Summary:
    """Drive the sinks from a saved file. Raises `EvidenceError` for what is no trajectory."""
    return drive(read(path), sinks)


def read(path: Path) -> Iterator[Event]:
    """The header of a saved file, its steps one by one, and its summary. Raises as `replay` does."""
    with path.open("rb") as stream:
        data, steps = _parts(stream, path.name)
        try:
            version = data.get("builder_version")
            data = upgrade_header(data, version)
            yield header_from_json(data)
            for item in steps:
                yield step_from_json(upgrade_step(item, version))
            summary = summary_from_json(data)
        except (KeyError, ValueError, TypeError, AttributeError) as err:
            raise EvidenceError(
                f"{path.name} is not a trajectory: {err}", hint="see `otel2traj validate` for what is wrong"
            ) from err
    yield summary


def _parts(stream: BinaryIO, name: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Everything but the steps, and the steps one by one."""
    head = bytearray()
    for line in stream:
        if line.startswith(_STEPS) and line.rstrip() == _STEPS:
            start = stream.tell()
            for line in stream:
                if line.startswith(b"]"):
                    break
            else:
                raise EvidenceError(f"{name} ends inside its steps")
            tail = line[1:].lstrip(b" ,") + stream.read()
            whole = _object(bytes(head).rstrip().rstrip(b",") + _joined(tail), name)
            return whole, _lines(stream, start, name)
        head += line
    whole = _object(bytes(head), name)
    steps = whole.pop("steps", None)
    return whole, iter(steps if isinstance(steps, list) else [])


def _joined(tail: bytes) -> bytes:
    rest = tail.lstrip()
    return b"\n" + rest if rest.startswith(b"}") else b",\n" + rest


def _lines(stream: BinaryIO, start: int, name: str) -> Iterator[JsonObject]:
    stream.seek(start)
    for line in stream:
        if line.startswith(b"]"):
            return
        yield _object(line.rstrip().rstrip(b","), name)


def _object(data: bytes, name: str) -> JsonObject:
    try:
        value, _ = loads_tolerant(data, WRITTEN_DEPTH)
    except JsonError as err:
        raise EvidenceError(f"{name} is not JSON: {err}") from err
    if not isinstance(value, dict):
        raise EvidenceError(f"{name} is not a trajectory")
    return value
