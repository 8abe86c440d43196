"""A ledger to findings: one file for each family of rules, one visible list of all rules."""

from __future__ import annotations

from ...registry import Registry
from . import chain, cost, envelope, evidence, grounding, lines, outcome, sequence, state
from .base import Options, Report, Rule
from .replay import Replay, replay
from .walk import Verdict, Walk, audit

__all__ = ["RULES", "Options", "Replay", "Report", "Rule", "Verdict", "Walk", "audit", "replay"]

RULES: Registry[Rule] = Registry(
    "ledger rule",
    *lines.RULES,
    *envelope.RULES,
    *sequence.RULES,
    *grounding.RULES,
    *state.RULES,
    *outcome.RULES,
    *cost.RULES,
    *chain.RULES,
    *evidence.RULES,
)
