"""One typed reading of a conversation, whatever shape it was recorded in: the floor below every room that needs it."""

from __future__ import annotations

from .answer import Output, ToolCall, Usage, all_tool_calls, output_of, put_choices
from .blobs import blob_line, fold, media_of
from .blocks import flat_text, is_cut, read_block, read_parts, result_parts
from .conversation import (
    Conversation,
    emitted,
    read_answer,
    read_conversation,
    read_instructions,
    read_recorded,
    read_request,
)
from .parts import (
    SPOKEN,
    Media,
    Message,
    Part,
    PartKind,
    calls_in,
    reasoning_part,
    text_part,
    tool_call_part,
    unwrapped,
)
from .reader import UNKNOWN, continues, read_message, read_messages, read_system, role_of, system_value
from .tool_blocks import arguments_text, call_part

__all__ = [
    "SPOKEN",
    "UNKNOWN",
    "Conversation",
    "Media",
    "Message",
    "Output",
    "Part",
    "PartKind",
    "ToolCall",
    "Usage",
    "all_tool_calls",
    "arguments_text",
    "blob_line",
    "call_part",
    "calls_in",
    "continues",
    "emitted",
    "flat_text",
    "fold",
    "is_cut",
    "media_of",
    "output_of",
    "put_choices",
    "read_answer",
    "read_block",
    "read_conversation",
    "read_instructions",
    "read_message",
    "read_messages",
    "read_parts",
    "read_recorded",
    "read_request",
    "read_system",
    "reasoning_part",
    "result_parts",
    "role_of",
    "system_value",
    "text_part",
    "tool_call_part",
    "unwrapped",
]
