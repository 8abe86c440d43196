"""The fleet that the twelve questions are asked of: small enough to work every answer out by hand."""

from __future__ import annotations

from pathlib import Path

from tests.unit.fleet.made import Call, Turn, told

LONG = "x" * 2000


def questions_fleet(root: Path) -> Path:
    """Five attempts: two of a coder, two of a researcher, and one that is none."""
    make, test = {"cmd": "make"}, {"cmd": "test"}
    told(
        root / "r1",
        "2026-05-28",
        "coder",
        "gpt-4o-mini",
        [
            Turn(1000, 0, 100, (Call("bash", make, seconds=(2.0,)),)),
            Turn(2000, 1000, 50, (Call("bash", test, "boom", (4.0,), failed=True),)),
            Turn(3000, 2000, 50, (Call("bash", test, LONG, (1.0,)),)),
            Turn(4000, 3000, 10),
        ],
    )
    told(
        root / "r2",
        "2026-05-28",
        "coder",
        "gpt-4o-mini",
        [Turn(1000, 0, 100, (Call("bash", make, "boom", (1.0,), failed=True),)), Turn(0, 0, 0, error="gone")],
        "failed",
    )
    x, y = {"q": "x"}, {"q": "y"}
    told(
        root / "r3",
        "2026-05-29",
        "researcher",
        "gpt-4o",
        [
            Turn(500, 0, 10, (Call("search", x, "a", (0.5,)), Call("search", y, "b", (1.5,)))),
            Turn(600, 0, 10, (Call("search", x, "a", (0.5,)),)),
            Turn(700, 0, 10, (Call("search", x, "a", ()),)),
            Turn(800, 0, 10),
        ],
    )
    told(
        root / "r4",
        "2026-05-29",
        "researcher",
        "house-model",
        [Turn(100, 0, 10, (Call("fetch", {"url": "u"}, "page", (1.0, 2.0)),)), Turn(200, 0, 10)],
    )
    (root / "r5").mkdir()
    (root / "r5" / "run.json").write_text("{}")
    (root / "r5" / "steps").write_text("no folder")
    return root
