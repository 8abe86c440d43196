"""One error tree, and a word that messages share. A subclass exists only where a caller acts differently; the command
line prints `hint` and exits with `exit_code`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class Otel2TrajError(Exception):
    """Anything this project reports on purpose. `hint` says what to do next, `code` is a stable machine word.
    `sources` (`{"path", "sha256"}`) and `warnings` are what had been read when a build was given up."""

    exit_code: ClassVar[int] = 5
    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.error_code = code if code is not None else self.code
        self.sources: tuple[dict[str, object], ...] = ()
        self.warnings: tuple[str, ...] = ()


class UsageError(Otel2TrajError):
    """The request makes no sense: an unknown name, a bad setting, options that exclude each other."""

    exit_code = 2
    code = "usage"


class EvidenceError(Otel2TrajError):
    """A source cannot be read at all. One bad record is a `Notice`, never this."""

    exit_code = 3
    code = "evidence.unreadable"


class WriteError(EvidenceError):
    """A file or stream cannot be written. The evidence is not at fault: nothing is written about it in its place."""

    code = "unwritable"


class NothingRecordedError(EvidenceError):
    """Everything was read, and nothing of it is what an agent does."""

    code = "evidence.nothing"


class RefusedError(Otel2TrajError):
    """The request is understood and not allowed: a sealed corpus, a path that leaves its attempt."""

    exit_code = 4
    code = "refused"


class PluginError(UsageError):
    """An installed plugin is broken. The message names its distribution."""

    code = "plugin"


def some_of(names: Iterable[str], most: int) -> str:
    """The first names in a row, and how many more there are."""
    listed = list(names)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
