"""URLs and `-` on the command line: what a command reads comes to a file of this machine first, what it writes to a URL
goes out when it ends."""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from .. import stores
from ..errors import EvidenceError, UsageError

STDIN: Final = "-"
_HERE: Final = ("corpus", "receive", "record", "ledger append", "ledger record-non-det")
"""Commands that work in place: their paths are of this machine."""
_WRITTEN: Final = frozenset({"output", "html"})
_ALSO_WRITTEN: Final = {"prov export": frozenset({"aer", "sem"})}


def urls_of(arguments: list[str]) -> dict[str, str]:
    """The URLs of a command line by what becomes of them as a path, which folds slashes."""
    words = [one.partition("=")[2] if one.startswith("-") else one for one in arguments]
    return {str(Path(word)): word for word in words if stores.is_url(word)}


def through(app: typer.Typer, urls: Mapping[str, str]) -> Callable[[], None]:
    """The program with the paths of its commands passed through the door."""
    for name, info in commands_of(app):
        info.callback = _passing(info.callback, name, urls)
    return app


def commands_of(app: typer.Typer, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every registered command with its whole name."""
    for info in app.registered_commands:
        word = info.name or getattr(info.callback, "__name__", "").replace("_", "-")
        yield f"{above} {word}".strip(), info
    for group in app.registered_groups:
        if group.typer_instance is not None:
            word = group.name or group.typer_instance.info.name
            yield from commands_of(group.typer_instance, f"{above} {word}".strip())


def _passing(callback: Any, command: str, urls: Mapping[str, str]) -> Any:
    @functools.wraps(callback)
    def run(**values: Any) -> None:
        with ExitStack() as stack:
            given = {name: _let(stack, command, urls, name, value) for name, value in values.items()}
            code: Any = 0
            try:
                callback(**given)
            except SystemExit as end:
                code = end.code
                if code not in (None, 0, 1):
                    raise
        sys.exit(code)

    return run


def _let(stack: ExitStack, command: str, urls: Mapping[str, str], name: str, value: Any) -> Any:
    """A value of the command line, with a path of this machine in the place of a URL."""
    if isinstance(value, list):
        return [_let(stack, command, urls, name, item) for item in value]
    if str(value) == STDIN and name not in _WRITTEN and (isinstance(value, Path) or name == "path"):
        file = stack.enter_context(_standard_input(command))
        return file if isinstance(value, Path) else str(file)
    if name == "output" and str(value) == STDIN and isinstance(value, Path):
        return Path("/dev/stdout")
    url = urls.get(str(value)) if isinstance(value, Path) else None
    if url is None:
        return value
    if f"{command} ".startswith(tuple(f"{here} " for here in _HERE)):
        raise UsageError(f"{command} works on this machine", hint=f"{stores.shown(url)}: give a path")
    if name in _WRITTEN or name in _ALSO_WRITTEN.get(command, ()):
        return stack.enter_context(stores.target(url))
    return stack.enter_context(stores.local(url))


@contextmanager
def _standard_input(command: str) -> Iterator[Path]:
    """Standard input as a file, since evidence is read twice and by address."""
    if command in _HERE:
        raise UsageError(f"{command} works in place", hint="give a path")
    with tempfile.TemporaryDirectory(prefix="otel2traj-") as folder:
        file = Path(folder) / "stdin"
        with file.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
        if not file.stat().st_size:
            raise EvidenceError("standard input is empty", hint="pipe a trace file or a saved trajectory into it")
        yield file
