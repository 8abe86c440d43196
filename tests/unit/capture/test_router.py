"""The log becomes attempt directories: nothing lost, nothing twice, late knowledge moves a trace, restarts agree."""

from __future__ import annotations

import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

import otel2traj.capture.router
from otel2traj.capture.layout import ATTEMPTS, LOG, REPAIRS, STATE, UNROUTED
from otel2traj.capture.router import Router
from otel2traj.capture.segments import Content, Encoding, Signal
from otel2traj.capture.spool import Spool
from otel2traj.errors import RefusedError

from .requests import SPAN, TRACE, as_json, items, lines, log, logs, metrics, span, traces

OTHER = "11111111111111111111111111111111"


def feed(
    root: Path,
    *requests: dict[str, Any] | bytes,
    signal: Signal = Signal.TRACES,
    received_ns: int | None = None,
) -> None:
    clock = time.time_ns if received_ns is None else lambda: received_ns
    spool = Spool(root / LOG, min_free=0, sync=False, clock=clock)
    for request in requests:
        body = request if isinstance(request, bytes) else as_json(request)
        spool.append_and_wait(signal, Content.JSON, Encoding.IDENTITY, 1, body)
    spool.close()


def route(root: Path) -> Router:
    router = Router(root)
    router.drain()
    router.close()
    return router


def spans_of(root: Path) -> dict[str, list[str]]:
    """Span ids by attempt folder."""
    found = sorted((root / ATTEMPTS).iterdir()) if (root / ATTEMPTS).exists() else []
    return {path.name: sorted(s["spanId"] for s in items(path / "otel.jsonl")) for path in found}


def own(number: int) -> str:
    return f"{number:016x}"


def test_each_signal_has_its_file(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(session__id="s")))
    feed(tmp_path, logs(log(session__id="s")), signal=Signal.LOGS)
    feed(tmp_path, metrics("s"), signal=Signal.METRICS)
    route(tmp_path)
    attempt = tmp_path / ATTEMPTS / "s"
    assert {path.name for path in attempt.iterdir()} == {"otel.jsonl", "otel-logs.jsonl", "otel-metrics.jsonl"}
    assert len(items(attempt / "otel-logs.jsonl")) == 1
    assert items(attempt / "otel-metrics.jsonl")[0]["name"] == "tokens"


def test_what_names_nothing_is_kept_apart(tmp_path: Path) -> None:
    feed(tmp_path, logs(log("alone")), signal=Signal.LOGS)
    route(tmp_path)
    assert not (tmp_path / ATTEMPTS).exists()
    assert items(tmp_path / UNROUTED / "otel-logs.jsonl")[0]["body"] == {"stringValue": "alone"}


def test_a_trace_moves_when_its_conversation_is_learnt_late(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(own=own(1)), span(OTHER, own(9))))
    router = Router(tmp_path)
    router.drain()
    assert spans_of(tmp_path) == {TRACE: [own(1)], OTHER: [own(9)]}
    feed(tmp_path, traces(span(own=own(2), gen_ai__conversation__id="conv")))
    router.drain()
    feed(tmp_path, traces(span(own=own(3))))
    router.drain()
    router.close()
    assert spans_of(tmp_path) == {"conv": [own(1), own(2), own(3)], OTHER: [own(9)]}


def test_a_trace_leaves_its_session_for_a_stronger_name_and_the_rest_stays(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(own=own(1), session__id="s"), span(OTHER, own(9), session__id="s")))
    router = Router(tmp_path)
    router.drain()
    assert spans_of(tmp_path) == {"s": [own(1), own(9)]}
    feed(tmp_path, traces(span(own=own(2), gen_ai__conversation__id="c")))
    router.drain()
    for row in router.state.attempts():
        router.files.compact(row.id)
    counts = {row.id: row.spans for row in router.state.attempts()}
    router.close()
    assert spans_of(tmp_path) == {"c": [own(1), own(2)], "s": [own(9)]}
    assert counts == {"c": 2, "s": 1}


