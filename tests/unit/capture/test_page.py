"""Pages about the receiver: figures that are right, and no word of a client that becomes markup."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

from otel2traj.api.receive import build_attempt, view_attempt
from otel2traj.capture.derive import Deriver
from otel2traj.capture.intake import Intake
from otel2traj.capture.layout import LOG
from otel2traj.capture.page import Facts, backlog, health, metrics_text, pages, ready, status_page
from otel2traj.capture.router import Router
from otel2traj.capture.spool import Spool

from .requests import as_json, span, traces
from .serving import serving


def test_metrics_count_what_happened(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(), span("0" * 32))))
        served.post(as_json(traces(span())).replace(b"resourceSpans", b"resource_spans"))
        served.post(b"{")
        text = served.send("GET", "/metrics")
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = text.body.decode().splitlines()
    assert 'otel2traj_receiver_requests_total{transport="http",signal="traces",status="200"} 2' in lines
    assert 'otel2traj_receiver_requests_total{transport="http",signal="traces",status="400"} 1' in lines
    assert 'otel2traj_receiver_items_total{signal="traces"} 3' in lines
    assert 'otel2traj_receiver_rejected_items_total{signal="traces"} 1' in lines
    assert 'otel2traj_receiver_repairs_total{repair="snake-case-keys"} 1' in lines
    assert "otel2traj_receiver_log_records_total 2" in lines
    sample = re.compile(
        r'(otel2traj_receiver|http_server)_[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? [0-9.]+'
    )
    for line in lines:
        assert line.startswith("# ") or sample.fullmatch(line), line


def test_the_backlog_goes_down_when_the_log_is_routed(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(session__id="s"))))
        assert backlog(tmp_path) > 100
        router = Router(tmp_path)
        router.drain()
        assert backlog(tmp_path) == 0
        assert b"otel2traj_receiver_attempts 1" in served.send("GET", "/metrics").body
        router.close()


def test_the_status_page_shows_attempts_and_escapes_them(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(session__id='<script>alert("x")</script>'))))
        router = Router(tmp_path)
        router.drain()
        router.state.set_built('<script>alert("x")</script>', 1, 5, "failed: <img src=x>")
        router.close()
        page = served.send("GET", "/")
    html = page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;img src=x&gt;" in html
    assert "http" not in re.sub(r"http-equiv", "", html)  # self-contained: nothing is fetched


class Down:
    lag_seconds, restarts = 61.0, 4

    def trouble(self) -> str | None:
        return "attempts cannot be written: disk full"


def test_health_is_503_while_nothing_is_derived_and_ready_is_apart(tmp_path: Path) -> None:
    spool = Spool(tmp_path / LOG, min_free=0)
    facts = Facts(tmp_path, Intake(spool), "test", Down())
    assert (health(facts).status, ready(facts).status) == (503, 200)
    assert b"disk full" in health(facts).body
    assert b"FAILING: attempts cannot be written" in status_page(facts)
    metrics = metrics_text(facts)
    assert b"otel2traj_receiver_derive_failing 1" in metrics
    assert b"otel2traj_receiver_derive_lag_seconds 61.0" in metrics
    spool.failing = "No space left on device"
    assert (health(facts).status, ready(facts).status) == (503, 503)
    spool.close()


def test_an_attempt_is_found_and_has_a_page_that_links_to_its_view(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        for name in ("alpha one", "beta"):
            served.post(as_json(traces(span(f"{len(name):032x}", session__id=name, gen_ai__operation__name="chat"))))
        deriver = Deriver(tmp_path, build_attempt, 0.0)
        deriver.router.drain()
        deriver.build_all()
        row = deriver.router.state.attempt("alpha one")
        assert row is not None
        deriver.close()
        found = served.send("GET", "/?q=alpha").body.decode()
        assert "alpha one" in found
        assert "attempts/beta" not in found
        page = served.send("GET", f"/attempts/{quote(row.folder)}")
        assert page.status == 200
        assert f"/attempts/{quote(row.folder)}/view" in page.body.decode()
        assert served.send("GET", "/attempts/nobody").status == 404
        assert served.send("GET", "/attempts/..%2f..%2fetc").status == 404
        facts = Facts(tmp_path, served.intake, "test", view=view_attempt)
        shown = pages(facts)["/attempts/"](f"{quote(row.folder)}/view")
    assert shown is not None
    assert shown.own_policy
    assert b"<html" in shown.body


def test_health_is_json(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert json.loads(served.send("GET", "/healthz").body) == {"status": "ok"}
