"""Every attempt of the fixtures derives, and is clean in every tier, raw bytes included."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from otel2traj.api.prov import fixtures as declared
from otel2traj.api.record_bytes import RecordBytes
from otel2traj.api.source import drive
from otel2traj.errors import EvidenceError
from otel2traj.prov.aer import AerProjector
from otel2traj.prov.engine import derive_prov
from otel2traj.prov.validate import validate

from .made import sems

ATTEMPTS = sorted((Path(__file__).parents[3] / "fixtures" / "attempts").glob("*/attempt"))
ROUND_TRIPS = {"abb-02-parallel-tools", "abb-17a-acp", "pydanticai-builtin-twins"}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_every_attempt_is_clean_in_every_tier(attempt: Path) -> None:
    out = io.BytesIO()
    projector = AerProjector(out, "fixtures", attempt.parent.name, fixtures=declared(attempt))
    try:
        drive(attempt, projector)
    except EvidenceError:
        assert "symlink" in attempt.parent.name
        return
    lines = out.getvalue().splitlines(keepends=True)
    annotated = sems(lines)
    document = derive_prov(lines, annotated)
    with RecordBytes(attempt) as read:
        results = validate(
            prov=document,
            aer=lines,
            sems=annotated,
            read=read,
            digest_of=lambda path: hashlib.sha256((attempt / path).read_bytes()).hexdigest(),
            roundtrip=attempt.parent.name in ROUND_TRIPS,
        )
    assert [(one.tier, one.findings) for one in results if one.findings] == []
    ran = {one.tier for one in results if one.status == "passed"}
    assert ran >= {"1", "2", "3a", "3b", "3c", "3d", "5"}


def test_there_are_attempts() -> None:
    assert len(ATTEMPTS) > 20
