"""LiteLLM's standard logging payload, as its loggers and one's own callbacks write it (an object a line, a list, one
object), and the rows of its spend log, into spans that the `litellm` dialect reads.

https://github.com/BerriAI/litellm/blob/v1.110.2/litellm/types/utils.py (`StandardLoggingPayload`)
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from .documents import Context, DocumentForm, Place, as_dict, as_text, parsed, put
from .otlp_dict import Repaired, text
from .outline import Head
from .span_rows import when

SPAN_NAME: Final = "standard_logging_object"
_REDACTED: Final = ("redacted-by-litellm", "redacted by litellm. 'litellm.turn_off_message_logging=True'")
_PLAIN_RESULT: Final = {"content", "isError"}
_MODEL: Final = (
    "completion", "text_completion", "responses", "anthropic_messages", "generate_content", "generate_content_stream"
)  # fmt: skip
_OPERATIONS: Final = {**dict.fromkeys(_MODEL, "chat"), "call_mcp_tool": "execute_tool", "embedding": "embeddings"}
"""Call types without the `a` that their asynchronous twins have before them; others keep their own name."""


class LiteLlmLog(DocumentForm):
    name = "litellm-log"
    writer = "LiteLLM SDK and proxy: loggers to S3, GCS and Azure, callbacks, spend logs"
    obtain = 'callbacks: ["s3_v2"], or a CustomLogger that writes kwargs["standard_logging_object"] a line'
    tried = "litellm 1.110.2"
    loses = (
        "requests and responses in LiteLLM's own shape, not as they were sent; who asked and executions of tools but"
        " those of MCP; calls without a trace or session id in common stand for themselves"
    )
    places = (Place((), ()), Place((), ("data",)))

    def recognises(self, head: Head) -> bool:
        return any(
            head.has("call_type", "startTime", "endTime", under=at) and head.has("custom_llm_provider", under=at)
            for at in (place.record for place in self.places)
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "call_type" not in data or "startTime" not in data:
            return None
        failed = data.get("status") == "failure" or as_dict(data.get("response")).get("isError") is True
        if any(_plain(data.get(name)) != (data.get(name) or None) for name in ("messages", "response")):
            repairs.append("content that LiteLLM was told to leave out is unknown")
        told = as_dict(data.get("error_information") or as_dict(parsed(data.get("metadata"))).get("error_information"))
        return SpanRecord(
            trace_id=text(data.get("trace_id") or data.get("session_id")),
            span_id=text(data.get("litellm_call_id") or data.get("id") or data.get("request_id")),
            parent_span_id=None,
            name=SPAN_NAME,
            attributes=_attributes(data, told if failed else {}),
            ref=ref,
            start_ns=when(data.get("startTime")),
            end_ns=when(data.get("endTime")),
            events=_exception(told) if failed else [],
            status_code=2 if failed else 0,
            status_message=text(data.get("error_str") or told.get("error_message")) or None if failed else None,
            scope_name="litellm",
        )


def _attributes(data: JsonObject, error: JsonObject) -> dict[str, Any]:
    out: dict[str, Any] = {}
    kind, metadata = text(data.get("call_type")), as_dict(parsed(data.get("metadata")))
    operation = _OPERATIONS.get(kind) or _OPERATIONS.get(kind.removeprefix("a"), kind)
    out["gen_ai.operation.name"] = operation
    put(out, "litellm.call_type", kind)
    put(out, "litellm.call_id", data.get("litellm_call_id"))
    put(out, "litellm.session_id", text(data.get("session_id")) or None)
    put(out, "litellm.cache_hit", True if data.get("cache_hit") in (True, "True", "true") else None)
    put(out, "gen_ai.provider.name", data.get("custom_llm_provider"))
    if operation == "execute_tool":
        called = as_dict(metadata.get("mcp_tool_call_metadata"))
        put(out, "gen_ai.tool.name", called.get("name"))
        put(out, "gen_ai.tool.call.arguments", called.get("arguments"))
        result = called.get("result") or _plain(data.get("response"))
        put(out, "gen_ai.tool.call.result", result["content"] if as_dict(result).keys() == _PLAIN_RESULT else result)
    elif operation == "chat":
        put(out, "gen_ai.request.model", data.get("model"))
        put(out, "litellm.request", _request(data))
        answer = _plain(parsed(data.get("response")))
        put(out, "litellm.response", answer)
        put(out, "metadata.usage_object", as_dict(answer).get("usage") or metadata.get("usage_object") or None)
    code = text(error.get("error_code"))
    if code.isascii() and code.isdigit():
        out["http.response.status_code"] = int(code)
    put(out, "error.type", text(error.get("error_class")) or None)
    return out


def _request(data: JsonObject) -> str | None:
    """The request as the log has it: the body that a proxy was sent, else messages and parameters apart."""
    asked = as_dict(parsed(data.get("proxy_server_request")))
    body = {**as_dict(parsed(data.get("model_parameters"))), **asked}
    messages = _plain(parsed(data.get("messages")))
    if messages:
        body["messages"] = messages
    body.setdefault("model", data.get("model"))
    return as_text(body) if len(body) > 1 else None


def _plain(value: JsonValue) -> Any:
    """Without what LiteLLM was told to leave out; None where that leaves nothing but who spoke."""
    kept = _kept(value)
    if isinstance(kept, list):
        return kept if any(as_dict(one).keys() != {"role"} for one in kept) else None
    return kept or None


def _kept(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items() if item not in _REDACTED}
    if isinstance(value, list):
        return [_kept(item) for item in value if item not in _REDACTED]
    return None if value in _REDACTED else value


def _exception(told: JsonObject) -> list[SpanEvent]:
    found = {
        "exception.type": text(told.get("error_class")),
        "exception.message": text(told.get("error_message")),
        "exception.stacktrace": text(told.get("traceback")),
    }
    attributes = {key: value for key, value in found.items() if value}
    return [SpanEvent("exception", None, attributes)] if attributes else []


LITELLM_LOG = LiteLlmLog()
