"""Retention: by age or size, never what is not built, and nothing that the rest still needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.capture.derive import Deriver
from otel2traj.capture.layout import ATTEMPTS, LOG
from otel2traj.capture.retention import Keep, sweep
from otel2traj.capture.segments import segment_files
from otel2traj.errors import UsageError

from .requests import span, traces
from .test_derive import touch
from .test_router import feed

DAY = 86_400_000_000_000


@pytest.mark.parametrize(
    ("text", "keep"),
    [("30d", Keep(seconds=30 * 86400.0)), ("12h", Keep(seconds=12 * 3600.0)), ("1.5GB", Keep(size=1_500_000_000))],
)
def test_an_age_or_a_size(text: str, keep: Keep) -> None:
    assert Keep.parse(text) == keep
    assert Keep.parse(str(keep)) == keep


@pytest.mark.parametrize("text", ["", "30", "d30", "30 parsecs", "-1d"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Keep.parse(text)


def filled(root: Path) -> Deriver:
    """Three segments with one attempt each, arrived on days 1, 2 and 3; `late` is not built."""
    for day, name in enumerate(("old", "newer", "late"), 1):
        feed(root, traces(span(f"{day:032x}", session__id=name, text="x" * 5000)), received_ns=day * DAY)
    deriver = Deriver(root, touch, 0.0)
    deriver.router.drain()
    for name in ("old", "newer"):
        row = deriver.router.state.attempt(name)
        assert row is not None
        deriver.build_one(row)
    return deriver


def left(root: Path) -> tuple[list[str], list[str]]:
    return sorted(path.name for path in (root / ATTEMPTS).iterdir()), [path.stem for path in segment_files(root / LOG)]


def test_what_is_older_than_the_age_goes_when_it_is_built(tmp_path: Path) -> None:
    deriver = filled(tmp_path)
    done = sweep(tmp_path, deriver.router.state, Keep(seconds=86400.0 * 1.5), 3 * DAY)
    assert left(tmp_path)[0] == ["late", "newer"]
    assert done.attempts == 1
    sweep(tmp_path, deriver.router.state, Keep(seconds=1.0), 9 * DAY)
    deriver.close()
    names, segments = left(tmp_path)
    assert names == ["late"]  # it is old too, and not built
    assert segments[-1] == "00000003"


def test_what_is_over_the_size_goes_oldest_first(tmp_path: Path) -> None:
    deriver = filled(tmp_path)
    sweep(tmp_path, deriver.router.state, Keep(size=1), 3 * DAY)
    deriver.close()
    assert left(tmp_path) == (["late"], ["00000003"])


def test_a_lost_state_after_retention_keeps_what_only_the_attempts_hold(tmp_path: Path) -> None:
    deriver = filled(tmp_path)
    sweep(tmp_path, deriver.router.state, Keep(size=25_000), 3 * DAY)
    kept, segments = left(tmp_path)
    deriver.close()
    assert segments[0] != "00000001"
    (tmp_path / "state.sqlite").write_bytes(b"no database" * 1000)
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"state.sqlite{suffix}").unlink(missing_ok=True)
    again = Deriver(tmp_path, touch, 0.0)
    again.router.drain()
    again.close()
    assert sorted(path.name for path in (tmp_path / "set-aside-1" / ATTEMPTS).iterdir()) == kept
    assert "late" in left(tmp_path)[0]


def test_nothing_goes_without_need(tmp_path: Path) -> None:
    deriver = filled(tmp_path)
    before = left(tmp_path)
    assert sweep(tmp_path, deriver.router.state, Keep(seconds=1e9), 3 * DAY).bytes == 0
    assert sweep(tmp_path, deriver.router.state, Keep(size=10**12), 3 * DAY).bytes == 0
    deriver.close()
    assert left(tmp_path) == before
