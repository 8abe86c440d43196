"""A folder of runs where a command takes one: the command is done for each, and its files lie side by side."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import typer

from ..errors import EvidenceError, Otel2TrajError, UsageError
from .door import commands_of

SPREAD: Final = {
    "export": "",
    "ledger export": ".ledger.jsonl",
    "forensic export": ".forensic.json",
    "forensic triage": ".forensic.json",
    "forensic explain": "",
    "prov export": ".prov.json",
    "prov validate": "",
    "validate": "",
}
"""Commands that take a folder of runs, with the ending of the files that they write into the folder of `-o`."""
_ARGUMENT: Final = {"validate": "file", "prov validate": "file", "ledger export": "trajectory"}
_SAY: Final = frozenset({"forensic explain", "prov validate", "validate"})
"""Those that write no file."""
_NAMED: Final = frozenset({"forensic explain", "prov validate"})
"""Those whose words do not say of which run they are."""


def spread(app: typer.Typer) -> None:
    """Let the commands of `SPREAD` take folders."""
    for name, info in commands_of(app):
        if name in SPREAD:
            info.callback = _each(info.callback, name)


def _each(callback: Any, command: str) -> Any:
    @functools.wraps(callback)
    def run(**values: Any) -> None:
        from ..renderers.safe import inline

        key = _ARGUMENT.get(command, "path")
        folder = values.get(key)
        runs = list(_runs(folder, command)) if isinstance(folder, Path) and folder.is_dir() else []
        if not runs or not isinstance(folder, Path):
            callback(**values)
            return
        output = values.get("output")
        if command not in _SAY and output is None:
            raise UsageError(f"{folder} is a folder of {len(runs)} runs", hint="name a folder for the files with -o")
        for key_of_one in ("aer", "sem", "evidence"):
            if values.get(key_of_one) is not None:
                raise UsageError(f"--{key_of_one} is of one run", hint=f"{folder} is a folder of {len(runs)}")
        codes = []
        for one in runs:
            more = {key: one} if output is None else {key: one, "output": _target(output, folder, one, command, values)}
            if command in _NAMED:
                print(f"{inline(one.relative_to(folder).as_posix())}:", flush=True)
            codes.append(_done(callback, {**values, **more}, one))
        sys.exit(max(codes) if set(codes) == {max(codes)} or max(codes) == 5 else 1)

    return run


def _runs(folder: Path, command: str) -> Iterator[Path]:
    if command == "validate":
        from ..stored import is_stored

        yield from (file for file in sorted(folder.rglob("*.json*")) if is_stored(file))
        return
    if command == "prov validate":
        from ..api.validate import FileKind, kind_of

        for file in sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl", ".provn")):
            with suppress(EvidenceError):
                if kind_of(file) in (FileKind.AER, FileKind.SEM, FileKind.PROV):
                    yield file
        return
    from ..api.runs import runs_at

    runs = list(runs_at(folder))
    if runs != [folder]:
        yield from runs
    elif command in ("forensic triage", "forensic explain"):
        from ..api.forensic import is_forensic

        yield from (file for file in sorted(folder.rglob("*.json")) if is_forensic(file))


def _target(output: Path, folder: Path, one: Path, command: str, values: dict[str, Any]) -> Path:
    """Where the file of one run goes: the folder's own shape, with the ending of the format."""
    ending = SPREAD[command]
    if command == "export":
        from ..writers import FOLDERS, WRITERS

        to = str(values.get("to"))
        ending = "" if to in FOLDERS or to not in WRITERS.names() else WRITERS.get(to).suffix
    place = output / one.relative_to(folder)
    target = place.with_name(place.name + ending)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _done(callback: Any, values: dict[str, Any], one: Path) -> int:
    """One run of the folder; its exit code. What cannot be read is told, and the next one is taken."""
    from .guard import tell

    try:
        callback(**values)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Otel2TrajError as err:
        print(f"{one}:", file=sys.stderr)
        return tell(err)
    return 0
