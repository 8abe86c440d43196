"""`--quiet` and `--verbose` of the commands that read runs: remarks left out, or what is read and how long it takes."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import typer

from .door import commands_of

RUNS: Final = {
    "build": "path",
    "export": "path",
    "show": "path",
    "view": "paths",
    "validate": "file",
    "ledger export": "trajectory",
    "forensic export": "path",
    "forensic triage": "path",
    "prov export": "path",
    "prov validate": "file",
    "attribute": "run",
    "compare": "runs",
}
"""Commands that take the options, and the argument that names what they read."""
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Errors alone on stderr.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="On stderr: what is read, by which rules it is joined, and the time.")
]
_ERRORS: Final = ("error:", "hint:", "unread", "FAIL", "otel2traj: could not", "otel2traj: error")
"""How a line begins that is no remark."""


def talk(app: typer.Typer) -> None:
    """Give the commands of `RUNS` the two options."""
    for name, info in commands_of(app):
        if name in RUNS:
            info.callback = _with_options(info.callback, RUNS[name])


def _with_options(callback: Any, argument: str) -> Any:
    @functools.wraps(callback)
    def run(*, quiet: bool = False, verbose: bool = False, **values: Any) -> None:
        if quiet and verbose:
            raise typer.BadParameter("--quiet and --verbose exclude each other", param_hint="--quiet")
        begun = time.monotonic()
        if verbose:
            _survey(values.get(argument))
        try:
            with _errors_alone() if quiet else nullcontext():
                callback(**values)
        finally:
            if verbose:
                print(f"took {time.monotonic() - begun:.2f} s", file=sys.stderr)

    own = inspect.signature(callback, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [
        inspect.Parameter("quiet", keyword, default=False, annotation=Quiet),
        inspect.Parameter("verbose", keyword, default=False, annotation=Verbose),
    ]
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**callback.__annotations__, "quiet": Quiet, "verbose": Verbose}
    return run


def _survey(given: Any) -> None:
    """What `otel2traj info` says of each path; a saved file needs no reading of evidence."""
    from ..api.info import info
    from ..errors import Otel2TrajError
    from ..renderers.safe import inline
    from .info import lines_of

    for path in given if isinstance(given, list) else [given]:
        if path is None or str(path) == "-":
            continue
        print(f"reading {inline(str(path))}", file=sys.stderr)
        try:
            for line in lines_of(info(Path(path))):
                print(f"  {inline(line)}", file=sys.stderr)
        except (Otel2TrajError, OSError):
            continue  # a saved file, a folder of runs, or nothing at all: the command itself says which


@contextmanager
def _errors_alone() -> Iterator[None]:
    kept = sys.stderr
    sys.stderr = _Errors(kept)
    try:
        yield
    finally:
        sys.stderr = kept


class _Errors:
    """A stream of text that lets whole lines pass which tell of an error."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._line = out, ""

    def write(self, text: str) -> int:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            if line.startswith(_ERRORS) or " error: " in line or ": failed: " in f": {line}":
                self._out.write(f"{line}\n")
        return len(text)

    def flush(self) -> None:
        self._out.flush()

    def isatty(self) -> bool:
        return False  # no progress either

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)
