"""One decoded range into an index of its values, each with the name and the side under which it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from ..anyvalue import FIELDS
from ..canonical import WRITTEN_DEPTH, loads_text, loads_tolerant
from .places import same, typed


class Side(StrEnum):
    """What a record keeps apart by its words: what something was given, and what came of it."""

    ASKED = "asked"
    ANSWERED = "answered"


class Held(NamedTuple):
    """One place of a range: the recorded name in lower case without signs, the side, and the JSON pointers."""

    name: str
    side: Side | None
    pointers: list[str]
    value: Any


_SIDES: Final = {
    **dict.fromkeys(("input", "inputs", "prompt", "prompts", "request", "arguments", "args", "kwargs"), Side.ASKED),
    **dict.fromkeys(("parameters", "params", "toolinput", "rawinput"), Side.ASKED),
    **dict.fromkeys(("output", "outputs", "completion", "completions", "response", "result", "results"), Side.ANSWERED),
    **dict.fromkeys(("choices", "generations", "candidates", "rawoutput", "tooloutput"), Side.ANSWERED),
}
_CONVERSATIONS: Final = frozenset({"/data/payload/messages", "/data/payload/input", "/data/payload/contents"})
_COPIES: Final = frozenset(
    f"/data/{name}" for name in ("raw_body", "source_raw_body", "source_payload", "client_payload")
)
"""What the interceptor keeps beside the payload, and no reading takes anything from."""
TIMES: Final = frozenset(
    {
        *("started", "startedat", "starttime", "starttimeunixnano", "timestamp", "ts", "time"),
        *("ended", "endedat", "endtime", "endtimeunixnano", "completedat"),
    }
)
_LONG_LIST: Final = 64
_NESTED: Final = 4
_SIGNS: Final = re.compile(r"[^a-z0-9]")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+")


class Tree:
    """One decoded range. Long lists are entered when something was not found without them; a list of messages that an
    interceptor recorded only where a message is looked for."""

    def __init__(self, data: bytes, root: Any = None, *, wire: bool = False) -> None:
        self.data = data
        self.times: list[Held] = []
        self._wire = wire
        self._found: dict[Any, list[Held]] = {}
        self._later: list[Held] = []
        self._conversations: list[Held] = []
        try:
            self.root: Any = loads_tolerant(data, WRITTEN_DEPTH)[0] if root is None else root
        except ValueError:
            self.root = None
        if self.root is not None:
            self._enter(Held("", None, [""], self.root))

    def rounds(self, value: Any, *, messages: bool = False) -> Iterator[list[Held]]:
        """The places that hold the value, in the order of the record: first those outside of long lists, then, where
        the caller goes on, those in them."""
        yield self._lookup(value)
        if messages:
            self._later, self._conversations = self._later + self._conversations, []
        if not self._later:
            return
        while self._later:
            later, self._later = self._later, []
            for held in later:
                for number, one in enumerate(held.value):
                    self._enter(Held(held.name, held.side, deeper(held.pointers, str(number)), one))
        yield self._lookup(value)

    def __call__(self, value: Any) -> Iterator[Held]:
        """Every place that holds the value."""
        *_, last = self.rounds(value, messages=True)
        yield from last

    def _lookup(self, value: Any) -> list[Held]:
        return [held for held in self._found.get(_key(value), ()) if same(held.value, value)]

    def _enter(self, first: Held) -> None:
        todo = [first]
        while todo:
            held = todo.pop()
            name, side, pointers, value = held
            for shape in {_key(value), _key(typed(value))}:
                self._found.setdefault(shape, []).append(held)
            if isinstance(value, dict):
                told = value.get("key") if value.keys() == {"key", "value"} else None
                for key, item in reversed(value.items()):
                    below = deeper(pointers, key)
                    if self._wire and below[0] in _COPIES:
                        continue
                    known = told if isinstance(told, str) else None if key in FIELDS else key
                    called = name if known is None else plain_name(known)
                    todo.append(Held(called, side or (None if known is None else _side(known)), below, item))
            elif isinstance(value, list):
                if len(value) > _LONG_LIST:
                    talk = self._wire and pointers[0] in _CONVERSATIONS
                    (self._conversations if talk else self._later).append(held)
                else:
                    todo += [
                        Held(name, side, deeper(pointers, str(n)), one) for n, one in reversed(list(enumerate(value)))
                    ]
            elif isinstance(value, str) and name in TIMES:
                self.times.append(held)
            elif isinstance(value, str) and value[:1] in ("{", "[") and len(pointers) < _NESTED:
                try:
                    inner = loads_text(value)
                except ValueError:
                    continue
                todo.append(Held(name, side, [*pointers, ""], inner))


def plain_name(key: str) -> str:
    """The last word of a recorded name: `gen_ai.response.finish_reasons` is `finishreasons`."""
    return _SIGNS.sub("", key.rpartition(".")[2].lower())


def _side(key: str) -> Side | None:
    """The side that a recorded name tells: `gen_ai.input.messages` was given, `llm.output_messages` came of it."""
    found = (_SIDES.get(word.lower()) for word in _WORDS.findall(key))
    return next((side for side in found if side is not None), None)


def deeper(pointers: list[str], key: str) -> list[str]:
    """One step further down."""
    return [*pointers[:-1], f"{pointers[-1]}/{key.replace('~', '~0').replace('/', '~1')}"]


def _key(value: Any) -> Any:
    if isinstance(value, dict):
        return ("{", *sorted(value))
    if isinstance(value, list):
        return ("[", len(value))
    return (type(value).__name__, value)
