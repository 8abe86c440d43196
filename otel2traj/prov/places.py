"""Cited records into the places where a value stands: JSON pointers into the range, bytes of it where it is no JSON.

Nothing is observed that no cited byte holds. A place is `[number of the source, pointer, …]`: RFC 6901 pointers, each
after the first into the JSON text that stands where the one before leads; in a range that is no JSON
`[number of the source, offset, length]`, bytes within the range.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from ..canonical import JsonObject, canonical_bytes, loads_text, loads_tolerant
from ..timestamps import parse_ns

Place = list[int | str]


class Opens(Protocol):
    """Opens sources: the (inflated) bytes of a range, and the size of a whole source; None where there is nothing."""

    def __call__(self, path: str, offset: int, length: int, /) -> bytes | None: ...

    def size(self, path: str, /) -> int | None: ...


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
    "verdict": frozenset({"verdict", "score"}),
}
"""Field -> how recorders name it, in lower case without signs. A value that is short or a number counts only there."""

_TIMES: Final = NAMES["started"] | NAMES["ended"]
_SHORT: Final = 12
_BYTES: Final = 4
_LONG_LIST: Final = 64
_NESTED: Final = 4
_SIGNS: Final = re.compile(r"[^a-z0-9]")
_ANY: Final = ("stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue")


def by_whom(source: JsonObject) -> str:
    """Who wrote a cited record down: the wire interceptor, the protocol client, the harness, a configuration file, or
    else the agent's own telemetry."""
    what = str(source.get("what")).partition("_")[0]
    if what in ("request", "response", "error"):
        return "interceptor"
    if what in ("acp", "terminal"):
        return "client"
    if what == "file":
        return "config" if str(source.get("path")).rpartition("/")[2] in ("run.json", "case.json") else "harness"
    return "source"


def resolve(data: bytes, place: Place) -> Any:
    """What stands at a place of a range (without the number of its source). Raises `LookupError` where nothing does."""
    if place and isinstance(place[0], int):
        start, length = int(place[0]), int(place[1])
        if start < 0 or length < 0 or start + length > len(data):
            raise LookupError("no such bytes")
        return data[start : start + length].decode("utf-8", "surrogateescape")
    try:
        value: Any = loads_tolerant(data)[0]
        for number, pointer in enumerate(place):
            if number:
                value = loads_text(value)
            for key in str(pointer).split("/")[1:]:
                key = key.replace("~1", "/").replace("~0", "~")
                value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, TypeError, KeyError, IndexError) as err:
        raise LookupError(str(place)) from err
    return value


def same(recorded: Any, claimed: Any) -> bool:
    """Whether what stands in the bytes is what is claimed: the same JSON, under OTLP's typed values too."""
    for one in (recorded, typed(recorded)):
        if type(one) is type(claimed) and one == claimed:
            return not isinstance(one, (dict, list)) or canonical_bytes(one) == canonical_bytes(claimed)
    return False


