"""Analyzers of users: found, called on copies, and what they return read as observations."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from ...canonical import JsonObject
from ...errors import UsageError
from ...model.finding import Finding, Severity
from ...model.forensic import ANALYZER_GROUP, Observation, TriggerSeverity, category
from .thresholds import CONFIDENCE

SKIPPED: Final = "triage.analyzer-skipped"


@dataclass(slots=True)
class Custom:
    """One analyzer of a user. `priority` puts what it sees before everything else."""

    name: str
    target: Any
    priority: bool = False

    def observe(self, task_result: JsonObject) -> list[Observation]:
        """Raises whatever the analyzer raises, and `ValueError` for what is no observation."""
        given = deepcopy(task_result)
        history = given.get("conversation_history")
        return observations(self.target.analyze(history if isinstance(history, list) else [], given))


def installed() -> tuple[list[Custom], list[Finding]]:
    """The analyzers of installed packages, by name, and a finding for each that cannot be loaded."""
    found: list[Custom] = []
    findings: list[Finding] = []
    for point in sorted(entry_points(group=ANALYZER_GROUP), key=lambda point: (point.name, point.value)):
        try:
            found.append(_custom(point.name, point.load()))
        except Exception as err:  # whatever a package of somebody else does when it is loaded
            findings.append(skipped(point.name, err))
    return found, findings


def load(spec: str) -> Custom:
    """The analyzer named `module:attribute` or `file.py:attribute`. Raises `UsageError`."""
    module_name, _, attribute = spec.rpartition(":")
    if not module_name or not attribute:
        raise UsageError(f"{spec!r} names no analyzer", hint="give module:Class or path/to/file.py:Class")
    try:
        value: Any = _module(module_name)
        for part in attribute.split("."):
            value = getattr(value, part)
        return _custom(spec, value)
    except UsageError:
        raise
    except Exception as err:
        raise UsageError(
            f"cannot load the analyzer {spec!r}: {type(err).__name__}: {err}",
            hint="the module is looked for in the current directory and where Python imports from",
        ) from err


def _module(name: str) -> Any:
    if name.endswith(".py"):
        spec = importlib.util.spec_from_file_location(f"_otel2traj_analyzer_{Path(name).stem}", name)
        if spec is None or spec.loader is None:
            raise UsageError(f"{name} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


def _custom(name: str, value: Any) -> Custom:
    target = value() if inspect.isclass(value) else value
    if not callable(getattr(target, "analyze", None)):
        raise UsageError(f"{name!r} has no method analyze(history, task_result)")
    return Custom(name, target, bool(getattr(target, "priority", False)))


def observations(value: Any) -> list[Observation]:
    """What an analyzer may return: nothing, a category, a report, an observation, or several of them.

    A report is a dict with `category` (or `trigger`), and `explanation` (or `evidence`), `index`, `turn_index`,
    `severity`, `rank`, `confidence` (a number, or a word such as `high`) and `suggestion` where it has them; an object
    with these attributes does as well. Raises `ValueError` for anything else.
    """
    if value is None or value == "":
        return []
    if isinstance(value, Observation):
        return [value]
    if isinstance(value, str):
        value = {"category": value}
    if isinstance(value, dict):
        return [_observation(value)]
    if isinstance(value, Iterable):
        return [found for item in value for found in observations(item)]
    told = {name: getattr(value, name) for name in _NAMES if getattr(value, name, None) is not None}
    if not told:
        raise ValueError(f"{type(value).__name__} is no observation")
    return [_observation(told)]


_NAMES: Final = (
    "category",
    "trigger",
    "explanation",
    "evidence",
    "index",
    "turn_index",
    "severity",
    "rank",
    "confidence",
    "suggestion",
    "pointer",
    "timestamp",
)


def _observation(told: JsonObject) -> Observation:
    name = told.get("category", told.get("trigger"))
    found = category(name)
    if found is None:
        raise ValueError(f"{name!r} is no failure category")
    confidence = told.get("confidence", "medium")
    sure = CONFIDENCE.get(confidence) if isinstance(confidence, str) else confidence
    if not isinstance(sure, (int, float)) or not 0 <= sure <= 1:
        raise ValueError(f"{confidence!r} is no confidence between 0 and 1")
    out = Observation(
        found,
        str(told.get("explanation", told.get("evidence", found.value))),
        severity=TriggerSeverity(str(told.get("severity", "medium")).lower()),
        confidence=float(sure),
    )
    for place in ("index", "turn_index", "rank"):
        if told.get(place) is not None:
            if type(told[place]) is not int:
                raise ValueError(f"{place} {told[place]!r} is no whole number")
            setattr(out, place, told[place])
    for text in ("pointer", "suggestion"):
        if told.get(text) is not None:
            setattr(out, text, str(told[text]))
    if isinstance(told.get("timestamp"), (int, float)):
        out.timestamp = float(told["timestamp"])
    return out


def skipped(name: str, err: Exception) -> Finding:
    return Finding(SKIPPED, f"analyzer {name} was skipped: {type(err).__name__}: {err}", Severity.WARNING)
