"""The parts of speech, as `messages/` reads them."""

from ..messages import Message, Output, ToolCall, Usage

__all__ = ["Message", "Output", "ToolCall", "Usage"]
