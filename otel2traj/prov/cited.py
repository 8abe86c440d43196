"""Cited records into the one place that a value was read from, where it stands in them more than once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..canonical import JsonObject
from ..timestamps import parse_ns
from .places import Opens, Place, same
from .tree import Held, Side, Tree, plain_name

NAMES: Final[dict[str, frozenset[str]]] = {
    "model": frozenset({"model", "modelname", "modelid", "requestmodel", "responsemodel", "deploymentname"}),
    "finish_reason": frozenset(
        {"finishreason", "finishreasons", "stopreason", "donereason", "status", "reason", "stopsequence"}
    ),
    "started": frozenset({"started", "startedat", "starttime", "starttimeunixnano", "timestamp", "ts", "time"}),
    "ended": frozenset({"ended", "endedat", "endtime", "endtimeunixnano", "timestamp", "ts", "time", "completedat"}),
    "name": frozenset({"name", "toolname", "functionname", "title", "tool"}),
    "arguments": frozenset(
        {"arguments", "args", "input", "parameters", "kwargs", "rawinput", "inputvalue", "toolcallarguments"}
    ),
    "content": frozenset(
        {"content", "text", "output", "result", "results", "rawoutput", "outputvalue", "message", "value", "prompt"}
    ),
    "system": frozenset(
        {"system", "instructions", "systeminstruction", "systeminstructions", "systemprompt", "content", "text"}
    ),
    "tool_call_id": frozenset({"toolcallid", "id", "callid", "tooluseid"}),
    "call_id": frozenset({"callid", "id", "toolcallid", "tooluseid"}),
    "http_status": frozenset({"status", "statuscode", "httpstatus", "httpstatuscode"}),
    "change": frozenset({"change", "changetype", "type", "operation"}),
    "exit_status": frozenset({"exitstatus", "exitcode", "returncode"}),
    "verdict": frozenset({"verdict", "score"}),
}
"""Field -> how recorders name it, in lower case without signs. A value that is short or a number counts only there."""

_SIDE: Final = {
    **dict.fromkeys(
        ("finish_reason", "http_status", "wire_error", "response_id", "ended", "exit_status"), Side.ANSWERED
    ),
    **dict.fromkeys(("error", "choices", "result"), Side.ANSWERED),
    **dict.fromkeys(("parameters", "arguments", "system", "tools", "messages", "started"), Side.ASKED),
}
"""Field -> the side it is read from; the others are of neither."""
_BESIDE: Final = {
    Side.ASKED: ("response", "error", "payload_output", "payload_error"),
    Side.ANSWERED: ("request", "span_start", "payload_input"),
}
"""Side -> the records that cannot hold it."""
_IN_MESSAGES: Final = frozenset({"content", "system"})
_SHORT: Final = 12
_BYTES: Final = 4
_CONVERSATIONS: Final = ("/data/payload/messages", "/data/payload/input", "/data/payload/contents")


class Cited:
    """The cited records of one thing, opened when first asked for. With a `side` they are cited for what stands there:
    a request is never found in an answer, nor an answer in a request."""

    def __init__(
        self,
        sources: list[JsonObject],
        open_: Callable[[JsonObject], Tree | None],
        otherwise: str,
        side: Side | None = None,
    ) -> None:
        self.sources = sources
        self.otherwise = otherwise
        """The rule under which a value is said that stands nowhere as such."""
        self._open = open_
        self._side = side

    def of_one(self, number: int) -> Cited:
        """One of them alone."""
        return Cited([self.sources[number]], self._open, self.otherwise, self._side)

    def of_word(self, word: str) -> Cited:
        """Those that hold the word; all of them where none does."""
        opened = [self._open(one) for one in self.sources]
        own = [
            one
            for one, tree in zip(self.sources, opened, strict=True)
            if tree is not None and _bytes_hold(tree.data, word)
        ]
        return Cited(own or self.sources, self._open, self.otherwise, self._side)

    def of_side(self, side: Side) -> Cited:
        """The same records, for what stands on that side."""
        return Cited(self.sources, self._open, self.otherwise, side)

    def find(self, value: Any, field: str = "", near: Place | None = None) -> Place | None:
        """Where the value stands that was read for the field: in the first record that holds it on the field's side,
        or near to a place that is known to be right. A place that is named as recorders name the field goes before
        others, then the nearest, then one that is on the side and not only on no other, then one that is no JSON text
        within a text, then the first. What is short or a number stands under a name of the field, or nowhere."""
        names = NAMES.get(field, frozenset({plain_name(field)}))
        side = self._side or _SIDE.get(field)
        anywhere = isinstance(value, (str, dict, list)) and len(value) >= (_SHORT if isinstance(value, str) else 1)

        def rank(held: Held) -> tuple[bool, int, bool, int]:
            close = 0 if near is None else _shared(held.pointers, near)
            return (held.name in names, close, held.side is side, -len(held.pointers))

        for number, source in enumerate(self.sources):
            tree = None if side is not None and source.get("what") in _BESIDE[side] else self._open(source)
            if tree is None:
                continue
            if tree.root is None:
                at = _bytes_of(tree.data, value)
                if at is not None:
                    return [number, *at]
                continue
            for found in tree.rounds(value, messages=field in _IN_MESSAGES):
                good = [one for one in found if one.name in names or anywhere]
                if side is not None and near is None:
                    good = [one for one in good if one.side is None or one.side is side]
                if good:
                    return [number, *max(good, key=rank).pointers]
        return None

    def message(self, messages: Sequence[Any], position: int) -> Place | None:
        """Where the message of a request stands that is the one of that position: at its place in the provider's list,
        else, of several alike, the one that as many others precede."""
        message = messages[position]
        for number, source in enumerate(self.sources):
            tree = self._open(source)
            for base in _CONVERSATIONS if tree is not None and isinstance(tree.root, dict) else ():
                held = None if tree is None else _walk(tree.root, base)
                if isinstance(held, list) and len(held) >= len(messages):
                    there = position + len(held) - len(messages)
                    if same(held[there], message):
                        return [number, f"{base}/{there}"]
        place = self.find(message, "content")
        tree = None if place is None or not isinstance(place[-1], str) else self._open(self.sources[int(place[0])])
        if place is None or tree is None:
            return place
        above = [*place[1:-1], str(place[-1]).rpartition("/")[0]]
        alike = [one.pointers for one in tree(message) if [*one.pointers[:-1], _above(one.pointers)] == above]
        before = sum(one == message for one in messages[:position]) if len(alike) > 1 else 0
        return [place[0], *alike[before]] if before < len(alike) else place

    def time(self, time: int | None, field: str) -> Place | None:
        """Where a time stands in another notation: as a number of nanoseconds, or a text that means the same."""
        if time is None:
            return None
        for one in (str(time), time):
            place = self.find(one, field)
            if place is not None:
                return place
        for number, source in enumerate(self.sources):
            tree = None if source.get("what") in _BESIDE[_SIDE[field]] else self._open(source)
            for held in () if tree is None else tree.times:
                if held.name in NAMES[field] and parse_ns(held.value) == time:
                    return [number, *held.pointers]
        return None

    def says(self, names: frozenset[str], values: tuple[Any, ...]) -> bool:
        """Whether one of the records says one of the values under one of the names, of itself: what something was
        given or gave back may say anything."""
        trees = [tree for one in self.sources if (tree := self._open(one)) is not None and tree.root is not None]
        found = (held for tree in trees for value in values for held in tree(value))
        return any(held.name in names and held.side is None and len(held.pointers) == 1 for held in found)

    def holds(self, pointer: str, value: Any, of: tuple[str, ...]) -> bool:
        """Whether one of the records of these kinds holds the value at a place."""
        trees = (self._open(one) for one in self.sources if one.get("what") in of)
        return any(tree is not None and _walk(tree.root, pointer) == value for tree in trees)


def _above(pointers: list[str]) -> str:
    return pointers[-1].rpartition("/")[0]


def _shared(pointers: list[str], near: Place) -> int:
    """So many keys of the pointers are those of the place."""
    total = 0
    for one, other in zip(pointers, near[1:], strict=False):
        keys = [one.split("/"), str(other).split("/")]
        same_keys = 0
        while same_keys < min(map(len, keys)) and keys[0][same_keys] == keys[1][same_keys]:
            same_keys += 1
        total += same_keys
        if one != other:
            break
    return total


def _walk(value: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _bytes_of(data: bytes, value: Any) -> list[int] | None:
    if not isinstance(value, str) or len(value) < _BYTES:
        return None
    text = value.encode("utf-8", "surrogatepass")
    at = data.find(text)
    return None if at < 0 else [at, len(text)]


def _bytes_hold(data: bytes, word: str) -> bool:
    """Whether the word stands in the bytes, as it is or as JSON writes it."""
    forms = (word, json.dumps(word)[1:-1])
    return any(one.encode("utf-8", "surrogatepass") in data for one in forms)


_WIRE: Final = ("request", "response", "error")


class Opened:
    """Decodes each cited range once, until it is told to forget."""

    def __init__(self, read: Opens | None) -> None:
        self._read = read
        self._trees: dict[tuple[str, int, int], Tree | None] = {}

    def __call__(self, source: JsonObject) -> Tree | None:
        if self._read is None:
            return None
        key = (str(source.get("path")), int(source.get("offset", -1)), int(source.get("length", -1)))
        if key not in self._trees:
            data = self._read(*key)
            self._trees[key] = None if data is None else Tree(data, wire=source.get("what") in _WIRE)
        return self._trees[key]

    def forget(self) -> None:
        self._trees.clear()
