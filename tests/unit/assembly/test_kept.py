"""What a session keeps while it is open: bodies that were read, and Python's collector away from them."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes
from otel2traj.assembly import BuildSession, session
from otel2traj.assembly.archive import Archive
from otel2traj.assembly.readings import Readings
from otel2traj.errors import EvidenceError

from ...attempt_factory import AttemptFactory, chat_response


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    """Four calls whose history grows, the second of which was answered twice."""
    made = AttemptFactory(tmp_path / "attempt").input("0001")
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(4):
        made.request(f"call-{number}", number, messages=list(history))
        if number == 1:
            made.response("call-1", number + 0.4, {})
        made.response(f"call-{number}", number + 0.5, chat_response(f"resp-{number}", text=f"word {number}"))
        history = [*history, {"role": "assistant", "content": f"word {number}"}, {"role": "user", "content": "more"}]
    return made.write()


def test_bodies_that_fit_the_budget_are_read_once(attempt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    for name in ("fetch_request", "fetch_response"):
        plain = getattr(Archive, name)

        def noted(archive: Archive, ref: Any, members: Any = (), *, name: str = name, plain: Any = plain) -> Any:
            read.append(name)
            return plain(archive, ref, members)

        monkeypatch.setattr(Archive, name, noted)
    kept = build_bytes(attempt)
    once = read.count("fetch_request")
    assert once == 4
    monkeypatch.setattr(session, "Readings", partial(Readings, keep_bytes=0))
    assert build_bytes(attempt) == kept
    assert read.count("fetch_request") >= once + 2 * 4


def test_the_collector_is_as_it_was_before_whichever_session_is_closed_first(attempt: Path) -> None:
    before = gc.get_threshold()
    for first_closed in (0, 1):
        both = [BuildSession(attempt), BuildSession(attempt)]
        assert gc.get_threshold()[0] > before[0]
        both.pop(first_closed).__exit__(None, None, None)
        assert gc.get_threshold()[0] > before[0]
        both[0].__exit__(None, None, None)
        assert gc.get_threshold() == before
    (attempt.parent / "nothing").mkdir()
    with pytest.raises(EvidenceError):
        BuildSession(attempt.parent / "nothing")
    assert gc.get_threshold() == before
