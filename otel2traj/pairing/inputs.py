"""Which SDK Input a model call belongs to, by recorded identifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..model.heads import ModelCall, SpanHead
from ..model.ids import is_counted


@dataclass(slots=True)
class InputKeys:
    """The identifiers that name Inputs."""

    by_input_id: dict[str, str] = field(default_factory=dict)
    by_session: dict[str, list[str]] = field(default_factory=dict)
    """Ordinals by the session id of their requests."""
    by_response_id: dict[str, list[str | None]] = field(default_factory=dict)
    """Ordinals by the response ids an ACP agent said it got."""
    several: bool = False
    """Whether there is more than one Input: then a span id that is counted names no span outside its own."""


def assign_inputs(calls: Iterable[ModelCall], keys: InputKeys, by_span_id: Callable[[str], list[SpanHead]]) -> None:
    """Set `ordinal` on every call whose Input an identifier tells; others keep None."""
    for call in calls:
        call.ordinal = _ordinal(call, keys, by_span_id)


def _ordinal(call: ModelCall, keys: InputKeys, by_span_id: Callable[[str], list[SpanHead]]) -> str | None:
    if call.span is not None and call.span.ordinal is not None:
        return call.span.ordinal
    if call.anchor is not None and call.anchor.ordinal is not None:
        return call.anchor.ordinal
    wire = call.wire
    if wire is None:
        return None
    if wire.framework_span_id is not None and not (keys.several and is_counted(wire.framework_span_id)):
        folders = {head.ordinal for head in by_span_id(wire.framework_span_id)}
        if len(folders) == 1 and None not in folders:
            return folders.pop()
        if len(folders) > 1:
            return None
    if wire.input_id is not None and wire.input_id in keys.by_input_id:
        return keys.by_input_id[wire.input_id]
    if wire.response_id is not None:
        told = keys.by_response_id.get(wire.response_id, [])
        if len(told) == 1 and told[0] is not None:
            return told[0]
    if wire.run_id is not None:
        ordinals = keys.by_session.get(wire.run_id, [])
        if len(ordinals) == 1:
            return ordinals[0]
    return None
