"""The pytest plugin: the fixture `otel2traj_record` records one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .api.block import Run


@pytest.fixture
def otel2traj_record(tmp_path: Path) -> Iterator[Run]:
    """The spans and model calls of this test. `otel2traj_record.trajectory` ends the recording and gives the run."""
    from .api.block import record

    with record(tmp_path / "otel2traj") as run:
        yield run
