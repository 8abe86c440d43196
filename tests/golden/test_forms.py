"""What each file of agents, tools and tracing products is built as, one line a step, one conversation after another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.api.build import build_path

RECORDS = Path(__file__).parents[2] / "fixtures" / "records"
APART = ("otlp-json", "otlp-proto", "sdk-json", "tempo", "zipkin", "jaeger", "js-console")
"""Forms of any span: built elsewhere from captured runs, or refused."""
FILES = sorted(path for path in RECORDS.glob("*/*") if path.is_file() and path.parent.name not in APART)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_file_is_built_as_its_golden_trajectory(
    path: Path, golden: Callable[[Path, bytes], None], tmp_path: Path
) -> None:
    built = build_path(path, output=tmp_path / "out")
    written = [one.file.read_bytes() for one in built if one.file is not None]
    assert len(written) == len(built)
    assert not any(one.failed for one in built) or path.parent.name == "mlflow"
    golden(path.parent / "expected" / f"{path.name}.trajectory.json", b"".join(written))
