"""A model API that nobody here knows: the bodies are kept whole, nothing is read from them, and that is said."""

from __future__ import annotations

from ..canonical import JsonValue
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import error_of, obj, string, unread


class Generic:
    name = "generic"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return request is not None or response is not None

    def request(self, payload: JsonValue) -> ModelRequest:
        """The whole body as parameters, so that the step still shows what was sent."""
        parameters = dict(payload) if isinstance(payload, dict) else {} if payload is None else {"body": payload}
        model = string(parameters.get("model"))
        return ModelRequest(model=model, parameters=parameters)

    def response(self, payload: JsonValue) -> ModelResponse:
        out = unread(payload)
        out.error = error_of(obj(payload).get("error"))
        return out

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        return RequestGlance(model=string(obj(payload).get("model")))

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return ResponseGlance()
