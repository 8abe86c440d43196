"""Dialects of other packages, found by the entry-point group `otel2traj.dialects` of their distributions.

https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, NamedTuple

from ..errors import PluginError
from ..model.evidence import EvidenceRef
from .base import Declaration, Dialect, LogDialect, Marks

GROUP: Final = "otel2traj.dialects"
_TEXTS: Final = ("name", "title", "source", "switch_on", "leaves_out")
_OF_SPANS: Final = ("confirms", "recognises", "classify", "read", "hidden", "knows")
_OF_LOGS: Final = ("recognises", "classify", "read")


class Plugins(NamedTuple):
    """Dialects of other packages in the order of their names, and the distribution that each is of."""

    spans: tuple[Dialect, ...] = ()
    logs: tuple[LogDialect, ...] = ()
    origins: Mapping[str, str] = {}
    """Dialect name -> distribution and version, as `acme-otel 1.0`."""


def find(taken: Iterable[str]) -> Plugins:
    """Every installed dialect. An entry point names a dialect or a list of them, of spans or of log records.

    Raises `PluginError` that names the distribution: it cannot be loaded, is no dialect, or bears a `taken` name.
    """
    spans: list[Dialect] = []
    logs: list[LogDialect] = []
    origins: dict[str, str] = {}
    names = set(taken)
    for entry in sorted(set(entry_points(group=GROUP)), key=lambda entry: (entry.name, origin(entry))):
        try:
            loaded: Any = entry.load()
        except Exception as err:
            raise _broken(entry, f"cannot be loaded: {type(err).__name__}: {err}") from err
        for one in loaded if isinstance(loaded, (list, tuple)) else [loaded]:
            wrong = what_is_wrong(one)
            if wrong is not None:
                raise _broken(entry, wrong)
            if one.name in names:
                raise _broken(entry, f"has the name {one.name!r}, which another dialect has")
            names.add(one.name)
            origins[one.name] = origin(entry)
            guarded: Any = Guarded(one, origin(entry))
            if hasattr(one, "marks"):
                spans.append(guarded)
            else:
                logs.append(guarded)
    return Plugins(tuple(spans), tuple(logs), origins)


def what_is_wrong(one: Any) -> str | None:
    """Why an object is no dialect, or None where it is one."""
    if isinstance(one, type):
        return f"is the class {one.__name__}; name an instance of it"
    if not isinstance(one, Declaration):
        return f"is no dialect but of type {type(one).__name__}; derive it from SpanDialect or Declaration"
    for text in _TEXTS:
        said = getattr(one, text, None)
        if not isinstance(said, str) or not said.strip():
            return f"lacks {text!r}, a text that the reference page and `info` show"
    if hasattr(one, "marks") and not isinstance(one.marks, Marks):
        return f"has marks of type {type(one.marks).__name__}, not Marks"
    missing = [name for name in (_OF_SPANS if hasattr(one, "marks") else _OF_LOGS) if not hasattr(one, name)]
    return f"lacks {', '.join(missing)}" if missing else None


def origin(entry: EntryPoint) -> str:
    """The distribution of an entry point with its version."""
    return "an unnamed distribution" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _broken(entry: EntryPoint, what: str) -> PluginError:
    return PluginError(
        f"the dialect plugin {entry.name!r} ({entry.value}) of {origin(entry)} {what}",
        hint=f"repair {origin(entry)}, or uninstall it",
    )


class Guarded:
    """A dialect of another package as the house asks it: what it raises names its distribution and the record."""

    def __init__(self, inner: Declaration, distribution: str) -> None:
        self._inner = inner
        self._distribution = distribution

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._asking(value) if callable(value) else value

    def _asking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*given: Any) -> Any:
            try:
                return method(*given)
            except (RecursionError, PluginError):
                raise
            except Exception as err:
                raise PluginError(
                    f"the dialect {self._inner.name!r} of {self._distribution} fails{_where(given)}:"
                    f" {type(err).__name__}: {err}",
                    hint=f"tell the authors of {self._distribution}, or uninstall it",
                ) from err

        return ask


def _where(given: tuple[Any, ...]) -> str:
    first = given[0][0] if given and isinstance(given[0], list) and given[0] else given[0] if given else None
    ref = getattr(first, "ref", None)
    return f" on {ref.source}:{ref.line}" if isinstance(ref, EvidenceRef) else ""