def test_a_weaker_name_moves_nothing(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(own=own(1), gen_ai__conversation__id="c")), traces(span(own=own(2), session__id="s")))
    route(tmp_path)
    assert spans_of(tmp_path) == {"c": [own(1), own(2)]}


def test_logs_follow_their_trace(tmp_path: Path) -> None:
    feed(tmp_path, logs(log(trace=TRACE)), signal=Signal.LOGS)
    feed(tmp_path, traces(span(abb__attempt_id="a")))
    router = route(tmp_path)
    assert router is not None
    assert len(items(tmp_path / ATTEMPTS / "a" / "otel-logs.jsonl")) == 1
    assert sorted(path.name for path in (tmp_path / ATTEMPTS).iterdir()) == ["a"]


def test_a_body_sent_again_is_counted_and_dropped(tmp_path: Path) -> None:
    request = traces(span(session__id="s"))
    feed(tmp_path, request, request, request)
    router = Router(tmp_path)
    done = router.drain()
    assert (done.records, done.repeats) == (3, 2)
    assert router.state.notes() == {"repeated-bodies": 2}
    router.close()
    assert len(lines(tmp_path / ATTEMPTS / "s" / "otel.jsonl")) == 1


def test_the_same_batch_packed_anew_is_still_the_same(tmp_path: Path) -> None:
    body = as_json(traces(span(session__id="s")))
    spool = Spool(tmp_path / LOG, min_free=0)
    for packed in (gzip.compress(body, 1, mtime=1), gzip.compress(body, 9, mtime=2)):
        spool.append_and_wait(Signal.TRACES, Content.JSON, Encoding.GZIP, 1, packed)
    spool.close()
    router = Router(tmp_path)
    assert router.drain().repeats == 1
    router.close()


def test_a_record_that_cannot_be_routed_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = otel2traj.capture.router.split

    def split(signal: Signal, content: Content, body: bytes) -> Any:
        if b"poison" in body:
            raise ZeroDivisionError
        return real(signal, content, body)

    monkeypatch.setattr("otel2traj.capture.router.split", split)
    feed(tmp_path, b"\xff not json", traces(span(session__id="poison")), traces(span(own=own(5), session__id="fine")))
    router = Router(tmp_path)
    done = router.drain()
    router.close()
    assert (done.records, done.unreadable) == (3, 2)
    assert spans_of(tmp_path) == {"fine": [own(5)]}
    assert [line["repair"] for line in lines(tmp_path / REPAIRS)] == ["unreadable-bodies"] * 2


@pytest.mark.parametrize("name", ["\\ud83d", "a\\u0000b", "x" * 5000, "..", "💥/💥"])
def test_any_text_may_name_a_session(tmp_path: Path, name: str) -> None:
    body = as_json(traces(span(session__id="NAME"))).replace(b"NAME", name.encode())
    feed(tmp_path, body, body.replace(SPAN.encode(), own(2).encode()))
    route(tmp_path)
    (found,) = spans_of(tmp_path).values()
    assert len(found) == 2
    assert [path.parent for path in (tmp_path / ATTEMPTS).iterdir()] == [tmp_path / ATTEMPTS]


def test_repairs_are_written_down_with_their_place(tmp_path: Path) -> None:
    body = as_json(traces(span())).replace(
        b'"attributes":[]', b'"attributes":[{"key":"k","value":{"doubleValue":null}}]'
    )
    feed(tmp_path, traces(span(own=own(7))), body)
    route(tmp_path)
    (found,) = lines(tmp_path / REPAIRS)
    assert found["offset"] > 0
    assert (found["segment"], found["signal"], found["repair"], found["count"]) == (
        "00000001.seg",
        "traces",
        "null-values",
        1,
    )


def test_ids_that_differ_in_case_have_folders_that_differ_in_more(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(session__id="Run")), traces(span(OTHER, own(2), session__id="run")))
    route(tmp_path)
    names = list(spans_of(tmp_path))
    assert len({name.lower() for name in names}) == 2
    assert "Run" in names


