"""What a trajectory's Inputs came to, as the terminal outcome of a ledger: never `succeeded` without evidence."""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject, dumps
from ..model.ledger import Outcome
from ..model.trajectory import SdkInput, Summary, TrajectoryStatus

_FAILED = frozenset({"failed", "error"})
_TIMEOUT = frozenset({"timeout", "timed_out"})


def result_source(summary: Summary, item: SdkInput) -> JsonObject | None:
    """The file that holds the result of an Input and its digest, as the build read it, or None."""
    if item.result is None:
        return None
    files = [source for source in summary.sources if str(source.get("path")).rpartition("/")[2] == "result.json"]
    mine = [source for source in files if f"/{item.ordinal}/" in f"/{source['path']}"]
    if not mine and len(files) == len(summary.inputs) == 1:
        mine = files
    if len(mine) != 1 or not isinstance(mine[0].get("sha256"), str):
        return None
    return {"path": mine[0]["path"], "sha256": mine[0]["sha256"]}


def final_outcome(summary: Summary, elapsed: int | float | None) -> JsonObject:
    """`outcome` and the field that it needs."""
    if summary.status is TrajectoryStatus.FAILED:
        error = summary.error or {}
        return {"outcome": Outcome.FAILED, "reason": f"no trajectory: {error.get('message', 'not said')}"}
    statuses = [(item, _status(item)) for item in summary.inputs]
    for item, status in statuses:
        if status in _FAILED:
            return {"outcome": Outcome.FAILED, "reason": f"Input {item.ordinal} failed: {_why(item)}"}
    for item, status in statuses:
        if status in _TIMEOUT and elapsed is not None:
            return {"outcome": Outcome.TIMEOUT, "reason": f"Input {item.ordinal} ended in {status}"}
        if status in _TIMEOUT:
            return _blocked(f"Input {item.ordinal} ended in {status}, and no time was recorded")
    results = []
    for item, status in statuses:
        if status is None:
            return _blocked(f"no result of Input {item.ordinal} was recorded")
        if status != "succeeded":
            return _blocked(f"Input {item.ordinal} ended in {status}")
        evidence = result_source(summary, item)
        if evidence is None:
            return _blocked(f"no result file of Input {item.ordinal} was recorded, so its success has no evidence")
        results.append({"input_ordinal": item.ordinal, **evidence})
    if not results:
        return _blocked("no Input and no result was recorded")
    return {"outcome": Outcome.SUCCEEDED, "evidence": {"results": results}}


def _blocked(why: str) -> JsonObject:
    return {"outcome": Outcome.BLOCKED, "blocker": why}


def _status(item: SdkInput) -> str | None:
    status = (item.result or {}).get("status")
    return status if isinstance(status, str) else None


def _why(item: SdkInput) -> str:
    result = item.result or {}
    for name in ("error", "message", "reason", "error_type", "output"):
        value: Any = result.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and value:
            return dumps(value).decode()
    return "no reason was recorded"
