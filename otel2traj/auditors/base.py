"""What an auditor is: a sink that returns findings."""

from __future__ import annotations

from typing import Protocol

from ..model.finding import Finding
from ..model.trajectory import StepSink


class Auditor(StepSink, Protocol):
    """Consumes a trajectory and returns what is wrong with it; keeps no step."""

    name: str

    def findings(self) -> list[Finding]: ...
