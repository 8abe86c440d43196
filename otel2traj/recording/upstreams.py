"""Model APIs that a recording stands in front of: where each lies, and the variables by which SDKs are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ..errors import UsageError


@dataclass(frozen=True, slots=True)
class Upstream:
    """One API. `variables` hold its base URL; the first that is set names the upstream, else `default` does."""

    name: str
    variables: tuple[str, ...]
    default: str | None = None
    only_with: str | None = None
    """A variable without which the API cannot be stood in front of."""


UPSTREAMS: Final = (
    Upstream("openai", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1"),
    Upstream("anthropic", ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"), "https://api.anthropic.com"),
    Upstream("gemini", ("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
    Upstream("vertex", ("GOOGLE_VERTEX_BASE_URL",)),
    Upstream("mistral", ("MISTRAL_BASE_URL", "MISTRAL_API_BASE")),
    Upstream("ollama", ("OLLAMA_HOST", "OLLAMA_API_BASE"), "http://127.0.0.1:11434"),
    Upstream("azure", ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE")),
    Upstream("groq", ("GROQ_BASE_URL",), "https://api.groq.com"),
    Upstream("cohere", ("CO_API_URL",), "https://api.cohere.com"),
    Upstream("openrouter", ("OPENROUTER_API_BASE",), "https://openrouter.ai/api/v1"),
    Upstream("deepseek", ("DEEPSEEK_API_BASE",), "https://api.deepseek.com"),
    Upstream("bedrock", ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",), only_with="AWS_BEARER_TOKEN_BEDROCK"),
)


@dataclass(frozen=True, slots=True)
class Route:
    """Where one API's calls go: `base` is the upstream's base URL, `variables` are to name the local port instead."""

    name: str
    base: str
    variables: tuple[str, ...]

    @property
    def origin(self) -> str:
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    def local(self, port: int) -> str:
        """The same base URL at the local port."""
        return f"http://127.0.0.1:{port}{urlsplit(self.base).path.rstrip('/')}"


def routes(env: Mapping[str, str], given: Mapping[str, str]) -> list[Route]:
    """The APIs to stand in front of, by the user's own variables, then by `given` (name to base URL). Raises
    `UsageError` for a name or a URL that makes no sense."""
    known = {upstream.name for upstream in UPSTREAMS}
    for name in given:
        if name not in known:
            raise UsageError(f"unknown upstream {name!r}", hint=f"one of: {', '.join(sorted(known))}")
    out = []
    for upstream in UPSTREAMS:
        if upstream.only_with is not None and not env.get(upstream.only_with):
            continue
        set_ = next((env[name] for name in upstream.variables if env.get(name)), None)
        base = given.get(upstream.name) or set_ or upstream.default
        if base is None:
            continue
        if "://" not in base:
            base = f"http://{base}"
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"the base URL of {upstream.name} is {base!r}", hint="expected http:// or https://")
        out.append(Route(upstream.name, base, upstream.variables))
    return out
