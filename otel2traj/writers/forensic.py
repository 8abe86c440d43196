"""A trajectory to the `task_result` object of an AgentV Forensic Ledger 1.6.0, without its diagnosis."""

from __future__ import annotations

import math
from typing import BinaryIO

from ..canonical import JsonObject, dumps
from ..model.forensic import VERSION
from ..model.trajectory import Header, SdkInput, Step, StepKind, StepSink, Summary
from ..outcome import EndStatus, OutcomeReader
from .forensic_entries import ending, entries, prompt
from .forensic_facts import States, ToolRegistry, Transport, outcome_json, protocol


class AgentVForensic:
    """The object that AgentV keeps under `task_result`, one history entry a line; `otel2traj forensic export` adds
    telemetry and the diagnosis."""

    name = "agentv-forensic"
    suffix = ".forensic.json"
    losses = (
        "the messages, system prompt, parameters and usage of a model call",
        "file changes, of which only the state after them stays",
        "resource telemetry and the diagnosis, which `otel2traj forensic export` adds",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Written(out)


class _Written:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._sink = ForensicSink()

    def begin(self, header: Header) -> None:
        self._sink.begin(header)

    def step(self, step: Step) -> None:
        self._sink.step(step)

    def end(self, summary: Summary) -> None:
        self._sink.end(summary)
        write(self._sink.task_result, self._out)


class ForensicSink:
    """Collects one ledger; `task_result` and `warnings` are there after `end`.

    `transport` reads a record's own word on how it travelled, where the evidence is at hand.
    """

    def __init__(self, transport: Transport | None = None, attempt: int = 1) -> None:
        self._transport = transport
        self._attempt = attempt
        self._header = Header()
        self._steps: list[tuple[int, int | None, list[JsonObject]]] = []
        self._turns = 0
        self._protocols: list[tuple[int, str]] = []
        self._registry = ToolRegistry()
        self._outcome = OutcomeReader()
        self.task_result: JsonObject = {}
        self.warnings: list[str] = []

    def begin(self, header: Header) -> None:
        self._header = header
        self._outcome.begin(header)

    def step(self, step: Step) -> None:
        turn: int | None = self._turns - 1 if self._turns else None
        if step.kind is StepKind.MODEL:
            turn = self._turns
            self._turns += 1
            spoken = protocol(step, self._transport)
            if spoken is not None:
                self._protocols.append((turn, spoken))
            self._registry.add(step.input.get("tools"))
        self._outcome.step(step)
        self._steps.append((step.step_id, turn if step.kind is StepKind.MODEL else None, entries(step, turn)))

    def end(self, summary: Summary) -> None:
        header = self._header
        self._outcome.end(summary)
        states = States(summary)
        format_name, _, version = header.schema.rpartition(".")
        history = self._history(summary, states)
        ended = self._outcome.outcome.ended.status
        self._remark(summary, states)
        result: JsonObject = {
            "task_id": header.case_id if header.case_id is not None else header.run_id,
            "attempt": self._attempt,
            "turns_taken": self._turns,
        }
        if ended is EndStatus.SUCCEEDED:
            result["status"] = "success"
        elif ended is not EndStatus.NOT_RECORDED:
            result["status"] = "failed"
        self.task_result = {
            **result,
            "metrics": [],
            "outcome": outcome_json(self._outcome.outcome),
            "conversation_history": history,
            "protocol_sequence": [spoken for _, spoken in self._protocols],
            "protocol_sequence_turns": [turn for turn, _ in self._protocols],
            "state_snapshots": [digest for _, digest in states.snapshots],
            "state_snapshot_turns": [turn for turn, _ in states.snapshots],
            "resource_telemetry": [],
            "tool_registry": self._registry.tools,
            "provenance": {
                "ledger_version": VERSION,
                "run_id": header.run_id,
                "case_id": header.case_id,
                "agent_id": header.agent_id,
                "framework": header.framework,
                "built_from": {
                    "format": format_name,
                    "version": version,
                    "builder_version": header.builder_version,
                },
                "trajectory_status": summary.status,
                "sources": summary.sources,
            },
        }

    def _history(self, summary: Summary, states: States) -> list[JsonObject]:
        out: list[JsonObject] = []
        due = _due(summary.inputs)
        begun = 0
        running: list[SdkInput] = []

        def begin(item: SdkInput) -> None:
            turns = self._turns_of(item)
            out.append(prompt(item, turns[0] if turns else None))
            if item.step_range is None:
                close(item)
            else:
                running.append(item)

        def close(item: SdkInput) -> None:
            turns = self._turns_of(item)
            states.input(item, turns[-1] if turns else None)
            last = ending(item, summary, turns[-1] if turns else None)
            if last is not None:
                out.append(last)

        for step_id, _, told in self._steps:
            while begun < len(due) and due[begun] <= step_id:
                begin(summary.inputs[begun])
                begun += 1
            out += told
            for item in [one for one in running if one.step_range is not None and one.step_range[1] <= step_id]:
                running.remove(item)
                close(item)
        for item in running:
            close(item)
        running = []
        for item in summary.inputs[begun:]:
            begin(item)
        for item in running:
            close(item)
        self._steps = []
        return out

    def _turns_of(self, item: SdkInput) -> list[int]:
        if item.step_range is None:
            return []
        first, last = item.step_range
        return [turn for step_id, turn, _ in self._steps[first - 1 : last] if turn is not None and step_id >= first]

    def _remark(self, summary: Summary, states: States) -> None:
        if self._header.case_id is None:
            self.warnings.append("no case was recorded: task_id is the run's id")
        if len(self._protocols) < self._turns:
            missing = self._turns - len(self._protocols)
            self.warnings.append(f"the transport of {missing} of {self._turns} turns was not recorded")
        known = len(states.snapshots)
        if known < self._turns:
            self.warnings.append(f"the state of the workspace is known after {known} of {self._turns} turns")
        for name in sorted(self._registry.conflicts):
            self.warnings.append(f"tool {name!r} was defined in more than one way: the first definition stands")
        missing = sum(not isinstance((item.result or {}).get("status"), str) for item in summary.inputs)
        if missing:
            self.warnings.append(f"no status of {missing} of {len(summary.inputs)} Inputs was recorded")


def _due(inputs: list[SdkInput]) -> list[float]:
    """For each Input the step before which it stands: its own first one, or that of an Input after it."""
    out: list[float] = []
    earliest = math.inf
    for item in reversed(inputs):
        if item.step_range is not None:
            earliest = min(earliest, item.step_range[0])
        out.append(earliest)
    return out[::-1]


def write(task_result: JsonObject, out: BinaryIO) -> None:
    """One member a line, and one history entry a line: the same object, for people and for `diff`."""
    first = True
    for name, value in task_result.items():
        out.write(b"{\n" if first else b",\n")
        first = False
        out.write(dumps(name) + b": ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            out.write(b"[\n" + b",\n".join(b"  " + dumps(item) for item in value) + b"\n]")
        else:
            out.write(dumps(value))
    out.write(b"{}\n" if first else b"\n}\n")
