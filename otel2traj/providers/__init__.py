"""Decoded request and response bodies to what the model received and answered."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ..canonical import JsonValue
from ..registry import Registry
from . import (
    anthropic,
    bedrock,
    bedrock_invoke,
    cohere,
    gemini,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    tgi,
)
from .base import Provider
from .generic import Generic

ANTHROPIC = anthropic.Anthropic()
GEMINI = gemini.Gemini()
OPENAI_RESPONSES = openai_responses.OpenAIResponses()
BEDROCK_CONVERSE = bedrock.BedrockConverse()
OLLAMA = ollama.Ollama()
COHERE = cohere.Cohere()
BEDROCK_INVOKE = bedrock_invoke.BedrockInvoke()
TGI = tgi.TextGeneration()
OPENAI_CHAT = openai_chat.OpenAIChat()
OPENAI_COMPLETIONS = openai_completions.OpenAICompletions()
GENERIC = Generic()

PROVIDERS: Registry[Provider] = Registry(
    "provider",
    ANTHROPIC,
    GEMINI,
    OPENAI_RESPONSES,
    BEDROCK_CONVERSE,
    OLLAMA,
    COHERE,
    BEDROCK_INVOKE,
    TGI,
    OPENAI_CHAT,
    OPENAI_COMPLETIONS,
    GENERIC,
)
"""The specific before the general: `messages` alone tells a chat request, so chat comes after those that have more."""

_KNOWN: tuple[Provider, ...] = tuple(PROVIDERS)[:-1]

_BEDROCK_MODEL = re.compile(r"/model/([^/]+)/(?:invoke|converse)")
_NO_MODEL_CALL = re.compile(
    r"/(embeddings?|embed|rerank|moderations|images|audio|batches|count_tokens|input_tokens|tokenize|detokenize)(?:/|$)"
    r"|:(countTokens|computeTokens|embedContent|batchEmbedContents|batchGenerateContent|predict)$"
    r"|/model/[^/]*(embed|rerank)[^/]*/invoke$"
)


def model_in_path(path: str) -> str | None:
    """The model that the request path names, in APIs whose bodies do not say it."""
    found = _BEDROCK_MODEL.search(path)
    return unquote(found[1]) if found is not None else gemini.model_in_path(path)


def no_model_call(path: str) -> str | None:
    """What a request is that asks no model for an answer (embeddings, rerank, moderations, images, token counts,
    batches), by its path; None for every other path."""
    found = _NO_MODEL_CALL.search(path.split("?", 1)[0].rstrip("/"))
    return None if found is None else next(group for group in found.groups() if group is not None)


def provider_for(path: str, request: JsonValue, response: JsonValue) -> Provider | None:
    """The provider whose bodies these are. A telling response decides, since a gateway may answer one API's path with
    another's body; then the path; then the request. None only where there is no body at all and no telling path."""
    bare = path.split("?", 1)[0].rstrip("/")
    for args in (("", None, response), (bare, None, None), ("", request, None)):
        for provider in _KNOWN:
            if provider.recognises(*args):
                return provider
    return GENERIC if GENERIC.recognises(bare, request, response) else None


__all__ = ["GENERIC", "PROVIDERS", "Provider", "model_in_path", "no_model_call", "provider_for"]
