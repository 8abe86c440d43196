"""OpenInference, the instrumentor of smolagents.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-smolagents-v0.1.43/python/instrumentation/openinference-instrumentation-smolagents
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ..messages.nested import string
from ..model.evidence import SpanRecord
from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import kind_of

_RUN: Final = ".run"
_CLASSES: Final = frozenset({"MultiStepAgent", "CodeAgent", "ToolCallingAgent"})
"""What stands in the place of the name where an agent has none. Managed agents always have one."""


class OpenInferenceSmolagents(OpenInferenceInstrumentor):
    name = "openinference_smolagents"
    title = "OpenInference for smolagents"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-smolagents-v0.1.43/python/instrumentation/openinference-instrumentation-smolagents"
    leaves_out = "tool call ids of executions; earlier calls of the history, which are told as text"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.smolagents": "0.1.43"}
    marks = Marks(scopes=("openinference.instrumentation.smolagents",))

    def who(self, span: SpanRecord) -> str | None:
        """The instrumentor writes an agent's name nowhere but into the name of its run: `<name>.run`, the same that the
        run of its manager lists as `smolagents.managed_agents.N.name`."""
        if kind_of(span) != "AGENT" or not span.name.endswith(_RUN):
            return None
        name = string(span.name.removesuffix(_RUN))
        return None if name in _CLASSES else name


OPENINFERENCE_SMOLAGENTS = OpenInferenceSmolagents()
