"""Recording a block of code in this process, for notebooks and tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.trajectory import Trajectory

if TYPE_CHECKING:
    from ..recording.recorder import Recorder


@dataclass(slots=True)
class Run:
    """A recorded block. `path` is its attempt directory, `trajectory` what became of it; a look at the latter ends the
    recording."""

    path: Path
    _recorder: Recorder | None
    _saved: dict[str, str | None]
    _processor: object

    @property
    def trajectory(self) -> Trajectory:
        from .source import load

        self.finish()
        return load(self.path)

    def finish(self, error: BaseException | None = None) -> None:
        """End the recording and write it; further calls do nothing."""
        from ..recording.child import End

        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        for name, value in self._saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._processor.shutdown()  # type: ignore[attr-defined]
        text = None if error is None else f"{type(error).__name__}: {error}"
        recorder.finish(End(0 if error is None else None, None, isinstance(error, KeyboardInterrupt), text))


@contextmanager
def record(
    out: Path | str, *, input: str | None = None, files: bool = False, upstreams: Mapping[str, str] | None = None
) -> Iterator[Run]:
    """Record the block into `out`, which must be new or empty: spans of the global tracer provider, and model calls of
    clients that are made inside it and read their base URL from the environment. Raises `RefusedError`, `UsageError`.

    At the end `trajectory.json` is there; an exception of the block goes on its way once it is.
    """
    from ..recording.block import attach
    from ..recording.recorder import Options, Recorder
    from .build import build_path

    path = Path(out)
    options = Options(path, input, None, files, upstreams or {})
    recorder = Recorder(options, dict(os.environ), [])
    saved = {name: os.environ.get(name) for name in recorder.env}
    os.environ.update(recorder.env)
    run = Run(path, recorder, saved, attach(recorder.otlp))
    try:
        yield run
    except BaseException as err:
        run.finish(err)
        raise
    finally:
        run.finish()
        build_path(path, write=True)
