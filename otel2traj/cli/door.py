"""URLs on the command line: what a command reads comes to this machine first, what it writes goes out when it ends."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import typer

from .. import stores
from ..errors import UsageError

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
    for name, info in _commands(app, ""):
        info.callback = _passing(info.callback, name, urls)
    return app


def _commands(app: typer.Typer, above: str) -> Iterator[tuple[str, Any]]:
    for info in app.registered_commands:
        word = info.name or getattr(info.callback, "__name__", "").replace("_", "-")
        yield f"{above} {word}".strip(), info
    for group in app.registered_groups:
        if group.typer_instance is not None:
            word = group.name or group.typer_instance.info.name
            yield from _commands(group.typer_instance, f"{above} {word}".strip())


def _passing(callback: Any, command: str, urls: Mapping[str, str]) -> Any:
    @functools.wraps(callback)
    def run(**values: Any) -> None:
        with ExitStack() as stack:
            door = _Door(stack, command, urls)
            given = {name: door.let(name, value) for name, value in values.items()}
            try:
                callback(**given)
            except SystemExit as end:
                if end.code in (None, 0, 1):
                    door.deliver()
                raise
            door.deliver()

    return run


class _Door:
    def __init__(self, stack: ExitStack, command: str, urls: Mapping[str, str]) -> None:
        self._stack = stack
        self._command = command
        self._urls = urls
        self._out: list[tuple[str, Path]] = []

    def let(self, name: str, value: Any) -> Any:
        """A value of the command line, with a path of this machine in the place of a URL."""
        if isinstance(value, list):
            return [self.let(name, item) for item in value]
        url = self._urls.get(str(value)) if isinstance(value, Path) else None
        if url is None:
            return value
        if f"{self._command} ".startswith(tuple(f"{here} " for here in _HERE)):
            raise UsageError(f"{self._command} works on this machine", hint=f"{stores.shown(url)}: give a path")
        if name not in _WRITTEN and name not in _ALSO_WRITTEN.get(self._command, ()):
            return self._stack.enter_context(stores.local(url))
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="otel2traj-")))
        path = folder / stores.name_of(url)
        self._out.append((url, path))
        return path

    def deliver(self) -> None:
        """Put what was written where it was asked for, with what was written beside it."""
        for url, path in self._out:
            parent = url.rstrip("/")[: -len(path.name)]
            for made in sorted(path.parent.rglob("*")):
                if made.is_file():
                    stores.put(parent + made.relative_to(path.parent).as_posix(), made)
        self._out.clear()
