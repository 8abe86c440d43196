"""What two records say of each other: name, arguments, model, text, agent, scope, Input. Every rule goes through here.

A rule finds two records by an identifier; their witness says whether anything else that both recorded speaks against
it. Nothing here ever finds a partner: agreement proves nothing, a contradiction demotes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from ..canonical import JsonError, JsonValue, canonical_bytes, loads, sha256_canonical
from ..model.heads import Arguments, EmittedCall, Execution, ModelCall, Recorder, Said, SpanHead, WireHead
from ..model.ids import is_numbered
from ..model.link import Witness, Word, compare, together
from ..model.reading import Role
from .tree import ended_before

_APART: Final = re.compile(r"\.|__|/|:")
_PLAIN: Final = re.compile(r"[^0-9a-z]+")
_REPRESENTED: Final = re.compile(r"^\s*[\[{(<]|=")
"""Text that is no JSON but a value in another writing: nothing can be compared with it."""
_ANY_NAME: Final = frozenset(("__arg1", "arg", "args", "arguments", "data", "input", "kwargs", "tool_input", "value"))
"""Names that frameworks give to a value whatever the tool calls it."""


# arguments


ArgumentsSeen = dict[str, Arguments | None]
"""Arguments by the digest of their canonical bytes: an execution repeats those of its call."""
_REMEMBERED: Final = 1024


def arguments_of(value: JsonValue, seen: ArgumentsSeen | None = None) -> Arguments | None:
    """Arguments as they can be compared; None for text that is a value in another writing than JSON. `seen` remembers
    some of the last ones."""
    if value is None:
        return None
    whole = sha256_canonical(value)
    if seen is None:
        return _arguments_of(value, whole)
    if whole not in seen:
        if len(seen) >= _REMEMBERED:
            seen.clear()
        seen[whole] = _arguments_of(value, whole)
    return seen[whole]


def _arguments_of(value: JsonValue, whole: str) -> Arguments | None:
    inner: list[str] = []
    name: str | None = None
    for _ in range(8):
        if isinstance(value, str):
            text = value.strip()
            if not text.startswith(("{", "[", '"')):
                break
            try:
                value = loads(text)
            except JsonError:
                break
        elif isinstance(value, dict) and len(value) == 1:
            [(name, value)] = value.items()
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        else:
            break
        inner.append(_digest(value))
    if isinstance(value, dict):
        return Arguments(whole, tuple(inner), {key: _short(item) for key, item in value.items()})
    represented = isinstance(value, str) and _REPRESENTED.search(value) is not None
    if represented and not inner:
        return None
    return Arguments(whole, (*inner, _digest(value)), name=None if represented or name in _ANY_NAME else name)


def _digest(value: JsonValue) -> str:
    return sha256_canonical(value) if isinstance(value, dict | list) else hashlib.sha256(_text(value)).hexdigest()


def _short(value: JsonValue) -> int:
    data = canonical_bytes(value) if isinstance(value, dict | list) else _text(value)
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def _text(value: JsonValue) -> bytes:
    """A single value as text: frameworks write `1`, `1.0` and `"1"` for each other."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if isinstance(value, str) else "" if value is None else str(value).lower()
    return text.strip().encode("utf-8", "surrogatepass")


def arguments(one: Arguments | None, other: Arguments | None) -> Word:
    """Equal as recorded, or once what stands around the sole value is taken off; or equal in all members both have."""
    if one is None or other is None:
        return Word.SILENT
    if one.sha256 == other.sha256 or one.sha256 in other.inner or other.sha256 in one.inner:
        return Word.AGREES
    if one.members is None and other.members is None:
        return Word.AGREES if one.inner[-1] == other.inner[-1] else Word.CONTRADICTS
    if one.members is None or other.members is None:
        single, several = (one, other) if one.members is None else (other, one)
        return _single(single, several.members) if several.members else Word.SILENT
    common = one.members.keys() & other.members.keys()
    if not common:
        return Word.CONTRADICTS if one.members and other.members else Word.SILENT
    return Word.AGREES if all(one.members[key] == other.members[key] for key in common) else Word.CONTRADICTS


