"""Bytes into records with the address of each record's bytes; the form is told by content, never by name."""

from __future__ import annotations

from typing import Final

from ..errors import EvidenceError
from ..model.evidence import Source
from ..registry import Registry
from .agent_lightning import AGENT_LIGHTNING
from .agent_lightning_events import AGENT_LIGHTNING_EVENTS
from .atif import ATIF
from .base import Reader, RecordFile
from .chat_messages import CHAT_MESSAGES
from .claude_code import CLAUDE_CODE_SESSION
from .codex_events import CODEX_EVENTS
from .codex_rollout import CODEX_ROLLOUT
from .gemini_output import GEMINI_OUTPUT
from .gemini_session import GEMINI_SESSION
from .inflate import INFLATE_LIMIT, Stream
from .inspect_log import INSPECT_LOG
from .jaeger import JAEGER
from .js_console import JS_CONSOLE
from .js_sdk import JS_SDK
from .langfuse import LANGFUSE
from .langsmith import LANGSMITH
from .litellm_log import LITELLM_LOG
from .looks import looks_like
from .mini_swe_agent import MINI_SWE_AGENT
from .mlflow import MLFLOW
from .openai_agents import OPENAI_AGENTS
from .opencode import OPENCODE_EVENTS, OPENCODE_EXPORT
from .openhands import OPENHANDS
from .otlp_json import OTLP_JSON
from .otlp_proto import OTLP_PROTO
from .outline import Head
from .phoenix import PHOENIX
from .phoenix_rows import PHOENIX_ROWS
from .sdk_json import SDK_JSON
from .span_rows import SPAN_ROWS
from .tempo import TEMPO
from .zipkin import ZIPKIN

__all__ = ["INFLATE_LIMIT", "READERS", "RecordFile", "open_records"]

READERS: Final = Registry[Reader](
    "reader",
    OTLP_PROTO,
    TEMPO,
    OTLP_JSON,
    CLAUDE_CODE_SESSION,
    CODEX_ROLLOUT,
    CODEX_EVENTS,
    GEMINI_OUTPUT,
    GEMINI_SESSION,
    OPENCODE_EXPORT,
    OPENCODE_EVENTS,
    ATIF,
    MINI_SWE_AGENT,
    OPENHANDS,
    JS_SDK,
    AGENT_LIGHTNING,
    AGENT_LIGHTNING_EVENTS,
    OPENAI_AGENTS,
    INSPECT_LOG,
    LITELLM_LOG,
    MLFLOW,
    PHOENIX,
    PHOENIX_ROWS,
    LANGSMITH,
    LANGFUSE,
    JAEGER,
    ZIPKIN,
    SDK_JSON,
    SPAN_ROWS,
    JS_CONSOLE,
    CHAT_MESSAGES,
)
"""The order is the precedence. Told by content: a form comes before those whose members it also has."""

_LOOKS: Final = (1 << 16, 1 << 22)
"""How much of a stream is looked at; more only where the first look told nothing."""


def open_records(source: Source, *, inflate_limit: int = INFLATE_LIMIT) -> RecordFile:
    """The records of a file, in whichever form it is. One pass over `records` at a time.

    Raises `EvidenceError`, with a hint, where the file cannot be opened, inflates to more than `inflate_limit` bytes,
    or is in none of the forms of `READERS`.
    """
    stream = Stream(source.file, source.path, inflate_limit)
    try:
        for look in _LOOKS:
            head = Head(stream.peek(look), stream.size)
            for reader in READERS:
                if reader.recognises(head):
                    return reader.open(source, stream)
            if stream.size <= look:
                break
        raise EvidenceError(
            f"{source.path} is in no form that is read; it looks like {looks_like(head, stream.file, READERS)}",
            hint="`otel2traj info --forms` lists the forms that are read; any tracer can export OTLP",
            code="evidence.unknown_form",
        )
    except EvidenceError:
        stream.close()
        raise
