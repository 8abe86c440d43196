"""A saved trajectory into the same sinks, whatever version it was written in."""

from .reader import is_stored, replay

__all__ = ["is_stored", "replay"]
