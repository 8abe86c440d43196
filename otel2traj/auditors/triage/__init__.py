"""A forensic ledger to observations and a root cause: one file for each family of rules, one visible list of all."""

from __future__ import annotations

from typing import Final

from ...model.forensic import FailureCategory
from ...registry import Registry
from . import conduct, environment, metrics, protocol, speech, stall, tools
from .base import Analyzer, Rule
from .custom import Custom
from .engine import STAGES, diagnose
from .environment import UNOBSERVABLE
from .recorded import named_by

__all__ = ["RULES", "STAGES", "UNOBSERVABLE", "Analyzer", "Custom", "Rule", "diagnose", "named_by"]

UNKNOWN: Final = Rule(
    "triage.unknown_failure", FailureCategory.UNKNOWN_FAILURE, "No metric decides the run, and no rule found a fault."
)
RULES: Registry[Rule] = Registry(
    "triage rule",
    *metrics.RULES,
    *protocol.RULES,
    *environment.RULES,
    *conduct.RULES,
    *tools.RULES,
    *speech.RULES,
    *stall.RULES,
    *stall.RESOURCE_RULES,
    UNKNOWN,
)
"""All 28 categories in the order of the diagnosis."""
