"""The version ladder: one function for each step from an older builder version, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..errors import EvidenceError
from ..model.trajectory import BUILDER_VERSION

Rung = Callable[[JsonObject], JsonObject]

HEADERS: Final[dict[int, Rung]] = {}
"""From version N to N + 1, for everything but the steps. Empty: version 1 is the first."""

STEPS: Final[dict[int, Rung]] = {}
"""The same for one step."""


def upgrade_header(data: JsonObject, version: JsonValue) -> JsonObject:
    """To today's version. Raises `EvidenceError` for one that this release does not know."""
    return _climb(data, version, HEADERS)


def upgrade_step(data: JsonObject, version: JsonValue) -> JsonObject:
    return _climb(data, version, STEPS)


def _climb(data: JsonObject, version: JsonValue, ladder: dict[int, Rung]) -> JsonObject:
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= BUILDER_VERSION:
        raise EvidenceError(
            f"builder_version {version!r} is not known here", hint="a newer release wrote it: upgrade otel2traj"
        )
    for rung in range(version, BUILDER_VERSION):
        data = ladder[rung](data)
    return data