def _single(single: Arguments, several: dict[str, int]) -> Word:
    """A single value against several: that of its name. Under a name that they do not have it is none of theirs; one
    whose name says nothing may be."""
    if single.name is None:
        return Word.SILENT
    known = {int(digest[:16], 16) for digest in single.inner}
    return Word.AGREES if several.get(single.name) in known else Word.CONTRADICTS


# names


def names(one: str | None, other: str | None) -> Word:
    """Equal, or the one is the other under a prefix of its server or module (`fs.read`, `mcp__fs__read`)."""
    if one is None or other is None:
        return Word.SILENT
    if one == other:
        return Word.AGREES
    first, second = _levels(one), _levels(other)
    short, long = sorted((first, second), key=len)
    return Word.AGREES if short and long[-len(short) :] == short else Word.CONTRADICTS


def _levels(name: str) -> list[str]:
    return [plain for level in _APART.split(name.casefold()) if (plain := _PLAIN.sub("", level))]


def models(one: tuple[str, ...], other: tuple[str, ...]) -> Word:
    """One model in any of its names: with a date, a size or a provider's path, or without."""
    if not one or not other:
        return Word.SILENT
    return Word.AGREES if any(_same_model(a, b) for a in one for b in other) else Word.CONTRADICTS


def _same_model(one: str, other: str) -> bool:
    first, second = (re.split(r"[/:]", name.casefold())[-1] or name for name in (one, other))
    return first.startswith(second) or second.startswith(first) or one.casefold() in other.casefold()


# the tree


class Scopes:
    """The nearest tool execution and agent around a span, remembered for every span on the way: linear in the spans."""

    def __init__(self) -> None:
        self._known: dict[SpanHead, tuple[SpanHead | None, SpanHead | None, str | None]] = {}

    def of(self, head: SpanHead) -> tuple[SpanHead | None, SpanHead | None, str | None]:
        """(tool execution, agent, lost span) around a span: the first two None where there is none or nothing of it is
        recorded; the third the id of the first span above of which nothing is."""
        way: list[SpanHead] = []
        node: SpanHead | None = head
        while node is not None and node not in self._known:
            way.append(node)
            node = node.parent
        for node in reversed(way):
            above = node.parent
            if above is None:
                self._known[node] = (None, None, node.parent_id)
                continue
            tool, agent, lost = self._known[above]
            role = above.role
            if role is Role.TOOL_EXECUTION and not ended_before(above, node):
                tool = above
            elif role is Role.AGENT:
                agent = above
            self._known[node] = (tool, agent, lost)
        return self._known[head]

    def agent_name(self, head: SpanHead) -> str | None:
        """The agent that a span names, or the nearest agent span around it does."""
        if head.agent_name is not None:
            return head.agent_name
        agent = self.of(head)[1]
        return None if agent is None else agent.agent_name


def agents(one: SpanHead | None, other: SpanHead | None, scopes: Scopes) -> Word:
    """Who acted by each: by the checkpoint of the graph around both, else by the nearest agent's name."""
    if one is None or other is None:
        return Word.SILENT
    if one.agent_path and other.agent_path:
        first, second = (_graph(head.agent_path or "") for head in (one, other))
        shared = min(len(first), len(second))
        return Word.CONTRADICTS if first[:shared] != second[:shared] else Word.AGREES if shared else Word.SILENT
    return compare(scopes.agent_name(one), scopes.agent_name(other))


def _graph(namespace: str) -> list[str]:
    """The levels of a checkpoint namespace above the node itself, with their task ids."""
    return namespace.split("|")[:-1]


# calls and executions


def of_link(call: ModelCall, emitted: EmittedCall, execution: Execution, scopes: Scopes) -> Witness:
    """An emitted tool call and an execution with its id."""
    head = execution.head
    name = names(emitted.name, execution.tool_name())
    if name is Word.CONTRADICTS and all(h.recorder is Recorder.ACP for h in execution.heads() if h.tool_name):
        name = Word.SILENT  # an ACP title is for people
    by = call.span or call.anchor
    words = [
        ("name", name),
        ("arguments", arguments(emitted.arguments, execution.arguments())),
        ("agent", agents(by, head, scopes)),
        ("input", compare(call.ordinal, execution.ordinal)),
    ]
    if emitted.id is not None and is_numbered(emitted.id):
        words.append(("scope", _scope(call, emitted, execution, scopes)))
    return Witness(tuple(words))


