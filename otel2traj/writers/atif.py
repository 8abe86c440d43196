"""Agent Trajectory Interchange Format v1.8, as Harbor 0.26.0 reads it (`harbor.models.trajectories`); what it has no
field for is under `extra.otel2traj`."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject, JsonValue
from ..model.codec import coverage_to_json, sdk_input_to_json
from ..model.link import ExecutionStatus
from ..model.trajectory import Header, Step, StepKind, StepSink, Summary, ToolLog
from .chat_messages import arguments_object, calls_of, chat_of, tools_of
from .jsonstream import ListDocument, text_of

_EVIDENCE_KEYS = ("inferred", "reported_result", "candidates")


class Atif:
    name = "atif"
    title = "ATIF v1.8, read by Harbor, Phoenix, Inspect Scout and others."
    suffix = ".atif.json"
    losses = (
        "The request of each step as sent: the messages an agent step shows are only what was new, so the digest of "
        "the request stands under `extra.otel2traj.evidence` and the body stays in the evidence.",
        "Step end times, link status, execution status, exit status and evidence have no field: they are under "
        "`extra.otel2traj` of the step, the call or the result.",
        'Arguments that are no object become `{"value": ...}` with `extra.otel2traj.arguments: "not an object"`.',
        "A call without a recorded id is given `step-<n>-call-<k>`, with `extra.otel2traj.tool_call_id: null`.",
        "The user message of a second or later Input is the last user message of that Input's first request, marked "
        "`extra.otel2traj.derived_from`; the prompts as delivered stand under the root's `extra.otel2traj.inputs`.",
        "Several choices, refusals and hosted tool parts stand under `extra.otel2traj.output`.",
        "A trajectory without steps and without a task instruction is no valid ATIF document, which asks for one step.",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(out)


class _Sink:
    def __init__(self, out: BinaryIO) -> None:
        self._document = ListDocument(out, "steps")
        self._count = 0
        self._ordinal: str | None = None
        self._steps = 0
        self._totals: dict[str, int] = {}

    def begin(self, header: Header) -> None:
        config = header.metadata.get("agent_configuration")
        config = config if isinstance(config, dict) else {}
        tools, other = tools_of(config.get("tools"))
        agent: JsonObject = {"name": text_of(header.agent_id) or "unknown", "version": "unknown"}
        if tools:
            agent["tool_definitions"] = tools
        extra: JsonObject = {"framework": header.framework, "agent_id": header.agent_id}
        if other:
            extra["other_tools"] = other
        agent["extra"] = {"otel2traj": extra}
        before: JsonObject = {"schema_version": "ATIF-v1.8"}
        if header.run_id is not None:
            before["session_id"] = header.run_id
        before["agent"] = agent
        self._document.open(before)
        system = config.get("system_prompt")
        if system is not None:
            self._emit({"source": "system", "message": text_of(system)})
        task = header.metadata.get("task_instruction")
        if task is not None:
            self._emit({"source": "user", "message": text_of(task)})
        self._has_task = task is not None
        self._header = {
            "schema": header.schema,
            "builder_version": header.builder_version,
            "run_id": header.run_id,
            "case_id": header.case_id,
            "metadata": header.metadata,
            **header.extra,
        }

    def step(self, step: Step) -> None:
        first = self._steps == 0
        self._steps += 1
        if step.input_ordinal is not None and step.input_ordinal != self._ordinal:
            if not (first and self._has_task):
                self._prompt(step)
            self._ordinal = step.input_ordinal
        self._emit(self._agent_step(step))

    def end(self, summary: Summary) -> None:
        metrics: JsonObject = {f"total_{key}": value for key, value in self._totals.items()}
        metrics["total_steps"] = self._count
        self._document.close(
            {
                "final_metrics": metrics,
                "extra": {
                    "otel2traj": {
                        **self._header,
                        "status": summary.status,
                        "inputs": [sdk_input_to_json(item) for item in summary.inputs],
                        "coverage": coverage_to_json(summary.coverage),
                        "sources": summary.sources,
                        "warnings": summary.warnings,
                        **({} if summary.error is None else {"error": summary.error}),
                    }
                },
            }
        )

    def _emit(self, step: JsonObject) -> None:
        self._count += 1
        self._document.item({"step_id": self._count, **step})

    def _prompt(self, step: Step) -> None:
        asked = [message for message in chat_of(step.input).messages if message.get("role") == "user"]
        if asked:
            told = {"derived_from": f"request of step {step.step_id}", "input_ordinal": step.input_ordinal}
            self._emit({"source": "user", "message": text_of(asked[-1].get("content")), "extra": {"otel2traj": told}})

    def _agent_step(self, step: Step) -> JsonObject:
        output, model = step.output, step.kind is StepKind.MODEL
        out: JsonObject = {} if step.started_at is None else {"timestamp": step.started_at}
        out |= {"source": "agent", "message": text_of(output.get("text"))}
        if model and step.model is not None:
            out["model_name"] = step.model
        if model and isinstance(output.get("reasoning"), str):
            out["reasoning_content"] = output["reasoning"]
        calls, results = _calls(step)
        if calls:
            out["tool_calls"] = calls
        if results:
            out["observation"] = {"results": results}
        if model:
            metrics = self._metrics(output.get("usage"))
            if metrics:
                out["metrics"] = metrics
        out["llm_call_count"] = 1 if model else 0
        told: JsonObject = {
            "step_id": step.step_id,
            "input_ordinal": step.input_ordinal,
            "agent_name": step.agent_name,
            "kind": step.kind,
            "source": step.source,
            "status": step.status,
            "ended_at": step.ended_at,
            "purpose": step.purpose,
            "finish_reason": output.get("finish_reason"),
            "evidence": step.evidence,
        }
        known = ("text", "reasoning", "tool_calls", "finish_reason", "usage", "model")
        rest = {key: value for key, value in output.items() if key not in known}
        if output.get("text") is None:
            rest["text"] = None
        if rest:
            told["output"] = rest
        out["extra"] = {"otel2traj": told}
        return out

    def _metrics(self, usage: JsonValue) -> JsonObject:
        if not isinstance(usage, dict):
            return {}
        names = (
            ("prompt_tokens", "input_tokens"),
            ("completion_tokens", "output_tokens"),
            ("cached_tokens", "cache_read_input_tokens"),
        )
        out: JsonObject = {}
        for theirs, ours in names:
            value = usage.get(ours)
            if isinstance(value, int):
                out[theirs] = value
                self._totals[theirs] = self._totals.get(theirs, 0) + value
        return {**out, "extra": {"otel2traj": usage}}


def _calls(step: Step) -> tuple[list[JsonObject], list[JsonObject]]:
    """Calls of the step with unique ids, and the result of each log that names one of them."""
    calls: list[JsonObject] = []
    results: list[JsonObject] = []
    emitted = calls_of(step.output)
    if not emitted:
        emitted = [
            {"id": log.tool_call_id, "name": log.tool_name, "arguments": log.input_arguments} for log in step.tool_logs
        ]
    logs = list(step.tool_logs)
    for k, call in enumerate(emitted, 1):
        log = next((log for log in logs if log.tool_call_id == call.get("id") and _same_tool(log, call)), None)
        if log is not None:
            logs.remove(log)
        recorded = call.get("id")
        call_id = recorded if isinstance(recorded, str) else f"step-{step.step_id}-call-{k}"
        if any(other["tool_call_id"] == call_id for other in calls):
            call_id = f"{call_id}#{k}"
        told: JsonObject = {} if call_id == recorded else {"tool_call_id": recorded}
        arguments = arguments_object(call.get("arguments"))
        if arguments is None:
            told["arguments"] = "not an object"
            arguments = {} if call.get("arguments") is None else {"value": call["arguments"]}
        item: JsonObject = {"tool_call_id": call_id, "function_name": text_of(call.get("name")), "arguments": arguments}
        if log is not None:
            told |= {"link": log.link, "execution_status": log.execution_status}
            told |= {key: log.evidence[key] for key in _EVIDENCE_KEYS if key in log.evidence}
            if log.execution_status is not ExecutionStatus.NOT_OBSERVED:
                results.append(_result(call_id, log))
        if told:
            item["extra"] = {"otel2traj": told}
        calls.append(item)
    return calls, results


def _same_tool(log: ToolLog, call: JsonObject) -> bool:
    return log.tool_call_id is not None or log.tool_name == call.get("name")


def _result(call_id: str, log: ToolLog) -> JsonObject:
    told: JsonObject = {
        "link": log.link,
        "execution_status": log.execution_status,
        "exit_status": log.exit_status,
        "evidence": log.evidence,
        **log.extra,
    }
    content = None if log.outputs is None else text_of(log.outputs)
    return {"source_call_id": call_id, "content": content, "extra": {"otel2traj": told}}
