"""A saved trajectory into the same sinks, whatever version it was written in."""

from .reader import is_stored, read, replay

__all__ = ["is_stored", "read", "replay"]
