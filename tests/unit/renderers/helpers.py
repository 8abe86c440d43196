"""What the tests of the renderers share."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from otel2traj.canonical import loads
from otel2traj.model.codec import trajectory_from_json
from otel2traj.model.trajectory import Trajectory
from otel2traj.renderers import RENDERERS
from otel2traj.renderers.base import RenderOptions
from tests.factory import play


def stored(path: Path) -> Trajectory:
    data = loads(path.read_bytes())
    assert isinstance(data, dict)
    return trajectory_from_json(data)


def render(name: str, what: Trajectory, **options: Any) -> str:
    out = io.BytesIO()
    play(what, RENDERERS.get(name).sink(out, RenderOptions(**options)))
    return out.getvalue().decode("utf-8")
