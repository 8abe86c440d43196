"""Small facts in words."""

from __future__ import annotations

from otel2traj.renderers.words import clock, place_words, ranges, seconds, truncate_middle, usage_words


def test_the_middle_goes_from_3001_characters_on() -> None:
    assert truncate_middle("x" * 3000) == ("x" * 3000, 0)
    text, gone = truncate_middle("a" * 1500 + "M" + "z" * 1500)
    assert gone == 1
    assert text == "a" * 1500 + "\n[... truncated middle: 1 of 3001 characters ...]\n" + "z" * 1500


def test_ranges_read_well() -> None:
    assert ranges([1, 2, 3, 7]) == "1–3, 7"
    assert ranges(list(range(1, 40, 2)), most=2) == "1, 3, and 18 more stretches"


def test_times() -> None:
    assert clock("2026-01-02T03:04:05.250000Z") == "03:04:05.250000Z"
    assert clock("yesterday") == "yesterday"
    assert seconds("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.250000+00:00") == "0.250 s"
    assert seconds("2026-01-02T03:04:05.371732992Z", "2026-01-02T03:04:05.376558080Z") == "0.005 s"
    for start, end in ((None, "2026-01-02"), ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"), ("soon", "later")):
        assert seconds(start, end) is None, "a duration that cannot be told is not told"


def test_usage_keeps_zero_and_nothing_said_apart() -> None:
    assert usage_words(None) is None
    assert usage_words({"raw": {}}) is None
    assert usage_words({"input_tokens": 0, "output_tokens": None}) == "tokens 0 in"


def record(path: str, line: int | None, what: str, offset: int = 0) -> dict[str, object]:
    return {"path": path, "line": line, "offset": offset, "length": 9, "sha256": "abcdef0123456789", "what": what}


def test_places() -> None:
    assert place_words([record("a", 1, "request"), record("b.pb", None, "span", 7)]) == [
        "a:1 @0+9 (request) sha256 abcdef012345",
        "b.pb @7+9 (span) sha256 abcdef012345",
    ]
    stream = [record("a", line, "chunk") for line in (7, 5, 6, 9)]
    assert place_words(stream) == ["a:5–7, 9 (4 chunk)"]
    batch = [record("a", 1, "span", offset) for offset in (3, 40)]
    assert len(place_words(batch)) == 2, "records of one line need their offsets"
    assert place_words(None) == place_words(["x"]) == []
