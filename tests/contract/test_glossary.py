"""docs/glossary.md explains the project's own words, and each word stands where it says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([a-z ,]+?)(?: \([a-z ]+\))? \| (.+?) \| (.+?) \|$", re.M)
NOT_TO_BE_GUESSED = {"glance", "veil", "front", "kit", "draft", "whole", "twins", "lenders"}


def test_every_word_stands_in_its_file() -> None:
    rows = ROW.findall((ROOT / "docs" / "glossary.md").read_text("utf-8"))
    assert {word for word, _, _ in rows} >= NOT_TO_BE_GUESSED
    for words, _, place in rows[1:]:
        for word in words.split(", "):
            if place.startswith("["):
                assert (ROOT / "docs" / place[1 : place.index("]")]).is_file()
                continue
            file = ROOT / "otel2traj" / place.strip("`")
            stem = re.escape(word.replace(" ", "_"))
            held = f"{file.stem}\n{file.read_text('utf-8')}"
            assert re.search(rf"{stem}", held, re.I), f"{word} is not in {place}"
