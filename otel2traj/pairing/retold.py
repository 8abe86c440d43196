"""One run told by several records of one product: telemetry, logs, session file, printed events, the wire.

What an identifier ties is one call with several recordings. What nothing ties is told once, by the record that tells of
most calls; the others' word is left aside and said to be. Never a merge by time, by order or by content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, TypeVar

from ..model.evidence import Notice
from ..model.heads import Execution, ModelCall, Recorder, SpanHead

T = TypeVar("T")
Kind = tuple[str, str]
"""A recorder and the form or dialect it writes in."""

_PRODUCTS: Final = {
    "codex_cli": "codex",
    "codex_cli_spans": "codex",
    "codex-rollout": "codex",
    "codex-events": "codex",
    "gemini_cli": "gemini-cli",
    "gemini-session": "gemini-cli",
    "gemini-output": "gemini-cli",
    "opencode": "opencode",
    "opencode-export": "opencode",
    "opencode-events": "opencode",
    "claude_code_logs": "claude-code",
    "claude_code_traces": "claude-code",
    "claude-code-session": "claude-code",
}
"""Products that write several records of one run, by the dialects, forms and scopes that tell them."""
WIRE: Final[Kind] = ("wire", "")
_ORDER: Final = (Recorder.ACP, Recorder.OTEL, Recorder.SESSION, Recorder.LOGS)


def product_of(head: SpanHead) -> str | None:
    """The product whose record a head is from, where it is one that writes several."""
    return next((_PRODUCTS[name] for name in (*head.dialects, head.scope) if name in _PRODUCTS), None)


def kind_of(head: SpanHead) -> Kind:
    """Which of a product's records a head is from."""
    return head.recorder, head.dialects[0] if head.recorder is Recorder.SESSION and head.dialects else ""


def told_again(spare: Iterable[SpanHead], what: str) -> Iterator[Notice]:
    """Notices of log records that repeat what spans tell, where an id does not show of which."""
    for source, count in sorted(Counter(head.source for head in spare).items()):
        message = f"{count} {what} are told again by log records, and nothing tells which of several with the same id"
        yield Notice("retold_call", message, source, lossy=False)


def join_retold(calls: list[ModelCall]) -> list[ModelCall]:
    """Calls of one product that an identifier shows to be one: the same message of the session, or the same ids of tool
    calls, each on exactly one call of each record."""
    calls = _joined(_joined(calls, _messages), _emitted)
    for call in calls:
        if call.span is not None and call.span.twins:
            _take_times(call.span)
    return calls


def _messages(call: ModelCall) -> Hashable:
    assert call.span is not None
    return call.span.span_id if call.span.recorder is Recorder.SESSION else None


def _emitted(call: ModelCall) -> Hashable:
    ids = [item.id for item in call.emitted()]
    return frozenset(ids) if ids and None not in ids else None


def _joined(calls: list[ModelCall], key: Callable[[ModelCall], Hashable]) -> list[ModelCall]:
    groups: dict[Hashable, list[ModelCall]] = {}
    for call in calls:
        product = None if call.span is None else product_of(call.span)
        found = None if product is None else key(call)
        if found is not None:
            assert call.span is not None
            groups.setdefault((product, call.span.ordinal, found), []).append(call)
    gone: set[ModelCall] = set()
    for members in groups.values():
        kinds = [kind for call in members for kind in _kinds(call)]
        if len(members) < 2 or len(set(kinds)) != len(kinds):
            continue
        members.sort(key=_rank)
        first, *rest = members
        assert first.span is not None
        for other in rest:
            assert other.span is not None
            first.span.twins = [*first.span.twins, other.span, *other.span.twins]
            first.span.response_id = first.span.response_id or other.span.response_id
            first.lenders, first.around = [*first.lenders, *other.lenders], [*first.around, *other.around]
            gone.add(other)
    return [call for call in calls if call not in gone]


def _take_times(head: SpanHead) -> None:
    """A span is timed by the call itself; lines of a session file and log records by when they were written."""
    timed = next((twin for twin in head.twins if twin.recorder is Recorder.OTEL and twin.start_ns is not None), None)
    if timed is not None and head.recorder is not Recorder.OTEL:
        head.start_ns, head.end_ns = timed.start_ns, timed.end_ns


