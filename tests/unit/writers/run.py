"""One run in which everything an export must tell apart happens once."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import SdkInput, StepKind, StepSource, StepStatus, Trajectory
from otel2traj.writers import WRITERS
from tests.factory import not_observed, play, step, tool_log, trajectory

SYSTEM = {"role": "system", "content": "Be careful."}
ASKED = {"role": "user", "content": "Find x, then tidy up."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "call_1", "content": "found"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search.",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        },
    }
]
USAGE = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "raw": {"prompt_tokens": 10}}


def rich() -> Trajectory:
    request = {"messages": [SYSTEM, ASKED], "tools": TOOLS, "model": "model-1", "parameters": {"temperature": 0}}
    evidence = {
        "interaction_id": "a" * 24,
        "call_id": "call-a",
        "request_sha256": "1" * 64,
        "response_sha256": "2" * 64,
    }
    first = step(1, tool_log(extra={"started_at": "2026-01-02T03:04:01.800000Z"}), input=request, evidence=evidence)
    first.output |= {"reasoning": "Search first.", "usage": USAGE, "finish_reason": "tool_calls", "model": "model-1"}
    ambiguous = tool_log(
        "call_2",
        "run",
        input_arguments="{cut",
        outputs=None,
        link=LinkStatus.AMBIGUOUS,
        execution_status=ExecutionStatus.NOT_OBSERVED,
        evidence={"candidates": ["b" * 24, "c" * 24]},
    )
    failed = tool_log(
        "call_3",
        "run",
        execution_status=ExecutionStatus.ERROR,
        outputs="no such file",
        exit_status={"exitCode": 2, "signal": None},
    )
    inferred = {"inferred": {"rule": "name", "step_id": 3, "interaction_id": "d" * 24}}
    second = step(2, ambiguous, failed, not_observed(None, "clean", evidence=inferred))
    second.input = {"messages": [SYSTEM, ASKED, CALLED, TOLD], "tools": TOOLS}
    third = step(
        3,
        tool_log(None, "clean", outputs={"removed": 3}),
        kind=StepKind.TOOL_ONLY,
        source=StepSource.FRAMEWORK,
        model=None,
        input={},
        output={},
    )
    fourth = step(4, input_ordinal="0002", agent_name="writer", started_at=None, ended_at=None)
    fourth.input = {"messages": [SYSTEM, {"role": "user", "content": "Now write — to bob@example.org."}]}
    fourth.output = {"text": "Liebe Grüße 🧮", "tool_calls": [], "finish_reason": "end_turn", "refusal": None}
    fifth = step(5, input_ordinal="0002", agent_name="writer", status=StepStatus.FAILED)
    fifth.output = {"text": None, "tool_calls": [], "wire_error": "connection reset"}
    inputs = [
        SdkInput("0001", "input-1", "Find x, then tidy up.", [1, 3], {"status": "succeeded"}, []),
        SdkInput("0002", "input-2", "Now write — to bob@example.org.", [4, 5], None, []),
    ]
    config = {"agents": [{"agent_name": "lead"}], "system_prompt": "Be careful.", "tools": TOOLS}
    metadata: dict[str, Any] = {"task_instruction": "Find x, then tidy up.", "agent_configuration": config}
    return trajectory(
        first, second, third, fourth, fifth, header={"metadata": metadata}, inputs=inputs, warnings=["w.code: text"]
    )


def written(name: str, what: Trajectory) -> bytes:
    out = BytesIO()
    play(what, WRITERS.get(name).sink(out))
    return out.getvalue()
