"""OpenAI's legacy text completions: prompts and choices of plain text to exchanges.

https://platform.openai.com/docs/api-reference/completions (API v1).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, put_choices
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .openai_chat import usage_of
from .rest import Taken, broken, carry, keep
from .shape import glance_of, joined, obj, objs, place, split_request, string, unread
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
        keep(merged, broken(events))
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
    choices: dict[int | str, JsonObject] = {}
    texts: dict[int | str, list[str | None]] = {}
    for chunk in chunks:
        for key in ("usage", "error"):
            if chunk.get(key) is not None:
                out[key] = chunk[key]
        carry(out, chunk, "usage", "error", "choices")
        for n, piece in enumerate(objs(chunk.get("choices"))):
            index = place(piece.get("index"))
            at = n if index is None else index
            texts.setdefault(at, []).append(string(piece.get("text")))
            carry(choices.setdefault(at, {"index": at, "finish_reason": None}), piece, "text", "index")
    out["choices"] = [{**choices[at], "text": joined(texts[at])} for at in choices]
    return out


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    taken = Taken()
    error = taken.error(body)
    if error is None and not isinstance(body.get("choices"), list):
        return unread(payload)
    output = Output(model=taken.string(body, "model"), usage=usage_of(taken.value(body, "usage")))
    put_choices(output, taken.choices(objs(body.get("choices")), lambda choice: _choice(choice, taken)))
    response_id = taken.id(body, "id")
    output.extra = taken.rest(body)
    return ModelResponse(output, response_id, complete and error is None, error)


def _choice(choice: JsonObject, taken: Taken) -> Output:
    return Output(text=taken.string(choice, "text"), finish_reason=taken.string(choice, "finish_reason"))