def _rank(call: ModelCall) -> tuple[object, ...]:
    """The fullest first: whole conversations before what was added, spans before logs."""
    assert call.span is not None
    span = call.span
    return not span.has_output, not span.has_content, _place(span.recorder), span.order()


def _place(recorder: Recorder) -> int:
    return _ORDER.index(recorder) if recorder in _ORDER else len(_ORDER)


def _kinds(call: ModelCall) -> list[Kind]:
    heads = [] if call.span is None else [call.span, *call.span.twins]
    return [*([WIRE] if call.wire is not None else []), *dict.fromkeys(kind_of(head) for head in heads)]


def set_aside_calls(calls: list[ModelCall], notices: list[Notice]) -> list[ModelCall]:
    """Without the calls that another record of the same run has told already, as its record without an id."""
    products = {product for call in calls if call.span is not None and (product := product_of(call.span)) is not None}
    gone: set[ModelCall] = set()
    for product in sorted(products):
        mine = [call for call in calls if call.span is None or product_of(call.span) == product]
        if len(products) > 1 or not any(call.wire is not None and call.span is not None for call in mine):
            mine = [call for call in mine if call.span is not None or _named(call, mine)]
        gone.update(_aside(product, mine, notices))
    return [call for call in calls if call not in gone]


def _named(call: ModelCall, others: Iterable[ModelCall]) -> bool:
    """Whether a wire call carries the id of the session that the others are from."""
    session = None if call.wire is None else call.wire.session
    return session is not None and any(
        other.span is not None and other.span.conversation_id == session for other in others
    )


def _aside(product: str, calls: list[ModelCall], notices: list[Notice]) -> set[ModelCall]:
    kinds: dict[Kind, list[ModelCall]] = {}
    for call in calls:
        for kind in _kinds(call):
            kinds.setdefault(kind, []).append(call)
    if len(kinds) < 2:
        return set()
    main = max(sorted(kinds), key=lambda kind: _weight(kind, kinds[kind]))
    gone: set[ModelCall] = set()
    for kind in sorted(kinds):
        loose = [c for c in kinds[kind] if main not in _kinds(c) and c.wire is None and c not in gone]
        if kind in (main, WIRE) or not loose:
            continue
        free = sum(kind not in _kinds(call) for call in kinds[main])
        gone.update(loose)
        span = loose[0].span
        assert span is not None
        more = "" if len(loose) <= free else f", {len(loose) - free} more than that tells of"
        message = f"{len(loose)} model calls of {product} carry no id that ties them to the {_name(main)}{more}"
        notices.append(Notice("retold_call", message, span.source, lossy=len(loose) > free))
    return gone


def _weight(kind: Kind, calls: list[ModelCall]) -> tuple[int, bool, int, int]:
    said = sum(call.wire is not None or (call.span is not None and call.span.has_output) for call in calls)
    return len(calls), kind == WIRE, said, -(_place(Recorder(kind[0])))


def _name(kind: Kind) -> str:
    return {"otel": "spans", "logs": "log records"}.get(kind[0], kind[1] or kind[0])


def set_aside_executions(executions: list[Execution], notices: list[Notice]) -> list[Execution]:
    """Without executions that carry no call id, where another record of the same run tells of as many that do."""
    by_product: dict[str, list[Execution]] = {}
    for execution in executions:
        product = product_of(execution.head)
        if product is not None:
            by_product.setdefault(product, []).append(execution)
    gone: set[Execution] = set()
    for product, mine in sorted(by_product.items()):
        loose: dict[Kind, list[Execution]] = {}
        tied: dict[Kind, int] = {}
        for execution in mine:
            kind = kind_of(execution.head)
            if execution.tool_call_id() is None:
                loose.setdefault(kind, []).append(execution)
            else:
                tied[kind] = tied.get(kind, 0) + 1
        for kind, found in loose.items():
            others = max((count for other, count in tied.items() if other != kind), default=0)
            if others == 0:
                continue
            gone.update(found)
            message = f"{len(found)} tool executions of {product} carry no id of their call; others of its records do"
            notices.append(Notice("retold_call", message, found[0].head.source, lossy=len(found) > others))
    return [execution for execution in executions if execution not in gone]
