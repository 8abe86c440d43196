"""A visible list of named members: the order is the precedence, a name is there once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from .errors import UsageError


class Named(Protocol):
    """Anything with a name of its own."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Members in the order given. Taken as a tuple once per run, never looked up once per span."""

    def __init__(self, kind: str, *members: T) -> None:
        self.kind = kind
        self._members = members
        self._by_name = {member.name: member for member in members}
        if len(self._by_name) != len(members):
            raise ValueError(f"a {kind} is registered twice")

    def __iter__(self) -> Iterator[T]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def get(self, name: str) -> T:
        """The member of that name. Raises `UsageError` naming the ones there are."""
        member = self._by_name.get(name)
        if member is None:
            raise UsageError(f"unknown {self.kind} {name!r}", hint=f"one of: {', '.join(self._by_name)}")
        return member
