"""A trajectory, or a history in Who&When form, to turns: who spoke, what was said, what was run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ...canonical import JsonObject, dumps
from ...model.link import ExecutionStatus
from ...model.trajectory import Step, StepKind

_CONSOLES: Final = ("terminal", "executor")
_ASIDE: Final = " ("


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said or run. `step` counts as the source does: the position in a history, or a trajectory's step id."""

    step: int
    agent: str
    text: str
    ran: bool = False
    """The output of something that was executed, not words of an agent."""
    failed: bool = False
    """It says by itself that the execution failed."""
    thought: bool = False
    """Said to nobody: a plan or a ledger of the one who orchestrates."""
    human: bool = False

    @property
    def orchestrates(self) -> bool:
        return self.agent.lower().startswith("orchestrator")


def turns_of_history(history: list[Any]) -> list[Turn]:
    """Turns of a file in Who&When form: `{"history": [{"content", "name"?, "role"?}]}`. The agent is the name, else the
    role without what it says in brackets."""
    out = []
    for number, item in enumerate(history):
        known = item if isinstance(item, dict) else {}
        content = known.get("content")
        text = content if isinstance(content, str) else "" if content is None else dumps(content).decode()
        said = str(known.get("name") or known.get("role") or "")
        agent, _, aside = said.partition(_ASIDE)
        console = any(word in agent.lower() for word in _CONSOLES) or text.startswith("exitcode:")
        code = text.removeprefix("exitcode:").split(maxsplit=1)[0] if text.startswith("exitcode: ") else "0"
        out.append(
            Turn(
                number,
                agent,
                text,
                ran=console,
                failed=code != "0",
                thought=aside.startswith("thought"),
                human=agent.lower() in ("human", "user"),
            )
        )
    return out


def turns_of_trajectory(steps: Iterable[Step]) -> list[Turn]:
    """Turns of a trajectory: each answer of a model, then what its calls gave."""
    out = []
    for step in steps:
        agent = step.agent_name or "agent"
        if step.kind is StepKind.MODEL:
            out.append(Turn(step.step_id, agent, _said(step.output)))
        for log in step.tool_logs:
            if log.execution_status is ExecutionStatus.NOT_OBSERVED:
                continue
            text = log.outputs if isinstance(log.outputs, str) else "" if log.outputs is None else _json(log.outputs)
            failed = log.execution_status is ExecutionStatus.ERROR
            out.append(Turn(step.step_id, log.tool_name or "tool", text, ran=True, failed=failed))
    return out


def _said(output: JsonObject) -> str:
    parts = [output["text"]] if isinstance(output.get("text"), str) else []
    for call in output.get("tool_calls") or []:
        if isinstance(call, dict):
            parts.append(f"```\n{call.get('name')} {_json(call.get('arguments'))}\n```")
    return "\n".join(parts)


def _json(value: Any) -> str:
    return dumps(value).decode("utf-8", "replace")
