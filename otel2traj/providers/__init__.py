"""Decoded request and response bodies to what the model received and answered."""

from __future__ import annotations

from ..canonical import JsonValue
from ..registry import Registry
from . import anthropic, bedrock, gemini, openai_chat, openai_completions, openai_responses
from .base import Provider
from .generic import Generic

ANTHROPIC = anthropic.Anthropic()
GEMINI = gemini.Gemini()
OPENAI_RESPONSES = openai_responses.OpenAIResponses()
BEDROCK_CONVERSE = bedrock.BedrockConverse()
OPENAI_CHAT = openai_chat.OpenAIChat()
OPENAI_COMPLETIONS = openai_completions.OpenAICompletions()
GENERIC = Generic()

PROVIDERS: Registry[Provider] = Registry(
    "provider", ANTHROPIC, GEMINI, OPENAI_RESPONSES, BEDROCK_CONVERSE, OPENAI_CHAT, OPENAI_COMPLETIONS, GENERIC
)
"""The specific before the general: `messages` alone tells a chat request, so chat comes after those that have more."""

_KNOWN: tuple[Provider, ...] = tuple(PROVIDERS)[:-1]

model_in_path = gemini.model_in_path


def provider_for(path: str, request: JsonValue, response: JsonValue) -> Provider | None:
    """The provider whose bodies these are. A telling response decides, since a gateway may answer one API's path with
    another's body; then the path; then the request. None only where there is no body at all and no telling path."""
    bare = path.split("?", 1)[0].rstrip("/")
    for args in (("", None, response), (bare, None, None), ("", request, None)):
        for provider in _KNOWN:
            if provider.recognises(*args):
                return provider
    return GENERIC if GENERIC.recognises(bare, request, response) else None


__all__ = ["GENERIC", "PROVIDERS", "Provider", "model_in_path", "provider_for"]
