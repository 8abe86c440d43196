"""A trajectory to findings: the invariants of the contract that a JSON Schema cannot say."""

from __future__ import annotations

from collections.abc import Collection

from ..canonical import JsonObject
from ..model.finding import Finding
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Header, Step, StepKind, Summary, TrajectoryStatus
from ..timestamps import parse_ns
from .clauses import mark_clauses, step_clauses


class TrajectoryInvariants:
    """Dense step ids, time order, logs for every emitted call, counts that add up, ranges that hold their steps;
    agents, records and warnings that the file itself knows. `codes` are the warnings there are, `lossy` those that tell
    of a loss; `saved` says that the steps come from a file, whose long texts are marks."""

    name = "trajectory-invariants"

    def __init__(self, codes: Collection[str] = (), lossy: Collection[str] = (), *, saved: bool = True) -> None:
        self._codes, self._lossy, self._saved = codes, lossy, saved
        self._header: Header | None = None
        self._agents: set[str] = set()
        self._paths: dict[str, str] = {}
        self._untimed: list[str] = []
        self._unless_told: list[Finding] = []
        self._latest: int | None = None
        self._findings: list[Finding] = []
        self._last = 0
        self._counts = dict.fromkeys(
            (
                "model_calls",
                "tool_calls",
                "ambiguous_links",
                "unlinked_tool_calls",
                "unobserved_tool_executions",
                "inferred_links",
            ),
            0,
        )
        self._ranges: dict[str, list[int]] = {}

    def begin(self, header: Header) -> None:
        self._header = header
        configuration = header.metadata.get("agent_configuration")
        listed = configuration.get("agents") if isinstance(configuration, dict) else None
        for agent in listed if isinstance(listed, list) else []:
            if isinstance(agent, dict):
                self._agents.add(str(agent.get("agent_name")))

    def step(self, step: Step) -> None:
        where = f"/steps/{self._last}"
        if step.step_id != self._last + 1:
            self._find("step-ids-dense", f"step_id {step.step_id} after {self._last}", f"{where}/step_id")
        self._last += 1
        if step.input_ordinal is not None:
            span = self._ranges.setdefault(step.input_ordinal, [step.step_id, step.step_id])
            span[1] = step.step_id
        if step.kind is StepKind.MODEL:
            self._counts["model_calls"] += 1
            emitted = step.output.get("tool_calls") or []
            self._counts["tool_calls"] += len(emitted)
            if len(emitted) != len(step.tool_logs):
                message = f"{len(emitted)} tool calls and {len(step.tool_logs)} tool logs"
                self._find("log-for-each-call", message, f"{where}/tool_logs")
        else:
            self._counts["unlinked_tool_calls"] += 1
        self._logs(step, where)
        if self._saved:
            for rule, message, place in mark_clauses(step):
                self._find(rule, message, where + place)
        for rule, message, place in step_clauses(step):
            if rule in ("times-in-order", "time-is-a-time"):
                self._unless_told.append(Finding(rule, message, pointer=where + place))
            else:
                self._find(rule, message, where + place)
        self._time(step, where)
        if step.agent_name is not None and step.agent_name not in self._agents:
            self._find("agent-is-listed", f"{step.agent_name} acts and is not in metadata", f"{where}/agent_name")
        for holder in (step.evidence, *(log.evidence for log in step.tool_logs)):
            self._records(holder, where)

    def _time(self, step: Step, where: str) -> None:
        started = None if step.started_at is None else parse_ns(step.started_at)
        if started is None:
            self._untimed.append(f"{where}/started_at")
        elif self._latest is not None and started < self._latest:
            self._find("steps-in-order", "a step starts before the one that stands before it", f"{where}/started_at")
        elif self._untimed:
            self._find("steps-in-order", "a step without a time stands before one with a time", self._untimed[-1])
        self._latest = started if started is not None else self._latest

    def _records(self, holder: JsonObject, where: str) -> None:
        for record in holder.get("records") or []:
            self._paths.setdefault(record["path"], where)

    def _logs(self, step: Step, where: str) -> None:
        for number, log in enumerate(step.tool_logs):
            place = f"{where}/tool_logs/{number}"
            if log.execution_status is ExecutionStatus.NOT_OBSERVED:
                self._counts["unobserved_tool_executions"] += 1
                if log.outputs is not None and log.link is not LinkStatus.EXACT and step.kind is StepKind.MODEL:
                    self._find("nothing-attached-unseen", "an execution that was not observed has outputs", place)
            if log.link is LinkStatus.AMBIGUOUS:
                self._counts["ambiguous_links"] += 1
                if log.execution_status is not ExecutionStatus.NOT_OBSERVED:
                    self._find("ambiguous-is-no-fact", "an ambiguous link has an execution attached", place)
                if not log.evidence.get("candidates"):
                    self._find("ambiguous-names-candidates", "an ambiguous link without candidates", place)
            if log.link is LinkStatus.EXACT and not log.evidence.get("interaction_id"):
                self._find("exact-points-back", "an exact link without the interaction it leads to", place)
            if "inferred" in log.evidence:
                self._counts["inferred_links"] += 1

    def end(self, summary: Summary) -> None:
        if summary.error is not None:
            return
        self._whole(summary)
        for key, counted in self._counts.items():
            said = getattr(summary.coverage, key)
            if said is not None and said != counted:
                self._find("coverage-adds-up", f"{key} is {said}, counted {counted}", f"/coverage/{key}")
        changes = sum(len(item.file_changes) for item in summary.inputs)
        if summary.coverage.file_changes != changes:
            message = f"file_changes is {summary.coverage.file_changes}, counted {changes}"
            self._find("coverage-adds-up", message, "/coverage/file_changes")
        for number, item in enumerate(summary.inputs):
            if item.step_range != self._ranges.get(item.ordinal):
                message = f"Input {item.ordinal} says {item.step_range}, its steps are {self._ranges.get(item.ordinal)}"
                self._find("step-range-holds", message, f"/inputs/{number}/step_range")
        known = {item.ordinal for item in summary.inputs}
        for ordinal in self._ranges.keys() - known:
            self._find("input-is-listed", f"steps name Input {ordinal}, which is not listed", "/inputs")
        paths = [source.get("path") for source in summary.sources]
        if paths != sorted(set(map(str, paths))):
            self._find("sources-sorted", "sources are not sorted, or one stands twice", "/sources")

    def _whole(self, summary: Summary) -> None:
        """What only the end can tell."""
        metadata = {} if self._header is None else self._header.metadata
        for key in ("task_instruction", "agent_configuration", "system_architecture"):
            if key not in metadata:
                self._find("metadata-is-whole", f"metadata has no {key}", "/metadata")
        told = {warning.split(":", 1)[0] for warning in summary.warnings}
        if "unreadable_time" not in told:
            for pointer in self._untimed:
                self._find("time-is-told", "a step has no time, and no warning says so", pointer)
        excused = {"times-in-order": "reversed_times", "time-is-a-time": "unreadable_time"}
        self._findings += [finding for finding in self._unless_told if excused[finding.rule] not in told]
        for number, warning in enumerate(summary.warnings):
            code = warning.split(":", 1)[0]
            if self._codes and code not in self._codes:
                self._find("warning-is-listed", f"{code} is no code of a warning", f"/warnings/{number}")
            if summary.status is TrajectoryStatus.COMPLETE and code in self._lossy:
                self._find("loss-is-partial", f"{code} beside status complete", f"/warnings/{number}")
        sources = {source.get("path") for source in summary.sources}
        for path, where in self._paths.items():
            if path not in sources:
                self._find("record-in-sources", f"{path} is no source", f"{where}/evidence/records")

    def findings(self) -> list[Finding]:
        return self._findings

    def _find(self, rule: str, message: str, pointer: str) -> None:
        self._findings.append(Finding(rule, message, pointer=pointer))
