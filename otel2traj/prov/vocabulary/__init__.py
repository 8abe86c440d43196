"""The apv vocabulary, as shipped: its Turtle file, and the terms it declares."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

_TERM: Final = re.compile(r"^apv:(\w+) a (\w+:\w+)", re.MULTILINE)


def vocabulary_bytes() -> bytes:
    """The Turtle file, for record copies."""
    return resources.files(__package__).joinpath("apv.ttl").read_bytes()


@cache
def terms() -> dict[str, str]:
    """Term -> its type in the file (`owl:Class`, `owl:ObjectProperty`, `apv:Role`, …). Reads the shipped layout, in
    which every declaration starts a line; a test reads the same file with a Turtle parser."""
    return dict(_TERM.findall(vocabulary_bytes().decode("utf-8")))