def _scope(call: ModelCall, emitted: EmittedCall, execution: Execution, scopes: Scopes) -> Word:
    """Whether both were made inside one and the same execution, or both inside none: an id that is counted anew for
    each answer means nothing in another scope. Straight below the execution of another call of the same answer it is in
    that call's scope, where names and arguments agree: some recorders hang parallel tools below one another."""
    by = call.span or call.anchor
    outermost = (execution.wrappers or [execution.head])[0]
    if by is None or by.recorder is not outermost.recorder or by.trace_id != outermost.trace_id:
        return Word.SILENT
    mine = by if by.role is Role.TOOL_EXECUTION else scopes.of(by)[0]
    theirs = scopes.of(outermost)[0]
    while theirs is not None and theirs.tool_call_id is None and theirs.tool_name == execution.tool_name():
        theirs = scopes.of(theirs)[0]  # another recording of the tool around it, or the tool itself: no other scope
    below = outermost
    if theirs is not None and theirs is below.parent:
        told = names(emitted.name, execution.tool_name()), arguments(emitted.arguments, execution.arguments())
        others = {other.id for other in call.emitted()} - {None, emitted.id} if set(told) == {Word.AGREES} else set()
        while theirs is not None and theirs is below.parent and theirs.tool_call_id in others:
            below, theirs = theirs, scopes.of(theirs)[0]
    return Word.AGREES if mine is theirs else Word.CONTRADICTS


def of_executions(one: SpanHead, other: SpanHead) -> Witness:
    """Two recordings of what may be one execution."""
    name = names(one.tool_name, other.tool_name)
    if Recorder.ACP in (one.recorder, other.recorder) and name is Word.CONTRADICTS:
        name = Word.SILENT
    return Witness((("name", name), ("arguments", arguments(one.arguments, other.arguments))))


def of_instrumentors(inner: SpanHead, outer: SpanHead) -> Witness:
    """Two instrumentors' spans of what may be one execution, the one straight below the other."""
    result = compare(inner.result_sha256, outer.result_sha256)
    words = (("result", result), ("status", compare(inner.failed, outer.failed)))
    return Witness((*of_executions(inner, outer).words, *words))


# recordings of one model call


def of_recordings(one: WireHead | SpanHead, other: SpanHead) -> Witness:
    """Two recordings of what may be one model call."""
    first, second = one.said or Said(), other.said or Said()
    words = [
        ("response_id", compare(one.response_id, other.response_id)),
        ("tool_calls", _emissions(one.emitted, other.emitted)),
        ("model", models(first.models, second.models)),
        ("text", compare(first.text, second.text)),
        ("history", compare(first.history, second.history)),
    ]
    if isinstance(one, WireHead) and one.succeeded() and _told_otherwise(one, first, other, second):
        words.append(("answer", Word.CONTRADICTS))
    return Witness(tuple(words))


def _told_otherwise(wire: WireHead, first: Said, span: SpanHead, second: Said) -> bool:
    """Whether one answer is text without a call and the other calls without a text. A body is all of an answer; a span
    may tell a part, and another span the rest."""
    if wire.emitted:
        return first.text is None and second.text is not None and not span.emitted
    return first.text is not None and second.text is None and len(span.emitted) > 0


def _emissions(one: Sequence[EmittedCall], other: Sequence[EmittedCall]) -> Word:
    """The calls of equal ids by name and arguments; answers that share no id are not one answer."""
    if not one or not other:
        return Word.SILENT
    known: dict[str, EmittedCall] = {}
    for call in one:
        for told in (call.id, call.also):
            if told is not None:
                known.setdefault(told, call)
    pairs = [(known[call.id], call) for call in other if call.id is not None and call.id in known]
    if not pairs:
        bare = any(call.id is None for call in (*one, *other))
        return Word.SILENT if bare else Word.CONTRADICTS
    return together(
        word for a, b in pairs for word in (Word.AGREES, names(a.name, b.name), arguments(a.arguments, b.arguments))
    )
