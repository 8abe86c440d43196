"""Tier 3d: recorded times into warnings. PROV never compares clock values, and clocks are skewed: no error here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...canonical import JsonObject
from ...model.finding import Finding, Severity
from ...timestamps import parse_ns
from .profile import bundles, names, statements

RULES: Final = {
    "clock.backwards": "An activity does not end before it starts, by the recorded times.",
    "clock.use-before-making": "What an activity used was being made before it ended, by the recorded times.",
    "clock.order": "What comes after another by identifiers does not end before that started, by the recorded times.",
}


def _time(item: JsonObject, key: str) -> int | None:
    value = item.get(key)
    return parse_ns(value) if isinstance(value, str) else None


def validate_clock(document: JsonObject) -> list[Finding]:
    """Tier 3d over every bundle of a document, and its top level."""
    return [one for where, instance in _instances(document) for one in _instance(instance, where)]


def _instances(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    yield "", document
    for key, instance in bundles(document).items():
        yield f"/bundle/{key}", instance


def _instance(instance: JsonObject, where: str) -> Iterator[Finding]:
    activities = {key: item for kind, key, item in statements(instance) if kind == "activity"}
    makers: dict[str, str] = {}
    for kind, _, item in statements(instance):
        if kind == "wasGeneratedBy" and isinstance(item.get("prov:activity"), str):
            makers.setdefault(str(item.get("prov:entity")), item["prov:activity"])

    def warn(rule: str, message: str, place: str) -> Finding:
        return Finding(f"clock.{rule}", message, Severity.WARNING, f"{where}/{place}")

    def ends_before(one: str, other: str) -> bool:
        end = _time(activities.get(one, {}), "prov:endTime")
        start = _time(activities.get(other, {}), "prov:startTime")
        return end is not None and start is not None and end < start

    for key, item in activities.items():
        if ends_before(key, key):
            yield warn("backwards", f"{key} ends before it starts", f"activity/{key}")
        for before in names(item.get("apv:afterCausal")):
            maker = makers.get(before, before)
            if ends_before(key, maker):
                yield warn("order", f"{key} comes after {before} and ends before {maker} starts", f"activity/{key}")
    for kind, key, item in statements(instance):
        source = makers.get(str(item.get("prov:entity"))) if kind == "used" else None
        user = str(item.get("prov:activity"))
        if source is not None and ends_before(user, source):
            yield warn("use-before-making", f"{user} ends before {source} starts, whose product it used", f"used/{key}")
