"""Text Generation Inference's own `/generate` and `/generate_stream`: bodies and event streams to exchanges.

https://huggingface.github.io/text-generation-inference/ (version 3).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import beside, count, error_of, glance_of, joined, obj, objs, string, unread
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
            return _read(bodies[0] if bodies else {}, payload, True)
        pieces = objects(events)
        whole = {key: value for piece in pieces for key, value in piece.items() if value is not None and key != "token"}
        tokens = [obj(piece.get("token")) for piece in pieces if "token" in piece]
        ended = isinstance(whole.get("generated_text"), str)
        if not ended:
            spoken = (string(token.get("text")) for token in tokens if token.get("special") is not True)
            whole["generated_text"] = joined(spoken)
        return _read({**whole, "tokens": tokens}, payload, ended)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        return RequestGlance()

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    return any("generated_text" in body for body in (objects(events) if events is not None else [obj(payload)]))


def _read(body: JsonObject, payload: JsonValue, complete: bool) -> ModelResponse:
    error = error_of(body.get("error"))
    if error is None and "generated_text" not in body:
        return unread(payload)
    details = obj(body.get("details"))
    output = Output(text=string(body.get("generated_text")), finish_reason=string(details.get("finish_reason")))
    if "generated_tokens" in details:
        prefill = objs(details.get("prefill"))
        output.usage = Usage(
            input_tokens=count(details.get("input_length")) if not prefill else len(prefill),
            output_tokens=count(details.get("generated_tokens")),
            raw={key: details[key] for key in ("generated_tokens", "input_length") if key in details},
        )
    output.other_parts += beside(body, "generated_text", "error")
    return ModelResponse(output, None, complete and error is None, error)
