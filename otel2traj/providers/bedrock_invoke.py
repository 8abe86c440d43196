"""Amazon Bedrock InvokeModel, where the body is the model family's own: Titan, Llama, Mistral and Cohere text.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html (API version 2023-09-30). Claude and Nova
bodies are those of their own APIs.
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import beside, choice_of, count, error_of, glance_of, joined, obj, objs, split_request, string, unread
from .sse import frames, objects

_METRICS = "amazon-bedrock-invocationMetrics"
_LISTS = ("results", "outputs", "generations")
_TEXTS = ("outputText", "generation", "text")
_REASONS = ("completionReason", "stop_reason", "finish_reason")
_INPUT = ("inputTextTokenCount", "prompt_token_count")
_OUTPUT = ("totalOutputTextTokenCount", "generation_token_count", "tokenCount")


class BedrockInvoke:
    name = "bedrock-invoke"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(("/invoke", "/invoke-with-response-stream")) or is_response(response)

    def request(self, payload: JsonValue) -> ModelRequest:
        """The one prompt becomes a user message."""
        body = obj(payload)
        out = split_request(body, "messages", system="system")
        for key in ("inputText", "prompt"):
            if out.messages is None and isinstance(body.get(key), str):
                out.messages = [{"role": "user", "content": out.parameters.pop(key)}]
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        pieces = [obj(payload)] if events is None else objects(events)
        whole = {key: value for piece in pieces for key, value in piece.items() if value is not None}
        error = error_of(whole.get("error"))
        broken = next((value for key, value in whole.items() if key.endswith("Exception")), None)
        error = error if broken is None else error_of(broken)
        choices = _choices(pieces)
        if not choices:
            return unread(payload) if error is None else ModelResponse(complete=False, error=error)
        output = Output(text=choices[0]["text"], finish_reason=choices[0]["finish_reason"], usage=_usage(whole))
        if len(choices) > 1:
            output.choices = choices
        output.other_parts += beside(whole, *_LISTS, *_TEXTS, *_REASONS, "error", "id")
        for item in [item for key in _LISTS for item in objs(whole.get(key))]:
            output.other_parts += beside(item, *_TEXTS, *_REASONS, "index")
        complete = all(choice["finish_reason"] is not None for choice in choices) and error is None
        return ModelResponse(output, string(whole.get("id")), complete, error)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        return RequestGlance()

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    for body in objects(events)[:8] if events is not None else [obj(payload)]:
        titan = "inputTextTokenCount" in body or isinstance(body.get("outputText"), str)
        if titan or ("generation" in body and "stop_reason" in body):
            return True
    return False


def _choices(pieces: list[JsonObject]) -> list[JsonObject]:
    """Texts and reasons by place in their list; a stream adds to each."""
    texts: dict[int, list[str | None]] = {}
    reasons: dict[int, str | None] = {}
    for piece in pieces:
        listed = next((objs(piece[key]) for key in _LISTS if isinstance(piece.get(key), list)), None)
        for number, item in enumerate([piece] if listed is None else listed):
            key = next((key for key in _TEXTS if isinstance(item.get(key), str)), None)
            reason = next((item[name] for name in _REASONS if isinstance(item.get(name), str)), None)
            if key is not None or (reason is not None and number in texts):
                texts.setdefault(number, []).append(None if key is None else item[key])
                reasons[number] = reason if reason is not None else reasons.get(number)
    return [
        choice_of(n, text=joined(texts[n]), reasoning=None, refusal=None, tool_calls=[], finish_reason=reasons[n])
        for n in sorted(texts)
    ]


def _usage(body: JsonObject) -> Usage | None:
    metrics = obj(body.get(_METRICS))
    first = next((item for key in _LISTS for item in objs(body.get(key))), {})
    told = {**first, **body}
    read = next((told[key] for key in _INPUT if key in told), metrics.get("inputTokenCount"))
    made = next((told[key] for key in _OUTPUT if key in told), metrics.get("outputTokenCount"))
    raw = {key: told[key] for key in (*_INPUT, *_OUTPUT, _METRICS) if key in told}
    return Usage(input_tokens=count(read), output_tokens=count(made), raw=raw) if raw else None
