"""otel2traj: what an agent run leaves behind, turned into one evidence-backed trajectory.

>>> import otel2traj
>>> trajectory = otel2traj.load("attempt/")            # a `Trajectory`, whole
>>> for step in otel2traj.stream("traces.jsonl"):      # each `Step` as it is made
...     print(step.step_id, step.model)
>>> otel2traj.build("attempt/", output="out.json")     # the file that `otel2traj build` writes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api.block import Run
    from .api.build import Built
    from .model.trajectory import Step, Trajectory

__version__ = "0.1.0"
__all__ = ["Step", "Trajectory", "__version__", "build", "load", "record", "stream"]


def load(path: str | Path, *, conversation: str | None = None, inference: bool = True) -> Trajectory:
    """The trajectory of an attempt directory, a trace file or a saved trajectory, whole in memory; `path` may be a URL.

    `conversation` names one of several (see `otel2traj info`). `inference` off leaves out inferred links. Raises
    `errors.EvidenceError` where nothing can be read, `errors.UsageError` where several are there and none is named.
    """
    from . import stores
    from .api import source

    with stores.local(path) as evidence:
        return source.load(evidence, inference=inference, conversation=conversation)


def stream(path: str | Path, *, conversation: str | None = None, inference: bool = True) -> Iterator[Step]:
    """Its steps in order, each made when it is asked for and kept by nobody; takes and raises what `load` does."""
    from . import stores
    from .api import source
    from .model.trajectory import Step

    with stores.local(path) as evidence:
        for event in source.events(evidence, inference=inference, conversation=conversation):
            if isinstance(event, Step):
                yield event


def build(path: str | Path, *, output: str | Path, jobs: int = 1, inference: bool = True) -> list[Built]:
    """Write the trajectory files of evidence: `output` is a file, or a folder where it holds several conversations.

    Both may be URLs of fsspec, as for `load` and `stream`. One `Built` a trajectory, with its name, its summary and its
    file (None where that is at a URL). `jobs` processes share the conversations; the
    bytes are the same with one. What cannot be built is a file with status `failed` and its error, and is not raised.
    """
    from . import stores
    from .api.build import build_path

    with stores.local(path) as evidence:
        if isinstance(output, Path) or not stores.is_url(output):
            return build_path(evidence, output=Path(output), jobs=jobs, inference=inference)
        with stores.target(output) as file:
            built = build_path(evidence, output=file, jobs=jobs, inference=inference)
        return [replace(item, file=None) for item in built]


def record(
    out: str | Path, *, input: str | None = None, files: bool = False, upstreams: Mapping[str, str] | None = None
) -> AbstractContextManager[Run]:
    """Record a block of code into the attempt directory `out`; see `api.block.record`, which this is."""
    from .api import block

    return block.record(out, input=input, files=files, upstreams=upstreams)


def __getattr__(name: str) -> object:
    if name in ("Step", "Trajectory"):
        from .model import trajectory

        return getattr(trajectory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
