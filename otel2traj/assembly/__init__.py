"""Evidence to steps, header, coverage and notices: two passes, one step in memory at a time."""

from .session import BuildSession, Conversation

__all__ = ["BuildSession", "Conversation"]
