"""Recording a command: from nothing to an attempt directory with its trajectory."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Otel2TrajError, UsageError

if TYPE_CHECKING:
    from ..recording.recorder import Options

Say = Callable[[str], None]


def default_out(command: Sequence[str]) -> Path:
    """A new directory below `otel2traj-runs/`, named by time and command."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{Path(command[0]).name}-{os.getpid()}"
    return Path("otel2traj-runs") / name


def record(options: Options, command: Sequence[str], *, say: Say) -> int:
    """Run `command`, record it into `options.out`, build its trajectory; the command's own exit code (128 and the
    number after a signal, 127 and 126 where it cannot be run)."""
    from ..recording.child import End, run
    from ..recording.recipes import adapt, exports, scratch_folder, sessions
    from ..recording.recorder import Recorder
    from .build import build_path

    if not command:
        raise UsageError("no command is given", hint="otel2traj record -- python agent.py")
    env = dict(os.environ)
    recorder = Recorder(options, env, command)
    words, more, recipe = adapt(list(command), env, recorder.otlp, recorder.ports, recorder.run_id)
    child_env = {**env, **recorder.env, **more}
    try:
        end = run(words, child_env)
    except BaseException:
        recorder.finish(End(None, "SIGKILL", True))
        raise
    finally:
        if recipe is not None:
            shutil.rmtree(scratch_folder(env, recorder.run_id), ignore_errors=True)
    if recipe is not None:
        recorder.remarks.append(f"recipe {recipe}")
        recorder.keep({file.name: file for file in sessions(recipe, child_env, recorder.started_ns)})
        recorder.keep(exports(recipe, words[0], env, recorder.sessions))
    recorder.finish(end)
    for remark in recorder.remarks:
        say(remark)
    if end.error is not None:
        say(end.error)
    try:
        for built in build_path(options.out, write=True):
            say(built.describe())
    except Otel2TrajError as err:
        say(f"{err}; what was recorded stands: otel2traj build --write {options.out}")
    return end.exit_code
