"""Agents on the command line, one declared file each: variables, arguments, files and where the session file lies.

In every value `{otlp}` is the OTLP endpoint, `{openai}`, `{gemini}` and so on are local base URLs, `{attempt}` is
the run's id, `{scratch}` a private folder of the recording, `{session}` the agent's own id of a session.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

_SESSION: Final = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_EXPORT_SECONDS: Final = 60


def recipes() -> dict[str, dict[str, Any]]:
    """Every recipe by its program's name."""
    out = {}
    for file in sorted(files(__package__).iterdir(), key=lambda item: item.name):
        if file.name.endswith(".toml"):
            recipe = tomllib.loads(file.read_text("utf-8"))
            out[recipe["program"]] = recipe
    return out


def sessions(program: str, env: Mapping[str, str], since_ns: int) -> list[Path]:
    """The session files that the program wrote since then, by its recipe; sorted."""
    pattern = recipes()[program].get("session")
    if pattern is None:
        return []
    found = [path for path in Path(env.get("HOME", "/")).glob(pattern) if path.is_file() and not path.is_symlink()]
    return sorted(path for path in found if path.stat().st_mtime_ns >= since_ns)


def exports(program: str, command: str, env: Mapping[str, str], ids: Iterable[str]) -> dict[str, bytes]:
    """What the program says of each session when asked as its recipe says, by file name. Asked with the user's own
    variables, so that it tells nobody else. An answer with an error is none."""
    words = recipes()[program].get("export", ())
    out: dict[str, bytes] = {}
    for one in ids:
        if not words or _SESSION.fullmatch(one) is None:
            continue
        asked = [command, *(word.replace("{session}", one) for word in words)]
        try:
            done = subprocess.run(
                asked,
                env={**env, "OTEL_SDK_DISABLED": "true"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_EXPORT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout:
            out[f"{one}.json"] = done.stdout
    return out


def scratch_folder(env: Mapping[str, str], attempt: str) -> Path:
    """Where a recipe's files lie while the command runs: below the home folder, since some agents refuse files whose
    parents others can write."""
    return Path(env.get("HOME", "/")) / ".cache" / "otel2traj" / attempt


def adapt(
    command: list[str], env: Mapping[str, str], otlp: str, bases: Mapping[str, str], attempt: str
) -> tuple[list[str], dict[str, str], str | None]:
    """The command and the further variables by the recipe of its program, and that program's name; all as it was where
    there is none. A variable that the user set stays."""
    program = Path(command[0]).name
    recipe = recipes().get(program)
    if recipe is None:
        return command, {}, None
    scratch = scratch_folder(env, attempt)
    values = {"otlp": otlp, "attempt": attempt, "scratch": str(scratch), **bases}

    def fill(text: str) -> str:
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    for name, content in recipe.get("files", {}).items():
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        (scratch / name).write_text(fill(content), "utf-8")
    more = {name: fill(value) for name, value in recipe.get("env", {}).items() if name not in env}
    extra = [fill(word) for word in recipe.get("arguments", ())]
    after = recipe.get("after")
    if extra and after in command:
        at = command.index(after) + 1
        command = [*command[:at], *extra, *command[at:]]
    return command, more, program
