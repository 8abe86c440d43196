"""The messages of a request into those that are new and those that an earlier step has shown.

Holds one short digest a message and no message: memory grows with the number of messages, not with their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ..canonical import JsonValue, dumps

_WORTH_FOLDING = 160
"""Bytes of JSON below which a repeated message outside the common beginning is shown again."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Messages `first..last` of this step (from 1) are messages `at..` of step `step_id`."""

    first: int
    last: int
    step_id: int
    at: int


def digest(value: JsonValue, before: bytes = b"") -> bytes:
    return blake2b(before + dumps(value), digest_size=12).digest()


class History:
    """What has been shown so far."""

    def __init__(self) -> None:
        self._beginnings: dict[bytes, int] = {}
        self._messages: dict[bytes, tuple[int, int]] = {}
        self._values: dict[tuple[str, bytes], int] = {}

    def fold(self, messages: list[JsonValue], step_id: int) -> list[Fold]:
        """The stretches of `messages` that earlier steps have shown; then remembers these messages as shown."""
        own = [digest(message) for message in messages]
        chain, chains = b"", []
        for one in own:
            chain = blake2b(chain + one, digest_size=12).digest()
            chains.append(chain)
        known = next((n for n in range(len(chains), 0, -1) if chains[n - 1] in self._beginnings), 0)
        folds = [] if known == 0 else [Fold(1, known, self._beginnings[chains[known - 1]], 1)]
        folds += self._stretches(messages, own, known)
        for chain in chains[known:]:
            self._beginnings[chain] = step_id
        for at, one in enumerate(own[known:], known + 1):
            self._messages.setdefault(one, (step_id, at))
        return folds

    def _stretches(self, messages: list[JsonValue], own: list[bytes], start: int) -> list[Fold]:
        folds: list[Fold] = []
        at = start
        while at < len(own):
            place = self._messages.get(own[at])
            if place is None:
                at += 1
                continue
            end = at + 1
            while end < len(own) and self._messages.get(own[end]) == (place[0], place[1] + end - at):
                end += 1
            if sum(len(dumps(message)) for message in messages[at:end]) >= _WORTH_FOLDING:
                folds.append(Fold(at + 1, end, place[0], place[1]))
            at = end
        return folds

    def same_as(self, what: str, value: JsonValue, step_id: int) -> int | None:
        """The step that first showed this very `what` (system, tools), or None; then remembers it."""
        shown = self._values.setdefault((what, digest(value)), step_id)
        return None if shown == step_id else shown
