"""OpenInference, the instrumentor of the Claude Agent SDK.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-claude-agent-sdk-v0.1.22/python/instrumentation/openinference-instrumentation-claude-agent-sdk
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor


class OpenInferenceClaudeAgentSdk(OpenInferenceInstrumentor):
    name = "openinference_claude_agent_sdk"
    title = "OpenInference for the Claude Agent SDK"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-claude-agent-sdk-v0.1.22/python/instrumentation/openinference-instrumentation-claude-agent-sdk"
    leaves_out = "model calls: one agent span carries the answers of the whole run"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.claude_agent_sdk": "0.1.22"}
    marks = Marks(scopes=("openinference.instrumentation.claude_agent_sdk",))


OPENINFERENCE_CLAUDE_AGENT_SDK = OpenInferenceClaudeAgentSdk()
