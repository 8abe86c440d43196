"""Amazon Bedrock InvokeModel, where the body is the model family's own: Titan, Llama, Mistral and Cohere text.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html (API version 2023-09-30). Claude and Nova
bodies are those of their own APIs.
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, Usage, put_choices
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import count, glance_of, joined, obj, objs, split_request, unread
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
        body = pieces[0] if events is None else merge(pieces)
        keep(body, broken(events or []))
        taken = Taken()
        error = taken.error(body)
        broke = next((key for key in body if key.endswith("Exception")), None)
        if error is None and broke is not None:
            error = taken.error(body, broke)
        choices = _choices(pieces)
        if not choices:
            return (
                unread(payload) if error is None else ModelResponse(Output(extra=taken.rest(body)), None, False, error)
            )
        output = Output(usage=_usage(body))
        put_choices(output, choices)
        _take(body, taken)
        response_id = taken.id(body, "id")
        output.extra = taken.rest(body)
        complete = all(choice.finish_reason is not None for _, choice in choices) and error is None
        return ModelResponse(output, response_id, complete, error)

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


def merge(pieces: list[JsonObject]) -> JsonObject:
    """What the pieces of a stream say beside their texts; counts of a later piece stand for those before them."""
    body: JsonObject = {}
    for piece in pieces:
        lists = [key for key in _LISTS if isinstance(piece.get(key), list)]
        body.update({key: piece[key] for key in (*_INPUT, *_OUTPUT) if piece.get(key) is not None})
        carry(body, piece, *_INPUT, *_OUTPUT, *_TEXTS, *lists)
        for key in lists:
            held: list[JsonObject] = body.setdefault(key, [])
            for number, item in enumerate(objs(piece[key])):
                held += [{} for _ in range(number + 1 - len(held))]
                carry(held[number], item, *_TEXTS)
    return body


def _take(body: JsonObject, taken: Taken) -> None:
    """Everything that `_choices` and `_usage` read."""
    for holder in (body, *(item for key in _LISTS for item in objs(body.get(key)))):
        for names in (_TEXTS, _REASONS):
            key = next((key for key in names if isinstance(holder.get(key), str)), None)
            if key is not None:
                taken.value(holder, key)
    first: JsonObject = next((item for key in _LISTS for item in objs(body.get(key))), {})
    for key in (*_INPUT, *_OUTPUT, _METRICS):
        taken.value(body if key in body else first, key)


def _choices(pieces: list[JsonObject]) -> list[tuple[int, Output]]:
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
    return [(n, Output(text=joined(texts[n]), finish_reason=reasons[n])) for n in sorted(texts)]


def _usage(body: JsonObject) -> Usage | None:
    metrics = obj(body.get(_METRICS))
    first = next((item for key in _LISTS for item in objs(body.get(key))), {})
    told = {**first, **body}
    read = next((told[key] for key in _INPUT if key in told), metrics.get("inputTokenCount"))
    made = next((told[key] for key in _OUTPUT if key in told), metrics.get("outputTokenCount"))
    raw = {key: told[key] for key in (*_INPUT, *_OUTPUT, _METRICS) if key in told}
    return Usage(input_tokens=count(read), output_tokens=count(made), raw=raw) if raw else None
