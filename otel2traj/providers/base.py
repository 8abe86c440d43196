"""What a provider is: it knows what the bodies of one model API mean."""

from __future__ import annotations

from typing import Protocol

from ..canonical import JsonValue
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance


class Provider(Protocol):
    """One model API. Payloads are decoded bodies; a streamed response is `{"events": [frame, ...]}`.

    No method raises on unexpected shapes: what cannot be read is left out, and `ModelResponse.complete` says so.
    """

    @property
    def name(self) -> str: ...

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        """By the request path where it is telling, else by the shape of the bodies."""
        ...

    def request(self, payload: JsonValue) -> ModelRequest: ...

    def response(self, payload: JsonValue) -> ModelResponse: ...

    def glance_request(self, payload: JsonValue) -> RequestGlance: ...

    def glance_response(self, payload: JsonValue) -> ResponseGlance: ...
