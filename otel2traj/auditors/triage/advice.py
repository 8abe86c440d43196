"""One sentence for each category: where to look next."""

from __future__ import annotations

from typing import Final

from ...model.forensic import FailureCategory as Category

ADVICE: Final = {
    Category.SUCCESS: "Nothing failed; the chain lists what the run recovered from.",
    Category.INFRA_SIMULATOR_EXCEPTION: "Read the error, and whether the call that met it was sound.",
    Category.INFRA_TIMEOUT: "Compare the time limit with the time of the turns before it.",
    Category.INFRA_CONNECTION_FAILED: "Check the network between agent and model or tool at the time of the trigger.",
    Category.INFRA_OOM: "Raise the memory limit, or look in the telemetry for the turn from which it grew.",
    Category.INFRA_DISK_QUOTA: "Free or raise the disk quota of the workspace.",
    Category.INFRA_SANDBOX_FAILURE: "Read the log of the container or sandbox; the agent may be without fault.",
    Category.INFRA_RESOURCE_EXHAUSTED: "Give the run more CPU, memory or quota, and run it again.",
    Category.LOGIC_STALL: "Read the last messages: what keeps the agent from an end?",
    Category.LOGIC_REFUSAL: "Compare the prompt with the policy of the model that refused.",
    Category.LOGIC_PLANNING_ERROR: "Read the turn before the first repetition: which answer did not move the agent on?",
    Category.LOGIC_STATE_MISMATCH: "Compare the state that was demanded with the workspace after the last turn.",
    Category.LOGIC_STATE_STALL: "Compare the result of the repeated action with what the agent needed from it.",
    Category.LOGIC_UNCERTAINTY: "Read what the environment says of the agent's doubt.",
    Category.LOGIC_ABANDONMENT: "Read the last turn: what was left undone?",
    Category.LOGIC_OBJECTIVE_MISALIGNMENT: "Compare the prompt with what the agent set out to do.",
    Category.POLICY_VIOLATION: "Compare the denied call with the policy that denied it.",
    Category.POLICY_HALLUCINATION: "Compare the call with the tools that the model was offered in that turn.",
    Category.POLICY_DACON_LEAK: "Read which data the environment saw leave.",
    Category.POLICY_KNOWLEDGE_STALENESS: "Compare what the agent took for current with its source.",
    Category.SECURITY_PII_LEAK: "Find where the data came from, and who could read the message.",
    Category.SECURITY_UNAUTHORIZED_ACCESS: "Check the credentials and rights of the agent for what it called.",
    Category.SECURITY_SANDBOX_ESCAPE: "Read the call and its result, and keep the workspace as it is.",
    Category.SECURITY_IDENTITY_HITL_FAILURE: "Check who approved the action, and as whom.",
    Category.PARITY_STATE_DIVERGENCE: "Compare the two states at the turn where they part.",
    Category.PARITY_PROTOCOL_VIOLATION: "Compare the recorded sequence with the required one, step by step.",
    Category.PARTIAL_PASS: "Read the metrics that did not hold.",
    Category.UNKNOWN_FAILURE: "No recorded fact says why; see what the evidence lacks with `otel2traj info`.",
}
