"""Credentials that a recording knows, out of everything it writes."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

MASK: Final = "[REDACTED]"
_NAMES: Final = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE)
_NO_VALUE: Final = re.compile(r"(^|_)(FILE|PATH|URL|DIR|ENDPOINT|NAME)$", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"[A-Za-z-]{1,15}|[0-9]{1,15}|true|false", re.IGNORECASE)
_FLAG: Final = re.compile(r"-{1,2}[\w-]*(key|token|secret|password|passwd|credential|authorization)s?", re.IGNORECASE)
_SHORTEST: Final = 8


class Masker:
    """Replaces known credentials by `[REDACTED]` in text and bytes. Values shorter than 8 characters and placeholder
    words such as `lm-studio` are no credentials: replacing them would garble what was said."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._text: re.Pattern[str] | None = None
        self._bytes: re.Pattern[bytes] | None = None
        for value in values:
            self.learn(value)

    def learn(self, value: str) -> None:
        """Another credential, such as one that a request carried."""
        value = value.strip()
        if len(value) < _SHORTEST or value in self._values or _PLACEHOLDER.fullmatch(value):
            return
        with self._lock:
            self._values.add(value)
            forms = {form for one in self._values for form in (one, json.dumps(one)[1:-1], quote(one, safe=""))}
            longest = sorted(forms, key=lambda form: (-len(form), form))
            self._text = re.compile("|".join(map(re.escape, longest)))
            self._bytes = re.compile(b"|".join(re.escape(form.encode("utf-8", "surrogateescape")) for form in longest))

    def text(self, text: str) -> str:
        return text if self._text is None else self._text.sub(MASK, text)

    def data(self, data: bytes) -> bytes:
        return data if self._bytes is None else self._bytes.sub(MASK.encode(), data)

    def command(self, words: Iterable[str]) -> list[str]:
        """A command line without the values of options that are named like a credential."""
        out: list[str] = []
        hide = False
        for word in words:
            name, equals, _ = word.partition("=")
            if hide:
                out.append(MASK)
                hide = False
            elif equals and (_FLAG.fullmatch(name) or _NAMES.search(name)):
                out.append(f"{name}={MASK}")
            else:
                out.append(self.text(word))
                hide = _FLAG.fullmatch(word) is not None
        return out


def from_environment(env: Mapping[str, str]) -> list[str]:
    """The values of variables that are named like credentials."""
    return [value for name, value in env.items() if _NAMES.search(name) and not _NO_VALUE.search(name)]
