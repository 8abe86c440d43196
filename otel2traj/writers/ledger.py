"""A trajectory to a `trajectory-ledger-v1` file: typed events, hashed states, pinned rates, a chain over every line.

The rates of the run header, the outcome of each Input and its file changes are known only after the last step, so the
events wait as drafts in a temporary file (in memory while small) and are numbered, priced and hashed at the end.
"""

from __future__ import annotations

import re
import tempfile
from decimal import Decimal
from typing import IO, BinaryIO, Final, cast

from .. import prices
from ..canonical import JsonObject, dumps, loads
from ..model.ledger import (
    CANONICAL_FORM,
    CHAIN,
    ENDS_IN,
    SCHEMA,
    STATE_RULE,
    EventType,
    Outcome,
    instant_ns,
    seal,
    state_hash,
)
from ..model.ledger_cost import Totals, json_number, usd
from ..model.ledger_state import file_change, first_state, next_state
from ..model.trajectory import Header, SdkInput, Step, StepKind, StepSink, StepStatus, Summary
from ..timestamps import format_ns
from .ledger_events import drafts, free
from .ledger_outcome import final_outcome, result_source

_IN_MEMORY: Final = 8 << 20


class TrajectoryLedger:
    """The format `trajectory-ledger-v1`, one event a line, keys sorted."""

    name = "trajectory-ledger"
    suffix = ".ledger.jsonl"
    losses = (
        "the messages, system prompt and tool definitions that a model call received",
        "a provider's own usage object",
        "inferred links: a call whose execution was not observed stays an observe event",
        "lone surrogates, which have no UTF-8 form, become U+FFFD",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return LedgerSink(out)


class LedgerSink:
    """Writes one ledger to `out` when the trajectory ends. `warnings` then says what an auditor should know.
    `pinned` is the header of another ledger, whose `rates` and `rate_source` are taken over."""

    def __init__(self, out: BinaryIO, pinned: JsonObject | None = None) -> None:
        self._out = out
        self._pinned = pinned
        self._spool = cast("IO[bytes]", tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
        self._header = Header()
        self._models: dict[str, tuple[int | None, int | None]] = {}
        self._failed_spans: set[str] = set()
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self.warnings: list[str] = []
        self.end_hash: str | None = None
        """The event_hash of the last event, once it is written."""

    def begin(self, header: Header) -> None:
        self._header = header

    def step(self, step: Step) -> None:
        begun, ended = instant_ns(step.started_at), instant_ns(step.ended_at)
        for ns in (begun, ended):
            if ns is not None:
                self._first_ns = ns if self._first_ns is None else min(self._first_ns, ns)
                self._last_ns = ns if self._last_ns is None else max(self._last_ns, ns)
        if step.kind is StepKind.MODEL and step.model is not None:
            self._note_model(step.model, begun if begun is not None else ended)
        for draft in drafts(step, self._is_retry(step)):
            self._spool.write(dumps(draft.to_json()) + b"\n")

    def end(self, summary: Summary) -> None:
        rates = self._rates()
        run = _Run(self._out, rates, self._first_ns)
        run.emit(self._first_event(summary, rates))
        inputs = _Inputs(summary, run)
        self._spool.seek(0)
        current = 0
        for raw in self._spool:
            draft = _plain(raw)
            if draft["step_id"] != current:
                inputs.close(current)
                current = draft["step_id"]
                inputs.open(current)
            run.emit(draft["body"], draft)
        self._spool.close()
        inputs.close(current)
        inputs.finish()
        run.emit(self._last_event(summary, run.totals))
        self.end_hash = run.previous
        self.warnings += run.remarks()

    def _note_model(self, model: str, ns: int | None) -> None:
        first, last = self._models.get(model, (None, None))
        if ns is not None:
            first = ns if first is None else min(first, ns)
            last = ns if last is None else max(last, ns)
        self._models[model] = (first, last)

    def _is_retry(self, step: Step) -> bool:
        """Whether an earlier call of the same framework span failed: identifiers say so, never time."""
        span = step.evidence.get("framework_span_id")
        if step.kind is not StepKind.MODEL or not isinstance(span, str):
            return False
        retried = span in self._failed_spans
        if step.status is not StepStatus.COMPLETE:
            self._failed_spans.add(span)
        return retried

    def _rates(self) -> JsonObject:
        rates: JsonObject = {}
        if self._pinned is not None:
            told = self._pinned.get("rates")
            given = told if isinstance(told, dict) else {}
            return {model: given[model] for model in sorted(self._models) if isinstance(given.get(model), dict)}
        for model in sorted(self._models):
            rates[model], remark = prices.rate(model, *self._models[model])
            if remark is not None:
                self.warnings.append(f"usd of model {model!r}: {remark}")
        return rates

    def _first_event(self, summary: Summary, rates: JsonObject) -> JsonObject:
        header = self._header
        return {
            "schema": SCHEMA,
            "run_id": header.run_id,
            "type": EventType.OBSERVE,
            "outcome": Outcome.PENDING,
            "agent_id": header.agent_id,
            "case_id": header.case_id,
            "framework": header.framework,
            "state_rule": STATE_RULE,
            "canonical_form": CANONICAL_FORM,
            "rates": rates,
            "chain": {**CHAIN, "ends_in": ENDS_IN},
            "rate_source": prices.source() if self._pinned is None else self._pinned.get("rate_source"),
            "built_from": {"schema": header.schema, "builder_version": header.builder_version},
            "sources": summary.sources,
        }

    def _last_event(self, summary: Summary, totals: Totals) -> JsonObject:
        elapsed = None
        if self._first_ns is not None and self._last_ns is not None:
            elapsed = json_number(Decimal(self._last_ns - self._first_ns) / 1_000_000_000)
        event: JsonObject = {"type": EventType.OBSERVE, **final_outcome(summary, elapsed)}
        if elapsed is not None:
            event["elapsed_seconds"] = elapsed
        event["totals"] = totals.to_json()
        event["trajectory_status"] = summary.status
        event["warnings"] = len(summary.warnings)
        return event


class _Run:
    """Numbers, prices, hashes and writes events in their final order."""

    def __init__(self, out: BinaryIO, rates: JsonObject, first_ns: int | None) -> None:
        self._out = out
        self._rates = rates
        self._clock = first_ns
        self._step = 0
        self._state = first_state()
        self._state_hash = state_hash(self._state)
        self.previous: str | None = None
        self._unpriced: dict[str, int] = {}
        self.totals = Totals()

    def emit(self, body: JsonObject, draft: JsonObject | None = None) -> None:
        event = body if draft is not None else _plain(dumps(body))
        event = {**event, "step": self._step, "cost": free() if draft is None else draft["cost"]}
        self._stamp(event, None if draft is None else draft["time_ns"])
        if draft is not None and event["type"] == EventType.THINK:
            self._price(event, draft)
        after = next_state(self._state, event)
        if after is not self._state:
            self._state, self._state_hash = after, state_hash(after)
        event["state"] = self._state
        event["state_hash"] = self._state_hash
        line, self.previous = seal(event, self.previous)
        self._out.write(line)
        self.totals.add(event["cost"])
        self._step += 1

    def _stamp(self, event: JsonObject, ns: int | None) -> None:
        """A recorded time; else the start of the first step, or the time of the event before; else the epoch. An event
        whose own time was not recorded says which."""
        if ns is None:
            known = "event_before" if self._step else "first_step"
            event["timestamp_source"] = known if self._clock is not None else "not_recorded"
        else:
            self._clock = ns
        event["timestamp"] = format_ns(self._clock if self._clock is not None else 0)

    def _price(self, event: JsonObject, draft: JsonObject) -> None:
        why = draft["unpriced"]
        money = None
        if why is None:
            rate = self._rates.get(draft["model"]) if draft["model"] is not None else {"unknown": "model not recorded"}
            money, why = usd(event.get("usage") or {}, rate or {})
        if money is None:
            event["usd_unknown"] = why
            self._unpriced[why or "unknown"] = self._unpriced.get(why or "unknown", 0) + 1
        else:
            event["cost"]["usd"] = json_number(money)

    def remarks(self) -> list[str]:
        return [f"usd unknown for {count} model call(s): {why}" for why, count in sorted(self._unpriced.items())]


class _Inputs:
    """Places the prompt of each Input before its first step, and what is known of its end after its last one."""

    def __init__(self, summary: Summary, run: _Run) -> None:
        self._summary = summary
        self._run = run
        self._waiting = list(summary.inputs)
        self._open: list[SdkInput] = []
        self._running = False

    def open(self, step_id: int) -> None:
        """Begins every Input whose first step is due, and those without steps that come before one."""
        due = 0
        for place, item in enumerate(self._waiting, 1):
            if item.step_range is not None and item.step_range[0] <= step_id:
                due = place
        for item in self._waiting[:due]:
            self._begin(item)
        del self._waiting[:due]

    def close(self, step_id: int) -> None:
        for item in [item for item in self._open if item.step_range is not None and item.step_range[1] <= step_id]:
            self._open.remove(item)
            self._end(item)

    def finish(self) -> None:
        for item in self._open:
            self._end(item)
        for item in self._waiting:
            self._begin(item)
        self._open, self._waiting = [], []

    def _begin(self, item: SdkInput) -> None:
        given = {"ordinal": item.ordinal, "input_id": item.input_id, "prompt": item.prompt}
        event: JsonObject = {"type": EventType.OBSERVE, "input": given}
        if not self._running:
            event["outcome"] = Outcome.RUNNING
            self._running = True
        self._run.emit(event)
        if item.step_range is None:
            self._end(item)
        else:
            self._open.append(item)

    def _end(self, item: SdkInput) -> None:
        changes = [change for change in map(file_change, item.file_changes) if change is not None]
        if item.result is None and not changes:
            return
        event: JsonObject = {
            "type": EventType.OBSERVE,
            "input_result": {
                "ordinal": item.ordinal,
                "status": (item.result or {}).get("status"),
                "evidence": result_source(self._summary, item),
            },
        }
        if changes:
            event["file_changes"] = changes
        self._run.emit(event)


_SURROGATE: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")


def _plain(body: bytes) -> JsonObject:
    """An event read back, with U+FFFD for every lone surrogate (`dumps` escapes those alone), which no UTF-8 and so no
    hash of the contract can hold."""
    if b"\\ud" in body:
        body = _SURROGATE.sub(b"\\1\xef\xbf\xbd", body)
    return cast(JsonObject, loads(body))
