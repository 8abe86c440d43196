"""The receiver's eye on its deriving process: started again when it ends, drained at a stop, and what it told."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from .derive import Build, DeriveProcess

if TYPE_CHECKING:
    from .receiver import Say, Settings

_LAG_TOLD: Final = 30.0
"""Seconds of lag from which on it is told, once until it is caught up."""
_RESTARTS: Final = 3
"""Ends within a minute after which the deriving side counts as down until it routes again."""
_PROGRESS: Final = 2.0
_KILL_SECONDS: Final = 10.0


class DeriveWatch:
    """What the deriving process told, for health, metrics and people."""

    def __init__(self, settings: Settings, build: Build | None, say: Say) -> None:
        self._settings = settings
        self._build = build
        self._say = say
        self._process: DeriveProcess | None = None
        self._ends: list[float] = []
        self._trouble: str | None = None
        self._lag_told = False
        self._drain_told = 0.0
        self.lag_seconds = 0.0
        """How old the record was that was routed last, when it was routed."""
        self.restarts = 0
        self.damaged = 0
        """Damaged records met by this process's deriving."""

    def start(self) -> None:
        settings = self._settings
        self._process = DeriveProcess(
            settings.out, self._build, settings.build_after, keep=settings.keep, tell=self._told
        )

    def trouble(self) -> str | None:
        """Why nothing is derived at the moment; None while all is well."""
        if self._trouble is not None:
            return self._trouble
        if self._process is None or not self._process.alive():
            return "the deriving process is not running"
        recent = [at for at in self._ends if time.monotonic() - at < 60]
        return f"the deriving process ended {len(recent)} times in a minute" if len(recent) >= _RESTARTS else None

    def tell(self, command: str) -> None:
        if self._process is not None:
            self._process.tell(command)

    def revive(self) -> None:
        """Start it again where it ended."""
        process = self._process
        if process is None or process.code() is None:
            return
        now = time.monotonic()
        if self._ends and now - self._ends[-1] < 2:
            return  # not more often than every two seconds
        self._ends = [at for at in self._ends if now - at < 60] + [now]
        self.restarts += 1
        self._say(
            f"the deriving process ended with {process.code()}; starting it again",
            "derive_restart",
            "error",
            code=process.code(),
        )
        self.start()

    async def drain(self, seconds: float) -> str | None:
        """Let it finish what the log still owes; what is owed afterwards, in words, or None."""
        process = self._process
        if process is None or not process.alive():
            self.start()
            process = self._process
        assert process is not None
        process.tell("drain")
        end = time.monotonic() + seconds
        self._drain_told = time.monotonic()
        while process.alive():
            if time.monotonic() > end:
                process.kill()
                return f"not all could be derived in {seconds:g} s; the next start goes on"
            await asyncio.sleep(0.02)
        code = process.code()
        if code:
            return f"the deriving process ended with {code}; the log holds what it owes" + (
                f" ({self._trouble})" if self._trouble else ""
            )
        return None

    def kill(self) -> None:
        if self._process is not None and self._process.alive():
            self._process.kill()

    def _told(self, event: str, what: dict[str, Any]) -> None:
        handler = getattr(self, f"_on_{event}", None)
        if handler is not None:
            handler(what)

    def _on_routed(self, what: dict[str, Any]) -> None:
        self.lag_seconds = what["lag_seconds"]
        self._ends.clear()
        words = [f"{what[name]} {name}" for name in ("repeated", "rejected", "damaged") if what[name]]
        level = "warning" if what["damaged"] or what["rejected"] else "detail"
        self.damaged += what["damaged"]
        told = f"received {what['records']} bodies" + (f" ({', '.join(words)})" if words else "")
        self._say(told, "routed", level, **what)
        if self.lag_seconds > _LAG_TOLD and not self._lag_told:
            self._say(f"deriving is {self.lag_seconds:.0f} s behind", "lag", "warning", seconds=self.lag_seconds)
        self._lag_told = self.lag_seconds > _LAG_TOLD

    def _on_built(self, what: dict[str, Any]) -> None:
        self._say(f"built attempts/{what['folder']}: {what['message']}".rstrip(": "), "built", "detail", **what)

    def _on_no_agent(self, what: dict[str, Any]) -> None:
        self._say(f"attempts/{what['folder']}: nothing of it is an agent's", "no_agent", "detail", **what)

    def _on_failed(self, what: dict[str, Any]) -> None:
        self._say(f"attempts/{what['folder']}: build failed: {what['message']}", "build_failed", "error", **what)

    def _on_trouble(self, what: dict[str, Any]) -> None:
        self._trouble = what["message"]
        self._say(what["message"], "derive_trouble", "error")

    def _on_fine(self, what: dict[str, Any]) -> None:
        self._trouble = None
        self._say("attempts can be written again", "derive_fine")

    def _on_aside(self, what: dict[str, Any]) -> None:
        self._say(
            f"the state was set aside ({what['message']}); deriving everything again from the log",
            "state_aside",
            "warning",
        )

    def _on_dropped(self, what: dict[str, Any]) -> None:
        self._say(
            f"retention: dropped {what['attempts']} attempts and {what['segments']} segments, {what['bytes']} bytes",
            "retention",
            **what,
        )

    def _on_drain(self, what: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self._drain_told >= _PROGRESS:
            self._drain_told = now
            self._say(f"still to build: {what['unbuilt']} attempts", "drain", **what)
