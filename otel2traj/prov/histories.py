"""What a request shares with one before it: the first messages, the system prompt, the tools; by content, per agent.

Equal content is a fact about the recorded bytes and is stated as one. That the messages are the same ones is not: each
request is a thing of its own, and PROV says of sameness only in an inference bundle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..canonical import sha256_canonical


class Shared(NamedTuple):
    """The earlier request, and what of this one is equal to it."""

    request: str
    messages: int
    """So many messages from the first on."""
    system: bool
    tools: bool


class Histories:
    """Finds the request that another one extends. Keeps a digest for each new message, and the last list of each agent
    as it stands in its step, so that messages which are the same objects cost a comparison of addresses."""

    def __init__(self) -> None:
        self._reached: dict[bytes, str] = {}
        """Digest of an agent's first n messages -> the request that held them first."""
        self._last: dict[str | None, tuple[Sequence[Any], list[bytes]]] = {}
        self._carried: dict[str, tuple[str | None, str | None]] = {}
        """Request -> digests of its system prompt and its tools."""
        self._holders: dict[tuple[str | None, str, str], str] = {}

    def note(
        self, request: str, agent: str | None, messages: Sequence[Any], system: Any = None, tools: Any = None
    ) -> Shared | None:
        """What the request shares with an earlier one of the agent, or None; it is known from now on itself."""
        chain = self._chain(agent, messages)
        kept = len(chain)
        while kept and chain[kept - 1] not in self._reached:
            kept -= 1
        ours = (_digest(system), _digest(tools))
        base = self._reached[chain[kept - 1]] if kept else self._holder(agent, *ours)
        for prefix in chain[kept:]:
            self._reached[prefix] = request
        self._carried[request] = ours
        for name, digest in zip(("system", "tools"), ours, strict=True):
            if digest is not None:
                self._holders[agent, name, digest] = request
        if base is None:
            return None
        theirs = self._carried[base]
        system_kept, tools_kept = (one is not None and one == other for one, other in zip(ours, theirs, strict=True))
        return Shared(base, kept, system_kept, tools_kept)

    def _holder(self, agent: str | None, system: str | None, tools: str | None) -> str | None:
        for name, digest in (("tools", tools), ("system", system)):
            found = None if digest is None else self._holders.get((agent, name, digest))
            if found is not None:
                return found
        return None

    def _chain(self, agent: str | None, messages: Sequence[Any]) -> list[bytes]:
        before, chain = self._last.get(agent, ((), []))
        same = 0
        for message, earlier in zip(messages, before, strict=False):
            if message is not earlier:
                break
            same += 1
        chain = chain[:same]
        last = chain[-1] if chain else hashlib.sha256(repr(agent).encode("utf-8", "surrogatepass")).digest()
        for message in messages[same:]:
            last = hashlib.sha256(last + bytes.fromhex(sha256_canonical(message))).digest()
            chain.append(last)
        self._last[agent] = (messages, chain)
        return chain


def _digest(value: Any) -> str | None:
    return None if value is None else sha256_canonical(value)
