"""Account paths into short labels, before anything is written down."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence


class Redactor:
    """Replaces what the patterns match by `acct-` and the first 12 hex digits of a salted SHA-256 of the match.

    Where a pattern has a group `account`, only the group is replaced: `/home/(?P<account>[^/]+)` keeps the path. The
    same value always gives the same label under one salt. A label cannot be turned back, but a short or common name can
    be guessed by whoever knows the salt: keep it out of what is released.
    """

    def __init__(self, patterns: Sequence[str], salt: bytes) -> None:
        self._patterns = [re.compile(pattern) for pattern in patterns]
        self._salt = salt

    def label(self, value: str) -> str:
        data = self._salt + value.encode("utf-8", "surrogatepass")
        return f"acct-{hashlib.sha256(data).hexdigest()[:12]}"

    def __call__(self, text: str) -> str:
        for pattern in self._patterns:
            text = pattern.sub(self._replace, text)
        return text

    def _replace(self, match: re.Match[str]) -> str:
        if "account" not in match.re.groupindex or match["account"] is None:
            return self.label(match[0]) if match[0] else ""
        start, end = match.span("account")
        whole, base = match[0], match.start()
        return whole[: start - base] + self.label(match["account"]) + whole[end - base :]
