"""The event chain: every event's hash over all of it, and the hash of the event before."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.ledger import event_hash, line_hash
from .base import Options, Report, Rule

OWN: Final = Rule("ledger.event-hash", "An event_hash recomputes from the event.")
LINK: Final = Rule("ledger.prev-event-hash", "A prev_event_hash is the hash of the event before; the first has none.")
RULES: Final = (OWN, LINK)


class Chain:
    def __init__(self, options: Options) -> None:
        self._previous: str | None = None
        self._unhashed: JsonObject | None = None
        """The event before, where no chain had begun: hashed only if the next one refers to it."""
        self._hashed = 0
        self._bare = 0
        self._chained = False

    def event(self, event: JsonObject, report: Report) -> None:
        recorded, link = event.get("event_hash"), event.get("prev_event_hash")
        if recorded is None and link is None and not self._chained:
            self._bare += 1
            self._unhashed = event
            return
        if self._unhashed is not None:
            self._previous, self._unhashed = event_hash(self._unhashed), None
            self._chained = True
        own = event_hash(event) if report.text is None else line_hash(report.text, event)
        if recorded is None:
            self._bare += 1
        else:
            self._hashed += 1
            if recorded != own:
                report.fail(OWN, "event_hash does not recompute")
        self._check_link(event, report)
        self._previous, self._chained = own, True

    def _check_link(self, event: JsonObject, report: Report) -> None:
        link = event.get("prev_event_hash")
        if report.index == 0:
            if link is not None:
                report.fail(LINK, "prev_event_hash points to an event before the first")
        elif not self._chained or report.gap:
            pass
        elif link is None:
            if event.get("event_hash") is not None:
                report.fail(LINK, "missing 'prev_event_hash'")
        elif link != self._previous:
            report.fail(LINK, f"prev_event_hash is not the hash of event {report.index - 1}")

    def end(self, report: Report) -> None:
        if report.index < 0:
            return
        report.line = 0
        if not self._hashed:
            report.note(OWN, "no event chain: a change of args, result, cost or evidence cannot be seen")
            return
        if self._bare:
            report.note(OWN, f"{self._bare} event(s) carry no event_hash")
        report.note(OWN, f"event chain ends in {self._previous}")