def typed(value: Any) -> Any:
    """An OTLP `AnyValue` as the value that it holds; everything else as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((key, inner),) = value.items()
    if key not in _ANY:
        return value
    if key == "intValue":
        return (
            int(inner)
            if isinstance(inner, str) and inner.lstrip("-").isascii() and inner.lstrip("-").isdigit()
            else inner
        )
    if key == "arrayValue" and isinstance(inner, dict):
        return [typed(one) for one in inner.get("values") or []]
    if key == "kvlistValue" and isinstance(inner, dict):
        pairs = inner.get("values") or []
        return {str(one.get("key")): typed(one.get("value")) for one in pairs if isinstance(one, dict)}
    return inner


class Tree:
    """One decoded range, indexed by its strings, numbers and the shapes of its objects. Long lists are entered when
    something was not found without them."""

    def __init__(self, data: bytes, root: Any = None) -> None:
        self.data = data
        self._found: dict[Any, list[tuple[str, list[str], Any]]] = {}
        self._later: list[tuple[str, list[str], list[Any]]] = []
        self.times: list[tuple[str, list[str], str]] = []
        try:
            self.root: Any = loads_tolerant(data)[0] if root is None else root
        except ValueError:
            self.root = None
        if self.root is not None:
            self._enter("", [""], self.root)

    def __call__(self, value: Any) -> Iterator[tuple[str, list[str]]]:
        """(name, pointers) of every place that holds the value, in the order of the record."""
        yield from self._lookup(value)
        while self._later:
            later, self._later = self._later, []
            before = {_key(value): len(self._found.get(_key(value), ()))}
            for name, pointers, items in later:
                self._items(name, pointers, items)
            yield from self._lookup(value, before[_key(value)])

    def _lookup(self, value: Any, start: int = 0) -> Iterator[tuple[str, list[str]]]:
        for name, pointers, found in self._found.get(_key(value), [])[start:]:
            if same(found, value):
                yield name, pointers

    def _enter(self, name: str, pointers: list[str], value: Any) -> None:
        todo: list[tuple[str, list[str], Any]] = [(name, pointers, value)]
        while todo:
            name, pointers, value = todo.pop()
            for shape in {_key(value), _key(typed(value))}:
                self._found.setdefault(shape, []).append((name, pointers, value))
            if isinstance(value, dict):
                told = value.get("key") if value.keys() == {"key", "value"} else None
                for key, item in reversed(value.items()):
                    called = _plain(told) if isinstance(told, str) else name if key in _ANY else _plain(key)
                    todo.append((called, _deeper(pointers, key), item))
            elif isinstance(value, list):
                if len(value) > _LONG_LIST:
                    self._later.append((name, pointers, value))
                else:
                    todo += [(name, _deeper(pointers, str(n)), one) for n, one in reversed(list(enumerate(value)))]
            elif isinstance(value, str) and name in _TIMES:
                self.times.append((name, pointers, value))
            elif isinstance(value, str) and value[:1] in ("{", "[") and len(pointers) < _NESTED:
                try:
                    inner = loads_text(value)
                except ValueError:
                    continue
                todo.append((name, [*pointers, ""], inner))

    def _items(self, name: str, pointers: list[str], items: list[Any]) -> None:
        for number, one in enumerate(items):
            self._enter(name, _deeper(pointers, str(number)), one)


def _plain(key: str) -> str:
    """The last word of a recorded name: `gen_ai.response.finish_reasons` is `finishreasons`."""
    return _SIGNS.sub("", key.rpartition(".")[2].lower())


def _deeper(pointers: list[str], key: str) -> list[str]:
    return [*pointers[:-1], f"{pointers[-1]}/{key.replace('~', '~0').replace('/', '~1')}"]


def _key(value: Any) -> Any:
    if isinstance(value, dict):
        return ("{", *sorted(value))
    if isinstance(value, list):
        return ("[", len(value))
    return (type(value).__name__, value)


_PLACES: Final = ("/data/payload/messages", "/data/payload/input", "/data/payload/contents")


class Cited:
    """The cited records of one thing, opened when first asked for."""

    def __init__(self, sources: list[JsonObject], open_: Callable[[JsonObject], Tree | None], otherwise: str) -> None:
        self.sources = sources
        self.otherwise = otherwise
        """The rule under which a value is said that stands nowhere as such."""
        self._open = open_

    def of_one(self, number: int) -> Cited:
        """One of them alone."""
        return Cited([self.sources[number]], self._open, self.otherwise)

    def find(self, value: Any, field: str = "", near: Place | None = None) -> Place | None:
        """Where the value stands, in the first source that holds it. One that is named as recorders name the field
        goes before the others, then what is nearest to a place; what is short or a number stands nowhere else."""
        names = NAMES.get(field, frozenset({_plain(field)}))
        anywhere = isinstance(value, (str, dict, list)) and len(value) >= (_SHORT if isinstance(value, str) else 1)
        for number, source in enumerate(self.sources):
            tree = self._open(source)
            if tree is None:
                continue
            if tree.root is None:
                at = _bytes_of(tree.data, value)
                if at is not None:
                    return [number, *at]
                continue
            best: tuple[tuple[bool, int], list[str]] | None = None
            for name, pointers in tree(value):
                if name in names or anywhere:
                    rank = (name in names, 0 if near is None else _shared(pointers, near))
                    if best is None or rank > best[0]:
                        best = (rank, pointers)
                    if near is None and rank[0]:
                        break
            if best is not None:
                return [number, *best[1]]
        return None

    def message(self, message: Any, position: int) -> Place | None:
        """Where a message of a request stands: at its place in the provider's list, or wherever it is found."""
        for number, source in enumerate(self.sources if position >= 0 else ()):
            tree = self._open(source)
            for base in _PLACES if tree is not None and isinstance(tree.root, dict) else ():
                assert tree is not None
                held = _walk(tree.root, base)
                if isinstance(held, list) and position < len(held) and same(held[position], message):
                    return [number, f"{base}/{position}"]
        return self.find(message, "content")

    def time(self, time: int | None, field: str) -> Place | None:
        """Where a time stands in another notation: as a number of nanoseconds, or a text that means the same."""
        if time is None:
            return None
        for one in (str(time), time):
            place = self.find(one, field)
            if place is not None:
                return place
        for number, source in enumerate(self.sources):
            tree = self._open(source)
            for name, pointers, text in () if tree is None else tree.times:
                if name in NAMES[field] and parse_ns(text) == time:
                    return [number, *pointers]
        return None

    def says(self, names: frozenset[str], values: tuple[Any, ...], of: tuple[str, ...] | None = None) -> bool:
        """Whether one of the records (`of` these kinds) says one of the values under one of the names."""
        asked = [one for one in self.sources if of is None or one.get("what") in of]
        trees = [tree for one in asked if (tree := self._open(one)) is not None and tree.root is not None]
        return any(name in names for tree in trees for value in values for name, _ in tree(value))


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


def together(places: list[Place]) -> Place | None:
    """The smallest place that holds all of them, or None where they stand in several records."""
    if not places or len({one[0] for one in places}) > 1:
        return None
    if not all(isinstance(one, str) for place in places for one in place[1:]):
        return places[0] if all(one == places[0] for one in places) else None
    out: Place = [places[0][0]]
    for level in zip(*(place[1:] for place in places), strict=False):
        keys = [str(pointer).split("/") for pointer in level]
        shared = 0
        while shared < min(map(len, keys)) and len({one[shared] for one in keys}) == 1:
            shared += 1
        out.append("/".join(keys[0][:shared]))
        if len(set(level)) > 1:
            break
    return out


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
            self._trees[key] = None if data is None else Tree(data)
        return self._trees[key]

    def forget(self) -> None:
        self._trees.clear()
