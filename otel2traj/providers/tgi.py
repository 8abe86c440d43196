"""Text Generation Inference's own `/generate` and `/generate_stream`: bodies and event streams to exchanges.

https://huggingface.github.io/text-generation-inference/ (version 3).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import count, glance_of, joined, obj, objs, string, unread
from .sse import frames, objects


class TextGeneration:
    name = "tgi"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(("/generate_stream",)) or is_response(response)

    def request(self, payload: JsonValue) -> ModelRequest:
        parameters = dict(obj(payload))
        messages: list[JsonValue] | None = None
        if isinstance(parameters.get("inputs"), str):
            messages = [{"role": "user", "content": parameters.pop("inputs")}]
        return ModelRequest(messages=messages, parameters=parameters)

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None or any("generated_text" in item and "token" not in item for item in objects(events)):
            bodies = [obj(payload)] if events is None else objects(events)
            body = dict(bodies[0]) if bodies else {}
            keep(body, [*bodies[1:], *broken(events or [])])
            return _read(body, payload, True)
        whole: JsonObject = {}
        tokens: list[JsonValue] = []
        for piece in objects(events):
            carry(whole, piece, "token", "index")
            tokens += [piece["token"]] if "token" in piece else []
        ended = isinstance(whole.get("generated_text"), str)
        if not ended:
            spoken = (string(token.get("text")) for token in objs(tokens) if token.get("special") is not True)
            whole["generated_text"] = joined(spoken)
        keep(whole, broken(events))
        return _read({**whole, "tokens": tokens}, payload, ended)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        return RequestGlance()

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    return any("generated_text" in body for body in (objects(events) if events is not None else [obj(payload)]))


def _read(body: JsonObject, payload: JsonValue, complete: bool) -> ModelResponse:
    taken = Taken()
    error = taken.error(body)
    if error is None and "generated_text" not in body:
        return unread(payload)
    details = obj(body.get("details"))
    reason = taken.string(details, "finish_reason")
    output = Output(text=taken.string(body, "generated_text"), finish_reason=reason)
    if "generated_tokens" in details:
        prefill = objs(details.get("prefill"))
        output.usage = Usage(
            input_tokens=count(details.get("input_length")) if not prefill else len(prefill),
            output_tokens=count(details.get("generated_tokens")),
            raw={key: taken.value(details, key) for key in ("generated_tokens", "input_length") if key in details},
        )
    output.extra = taken.rest(body)
    return ModelResponse(output, None, complete and error is None, error)
