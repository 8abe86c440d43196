"""One question to a chat-completions server of the user's own, with digests of what was sent and what came back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from ..auditors.attribution import Assessment, Turn, question, read_answer
from ..canonical import JsonError, JsonObject, dumps, loads
from ..errors import EvidenceError, UsageError

KEY: Final = "OTEL2TRAJ_JUDGE_KEY"
"""The environment variable that holds the server's key, where it wants one."""
_ANSWER: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Judge:
    """`endpoint`: the base URL of an OpenAI-compatible server (`http://127.0.0.1:8000/v1`); `timeout` in seconds."""

    endpoint: str
    model: str
    timeout: float = 300.0


@dataclass(frozen=True, slots=True)
class Judged:
    """An assessment and where it comes from. Digests are SHA-256 of the bodies as they went over the wire."""

    assessment: Assessment
    judge: Judge
    model: str
    """As the server named it, else as it was asked for."""
    request_sha256: str
    response_sha256: str

    def to_json(self) -> JsonObject:
        return {
            "kind": "assessment",
            "by": {"endpoint": self.judge.endpoint, "model": self.model},
            "request_sha256": self.request_sha256,
            "response_sha256": self.response_sha256,
            **self.assessment.to_json(),
        }


def ask(judge: Judge, turns: Sequence[Turn], task: str | None) -> Judged:
    """Ask once, at temperature 0. Raises `UsageError` for an endpoint that is no URL, `EvidenceError` where the server
    cannot be reached, refuses, or answers in another form. The key is read from `OTEL2TRAJ_JUDGE_KEY` and kept nowhere.
    """
    url = judge.endpoint.rstrip("/")
    url = url if url.endswith("/chat/completions") else f"{url}/chat/completions"
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{judge.endpoint!r} is no URL", hint="give the base URL, like http://127.0.0.1:8000/v1")
    body = dumps({"model": judge.model, "temperature": 0, "messages": question(turns, task)})
    headers = {"content-type": "application/json"}
    key = os.environ.get(KEY)
    if key:
        headers["authorization"] = f"Bearer {key}"
    try:
        answer = httpx.post(url, content=body, headers=headers, timeout=judge.timeout)
    except httpx.HTTPError as err:
        raise EvidenceError(f"the judge cannot be asked: {type(err).__name__}: {err}", code="judge") from err
    except httpx.InvalidURL as err:
        raise UsageError(f"{judge.endpoint!r} is no URL: {err}") from err
    if answer.status_code != httpx.codes.OK:
        words = answer.text[:200]
        raise EvidenceError(f"the judge answered with HTTP {answer.status_code}: {words}", code="judge")
    raw = answer.content
    text, model = _content(raw)
    return Judged(
        read_answer(text, turns),
        judge,
        model or judge.model,
        hashlib.sha256(body).hexdigest(),
        hashlib.sha256(raw).hexdigest(),
    )


def _content(raw: bytes) -> tuple[str, str | None]:
    try:
        document: Any = loads(raw) if len(raw) <= _ANSWER else None
        text = document["choices"][0]["message"]["content"]
        model = document.get("model")
    except (JsonError, LookupError, TypeError, AttributeError):
        text = model = None
    if not isinstance(text, str):
        raise EvidenceError("the judge's answer is no chat completion", code="judge")
    return text, model if isinstance(model, str) else None