def test_a_file_that_was_there_before_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / ATTEMPTS / "s"
    folder.mkdir(parents=True)
    (folder / "otel.jsonl").write_text("mine\n")
    feed(tmp_path, traces(span(session__id="s")))
    route(tmp_path)
    assert (folder / "otel.jsonl.old").read_text() == "mine\n"
    assert len(items(folder / "otel.jsonl")) == 1


def test_two_routers_never_share_a_directory(tmp_path: Path) -> None:
    router = Router(tmp_path)
    with pytest.raises(RefusedError, match="another process"):
        Router(tmp_path)
    router.close()


def random_requests(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    keys = ["", "", "session__id", "gen_ai__conversation__id", "otel2traj__attempt__id"]
    out = []
    for number in range(120):
        made = []
        for part in range(rng.randint(1, 4)):
            key = rng.choice(keys)
            named = {key: f"id-{rng.randint(0, 5)}"} if key else {}
            made.append(
                span(f"{rng.randint(1, 12):032x}", own(number * 10 + part + 1), name="n" * rng.randint(0, 60), **named)
            )
        out.append(traces(*made))
    return out


@pytest.mark.parametrize("seed", range(4))
def test_restarts_at_any_point_end_as_one_run_does(tmp_path: Path, seed: int) -> None:
    requests = random_requests(seed)
    once, often = tmp_path / "once", tmp_path / "often"
    feed(once, *requests)
    route(once)
    rng = random.Random(seed)
    feed(often, *requests)
    while True:
        router = Router(often)
        done = router.poll(budget=rng.randint(1, 4000))
        for row in router.state.attempts():
            if rng.random() < 0.2:
                router.files.compact(row.id)
        router.close()
        for path in often.glob("attempts/*/otel.jsonl"):  # a kill after writing, before committing
            if rng.random() < 0.1:
                with path.open("ab") as file:
                    file.write(b'{"torn":')
        if done.records == 0:
            break
    for root in (once, often):
        router = Router(root)
        for row in router.state.attempts():
            router.files.compact(row.id)
        router.close()
    assert spans_of(once) == spans_of(often)
    everything = sorted(s for found in spans_of(once).values() for s in found)
    sent = sorted(
        s["spanId"] for r in requests for e in r["resourceSpans"] for c in e["scopeSpans"] for s in c["spans"]
    )
    assert everything == sent


def test_a_file_that_lost_bytes_is_derived_again(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(session__id="s")), traces(span(OTHER, own(2), session__id="s")))
    route(tmp_path)
    path = tmp_path / ATTEMPTS / "s" / "otel.jsonl"
    before = path.read_bytes()
    path.write_bytes(before[:-20])
    route(tmp_path)
    assert path.read_bytes() == before


def test_the_state_can_be_thrown_away(tmp_path: Path) -> None:
    feed(tmp_path, *random_requests(9))
    route(tmp_path)
    before = spans_of(tmp_path)
    for path in tmp_path.glob(f"{STATE}*"):
        path.unlink()
    route(tmp_path)
    assert spans_of(tmp_path) == before


def test_an_error_in_the_middle_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(tmp_path, traces(span(own=own(1), session__id="s")), traces(span(own=own(2), session__id="s")))
    router = Router(tmp_path)
    real = router._put
    calls = []

    def put(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(router, "_put", put)
    with pytest.raises(OSError, match="No space"):
        router.poll()
    assert router.drain().records == 2
    router.close()
    assert spans_of(tmp_path) == {"s": [own(1), own(2)]}


def test_attempts_are_lines_of_json(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(session__id="s", text="ü\u2028\n")))
    route(tmp_path)
    data = (tmp_path / ATTEMPTS / "s" / "otel.jsonl").read_bytes()
    assert data.endswith(b"\n")
    assert len([json.loads(line) for line in data.split(b"\n") if line]) == 1
