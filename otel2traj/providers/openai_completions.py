"""OpenAI's legacy text completions: prompts and choices of plain text to exchanges.

https://platform.openai.com/docs/api-reference/completions (API v1).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .openai_chat import usage_of
from .shape import choice_of, count, error_of, glance_of, joined, obj, objs, place, split_request, string, unread
from .sse import frames, objects


class OpenAICompletions:
    name = "openai-completions"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        telling = path.endswith("/completions") and not path.endswith("/chat/completions")
        return telling or is_response(response)

    def request(self, payload: JsonValue) -> ModelRequest:
        """Each prompt becomes one user message."""
        body = obj(payload)
        out = split_request(body, "prompt", system=None)
        prompt = body.get("prompt")
        if isinstance(prompt, str):
            del out.parameters["prompt"]
            out.messages = [{"role": "user", "content": prompt}]
        elif isinstance(prompt, list):
            out.messages = [{"role": "user", "content": item} for item in prompt]
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(payload, complete=True)
        merged = _merge(objects(events))
        choices = objs(merged.get("choices"))
        ended = bool(choices) and all(choice.get("finish_reason") is not None for choice in choices)
        return _read(merged, complete=ended and not isinstance(events[-1], str))

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        return RequestGlance(model=string(obj(payload).get("model")))

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    for body in objects(events)[:8] if events is not None else [obj(payload)]:
        if body.get("object") == "text_completion":
            return True
    return False


def _merge(chunks: list[JsonObject]) -> JsonObject:
    out: JsonObject = {}
    texts: dict[int | str, list[str | None]] = {}
    reasons: dict[int | str, JsonValue] = {}
    for chunk in chunks:
        for key in ("id", "model", "usage", "error"):
            if chunk.get(key) is not None:
                out[key] = chunk[key]
        for n, piece in enumerate(objs(chunk.get("choices"))):
            index = place(piece.get("index"))
            at = n if index is None else index
            texts.setdefault(at, []).append(string(piece.get("text")))
            if piece.get("finish_reason") is not None or at not in reasons:
                reasons[at] = piece.get("finish_reason")
    out["choices"] = [{"index": at, "text": joined(texts[at]), "finish_reason": reasons[at]} for at in texts]
    return out


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    error = error_of(body.get("error"))
    if error is None and not isinstance(body.get("choices"), list):
        return unread(payload)
    output = Output(model=string(body.get("model")), usage=usage_of(body.get("usage")))
    listed: list[JsonObject] = []
    for n, choice in enumerate(objs(body.get("choices"))):
        text, reason, index = (
            string(choice.get("text")),
            string(choice.get("finish_reason")),
            count(choice.get("index")),
        )
        if n == 0:
            output.text, output.finish_reason = text, reason
        at = n if index is None else index
        listed.append(choice_of(at, text=text, reasoning=None, refusal=None, tool_calls=[], finish_reason=reason))
    if len(listed) > 1:
        output.choices = listed
    return ModelResponse(output, string(body.get("id")), complete and error is None, error)
