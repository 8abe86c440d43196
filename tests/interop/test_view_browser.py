"""The page in a real browser: Debian's Chromium, driven through its own driver. Skipped where either is missing."""

from __future__ import annotations

import base64
import io
import json
import random
import re
import shutil
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.view import view
from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import SdkInput, Trajectory
from otel2traj.renderers.bundle import BundleSink
from otel2traj.renderers.messages import read_said
from otel2traj.renderers.page import asset, write_page
from otel2traj.server.live_page import LiveRuns, ViewServer
from tests.factory import not_observed, play, step, tool_log, trajectory

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver: apt-get install chromium-driver"
    ),
]
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")

from selenium.webdriver.common.keys import Keys  # noqa: E402

PAINT_MS, SHOWN_MS, SEARCH_S = 2000, 6000, 30
"""Bounds for 5 000 steps that a loaded small machine keeps too; measured 0.1 s, 0.5 s and 0.9 s on two cores."""


class Browser:
    """A page, its keys, and what it shows."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(url)
        self.wait(lambda: self.js("return document.getElementById('detail').childElementCount > 0"))

    def js(self, code: str, *args: object) -> Any:
        return self.driver.execute_script(code, *args)

    def wait(self, ready: Callable[[], Any], seconds: float = 15) -> None:
        end = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < end, f"not within {seconds} s: {self.complaints()} {self.text()[:400]}"
            time.sleep(0.02)

    def until(self, shows: str) -> None:
        self.wait(lambda: self.shows() == shows)

    def text(self) -> str:
        return str(self.js("return document.getElementById('detail').innerText"))

    def shows(self) -> str:
        return str(self.js("return document.getElementById('detail').dataset.shows"))

    def rows(self) -> list[str]:
        script = "return [...document.querySelectorAll('.row')].sort((a, b) => a.dataset.at - b.dataset.at).map(r => r.innerText)"  # noqa: E501
        return list(self.js(script))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def go(self, address: str) -> None:
        self.js("location.hash = arguments[0]", address)
        self.until(address)

    def search(self, words: str) -> None:
        self.js("document.getElementById('found').dataset.done = '0'")
        self.press("/")
        self.press(words)
        self.wait(lambda: self.js("return document.getElementById('found').dataset.done") == "1", SEARCH_S)

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if "favicon" not in entry["message"]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


def save(path: Path, *runs: Trajectory, **options: Any) -> str:
    bundles = []
    for number, run in enumerate(runs):
        sink = BundleSink(f"run {number + 1}", **options)
        play(run, sink)
        bundles.append(sink.bundle)
    with path.open("wb") as out:
        write_page(out, bundles)
    return path.as_uri()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, fixtures: Path) -> str:
    path = tmp_path_factory.mktemp("page") / "run.html"
    view([fixtures / "renderers" / "nightly-sync" / "trajectory.json"], path)
    return path.as_uri()


def test_opens_from_disk_without_network_or_complaint(browser: Browser, page: str) -> None:
    browser.open(page)
    text = browser.text()
    for words in ("tool error", "non-zero exit", "How it ended", "ambiguous link", "not observed", "HTTP 429", "sync failed: host not reachable", "logs/network.jsonl"):  # fmt: skip  # noqa: E501
        assert words in text
    assert browser.js("return performance.getEntriesByType('resource').length") == 0
    assert browser.complaints() == []


def test_link_kinds_are_told_apart_by_words(browser: Browser, page: str) -> None:
    browser.open(page + "#step-4")
    browser.until("step-4")
    text = browser.text()
    assert "~ ambiguous link" in text
    assert "i inferred" in text
    assert "Inferred, not linked" in text
    browser.go("step-2")
    assert "= exact link" in browser.text()
    assert "✗ exit 3" in browser.text()
    assert "? not observed" in browser.text()


def test_deep_links_and_unknown_steps(browser: Browser, page: str) -> None:
    browser.open(page + "#step-7")
    browser.until("step-7")
    assert browser.js("return document.querySelector('.row[aria-selected=true] .num').textContent") == "7"
    browser.open(page + "#step-99")
    browser.wait(lambda: "There is no step 99" in browser.text())
    browser.open(page + "#<img src=x>")
    browser.wait(lambda: "This link leads nowhere" in browser.text())
    assert browser.js("return document.querySelectorAll('img').length") == 0


def test_the_keyboard_alone_is_enough(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.press("j")
    browser.until("step-1")
    browser.press("j")
    browser.until("step-2")
    browser.press("k")
    browser.until("step-1")
    browser.press("n")
    browser.until("step-2")
    browser.press("n")
    browser.until("step-3")
    browser.press("p")
    browser.until("step-2")
    browser.press(Keys.ENTER)
    assert browser.js("return document.activeElement.id") == "heading"
    browser.press("e")
    assert browser.js("return document.activeElement.id") == "evidence"
    browser.press(Keys.ESCAPE)
    assert browser.js("return document.activeElement.id") == "list"
    assert browser.js("return document.getElementById('list').getAttribute('aria-activedescendant')") == "row-1"
    browser.press("?")
    assert browser.js("return document.getElementById('help').open")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: not browser.js("return document.getElementById('help').open"))
    browser.press(Keys.ESCAPE)
    browser.until("overview")


def test_search_finds_what_only_a_compressed_part_holds(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.search("raise the number of tries")
    assert [row.split()[0] for row in browser.rows()] == ["6", "7"], "the execution, and the message that reports it"
    browser.press(Keys.ENTER)
    browser.until("step-6")
    assert browser.js("return CSS.highlights.get('found').size") >= 1
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: len(browser.rows()) == 8)
    browser.search("再試行")
    assert [row.split()[0] for row in browser.rows()] == ["2", "3"]
    browser.press(Keys.ESCAPE)


def test_filters_narrow_the_list(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.js("document.getElementById('by-failed').click()")
    assert [row.split()[0] for row in browser.rows()] == ["1", "2", "3"]
    browser.js(
        "document.getElementById('by-failed').click(); const a = document.getElementById('by-agent'); a.value = '1'; a.dispatchEvent(new Event('change'))"  # noqa: E501
    )
    assert [row.split()[0] for row in browser.rows()] == ["5"]
    browser.press(Keys.ESCAPE)
    assert len(browser.rows()) == 8


def test_history_is_folded_and_opens(browser: Browser, page: str) -> None:
    browser.open(page + "#step-8")
    browser.until("step-8")
    assert "Messages 1–10 as in" in browser.text()
    assert "Then write that into notes.txt." in browser.text()
    before = browser.js("return document.querySelectorAll('.say .role small').length")
    browser.js("document.querySelector('.fold button').click()")
    browser.wait(lambda: browser.js("return document.querySelectorAll('.say .role small').length") == before + 10)
    assert "Sync the nightly data" in browser.text()


HOSTILE = [
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>",
    "<svg onload=window.pwned=1>",
    "javascript:window.pwned=1",
    "\"><iframe srcdoc='<script>parent.pwned=1</script>'>",
    "{{constructor.constructor('window.pwned=1')()}}",
    "\u202ereversed \x1b[31m \u200b \ud800",
    "__proto__",
]


def hostile() -> Trajectory:
    steps = []
    for number, evil in enumerate(HOSTILE, 1):
        record = {"path": evil, "line": evil, "offset": 0, "length": 1, "sha256": evil, "what": evil}
        log = tool_log(
            evil,
            evil,
            input_arguments={evil: evil, "__proto__": {"pwned": 1}},
            outputs=evil,
            execution_status=ExecutionStatus.ERROR,
            exit_status={"exitCode": evil, "signal": evil},
            evidence={
                "records": [record],
                "inferred": {"rule": evil, "step_id": evil},
                "reported_result": {"interaction_id": evil},
            },
        )
        other = not_observed(evil, evil, link=LinkStatus.AMBIGUOUS, evidence={"candidates": [evil]})
        said = [
            {"role": evil, "name": evil, "content": evil},
            {"role": "tool", "tool_call_id": evil, "content": evil, evil: evil},
        ]
        steps.append(
            step(
                number,
                log,
                other,
                agent_name=evil,
                model=evil,
                purpose=evil,
                started_at=evil,
                input={"messages": said, "system": evil, "tools": [{"name": evil}], "parameters": {evil: evil}, evil: evil},  # noqa: E501
                output={"text": evil, "reasoning": evil, "refusal": evil, "wire_error": {evil: evil}, "tool_calls": [{"id": None, "name": evil, "arguments": evil}], "finish_reason": evil, "usage": {"input_tokens": 1}},  # noqa: E501
                evidence={"records": [record], evil: evil, "inferred_call": {"rule": evil, "step_id": evil, "tool_call_id": evil}},  # noqa: E501
            )
        )  # fmt: skip
    evil = HOSTILE[0]
    change = {"path": evil, "change_type": evil, "diff": f"--- {evil}\n+{evil}\n", "old_path": evil}
    inputs = [SdkInput(evil, evil, evil, [1, 2], {"status": evil}, [change])]
    header = {
        "run_id": evil,
        "case_id": evil,
        "framework": evil,
        "metadata": {"task_instruction": HOSTILE[1], evil: evil},
    }
    return trajectory(*steps, header=header, inputs=inputs, warnings=HOSTILE, sources=[{"path": evil, "sha256": evil}])


def test_hostile_content_is_inert(browser: Browser, tmp_path: Path) -> None:
    browser.open(save(tmp_path / "hostile.html", hostile(), hostile(), raw=lambda path, offset, length: b"<b>x"))
    scripts = browser.js("return document.scripts.length")
    seen = [browser.text()]
    for run in (1, 2):
        browser.js(f"location.hash = 'run-{run}/overview'")
        browser.wait(lambda: browser.shows() == "overview" and "How it ended" in browser.text())
        browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
        seen.append(browser.text())
        for number in range(1, len(HOSTILE) + 1):
            browser.js(f"location.hash = 'run-{run}/step-{number}'")
            browser.until(f"step-{number}")
            browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
            browser.js("for (const b of document.querySelectorAll('#detail section button, .places button')) b.click()")
            seen.append(browser.text())
    assert browser.js("return window.pwned === undefined && Object.prototype.pwned === undefined")
    assert (
        browser.js(
            "return document.querySelectorAll('img, iframe, svg, object, embed, form[action], [onerror], [onload]').length"  # noqa: E501
        )
        == 0
    )
    assert browser.js("return document.scripts.length") == scripts
    hrefs = browser.js("return [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert all(href.startswith("#") for href in hrefs)
    text = "\n".join(seen)
    assert "<img src=x onerror=window.pwned=1>" in text, "it is there to be read"
    assert "\\u202ereversed" in text
    assert "\u202e" not in text
    assert browser.complaints() == []


def test_the_policy_holds_against_script_that_gets_in_anyway(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.js(
        "const s = document.createElement('script'); try { s.textContent = 'window.pwned = 1'; document.body.append(s) } catch (e) { window.kept = e.name }"  # noqa: E501
    )
    assert browser.js("return window.pwned === undefined")
    with pytest.raises(Exception, match="TrustedHTML"):
        browser.js("document.body.insertAdjacentHTML('beforeend', '<b>x</b>')")
    assert browser.js("return fetch('https://example.org/').then(() => 'went out', () => 'kept in')") == "kept in"


def test_recorded_bytes_are_one_click_away_and_checked(browser: Browser, tmp_path: Path) -> None:
    data = '{"höhe": 1}'.encode()
    good = {
        "path": "a.jsonl",
        "line": 7,
        "offset": 5,
        "length": len(data),
        "sha256": sha256(data).hexdigest(),
        "what": "request",
    }
    bad = {**good, "offset": 50, "line": 8, "sha256": "0" * 64, "what": "response"}
    away = {**good, "path": "b.jsonl"}
    what = trajectory(step(1, evidence={"records": [good, bad, away]}))
    url = save(tmp_path / "raw.html", what, raw=lambda path, offset, length: data if path == "a.jsonl" else None)
    browser.open(url + "#step-1")
    browser.until("step-1")
    browser.js("document.querySelector('h3 button').click()")
    browser.wait(lambda: "✓ digest holds" in browser.text())
    assert '{"höhe": 1}' in browser.text()
    assert "a.jsonl:7" in browser.text()
    browser.js("document.querySelectorAll('.places button')[1].click()")
    browser.wait(lambda: "✗ digest differs" in browser.text())
    assert "are not in this page" in browser.text()


def test_numbers_are_shown_as_they_were_recorded(browser: Browser, tmp_path: Path) -> None:
    numbers = {
        "id": 12345678901234567890123,
        "zero": 0.0,
        "minus": -0.0,
        "small": 1e-7,
        "long": 0.1234567890123456789,
        "one": 1,
    }
    log = tool_log(input_arguments=numbers, outputs=12345678901234567890)
    browser.open(
        save(tmp_path / "numbers.html", trajectory(step(1, log, output={"usage": {"input_tokens": 2.0}}))) + "#step-1"
    )
    browser.until("step-1")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    text = browser.text()
    for key, shown in (
        ("id", "12345678901234567890123"),
        ("zero", "0.0"),
        ("minus", "-0.0"),
        ("small", "1e-07"),
        ("long", "0.12345678901234568"),
        ("one", "1"),
    ):
        assert re.search(rf'"?{key}"?:?\s*{re.escape(shown)}(?![\d.e])', text), (key, text)
    assert "12345678901234567890" in text
    assert "2.0" in text
    browser.search("12345678901234567890123")
    assert len(browser.rows()) == 1


def png(width: int, height: int) -> bytes:
    """A picture of one colour."""
    data = zlib.compress(b"".join(b"\0" + b"\x20\x60\xc0" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    body = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + body


def test_pictures_are_drawn_and_no_base64_is_read(browser: Browser, tmp_path: Path) -> None:
    one, two = png(40, 30), png(64, 48)
    first, second = (base64.b64encode(data).decode() for data in (one, two))
    link = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{first}"}}
    blob = {"type": "blob", "mime_type": "audio/wav", "content": base64.b64encode(b"RIFF" + bytes(40)).decode()}
    said = [{"role": "user", "content": [{"type": "text", "text": "Look."}, link]}, {"role": "user", "parts": [blob]}]
    shot = [{"type": "text", "text": "shot"}, {"type": "image", "data": second, "mimeType": "image/png"}]
    logs = (tool_log("c1", "shoot", outputs=shot), tool_log("c2", "shoot", outputs=json.dumps(shot)))
    run = trajectory(
        step(1, *logs, input={"messages": said}), inputs=[SdkInput("0001", "i", said[0], [1, 1], None, [])]
    )
    browser.open(save(tmp_path / "pictures.html", run) + "#step-1")
    browser.until("step-1")
    sizes = "return [...document.querySelectorAll('#detail img')].map(i => i.naturalWidth + 'x' + i.naturalHeight)"
    browser.wait(lambda: browser.js(sizes) == ["40x30", "64x48", "64x48"])
    browser.wait(lambda: browser.text().count("sha256") >= 4)
    text = browser.text()
    assert f"image/png {len(one)} bytes sha256 {sha256(one).hexdigest()[:16]}" in text
    assert "audio/wav 44 bytes" in text, "no picture, its line alone"
    assert first[:24] not in text
    assert second[:24] not in text
    browser.go("overview")
    assert browser.js(sizes) == ["40x30"], "the prompt"
    assert browser.complaints() == []


def test_many_runs_in_one_page(browser: Browser, tmp_path: Path) -> None:
    one, two = trajectory(step(1), step(2)), trajectory(step(1, output={"text": "second run"}))
    browser.open(save(tmp_path / "many.html", one, two))
    assert "2 runs" in browser.text()
    browser.js("[...document.querySelectorAll('#detail a')][1].click()")
    browser.wait(
        lambda: browser.shows() == "overview" and browser.js("return document.querySelectorAll('.row').length") == 1
    )
    browser.press("j")
    browser.wait(lambda: "second run" in browser.text())
    assert browser.js("return location.hash") == "#run-2/step-1"


def big(count: int) -> Trajectory:
    rng = random.Random(7)
    words = [f"{rng.getrandbits(40):x}" for _ in range(3000)]
    talk: list[Any] = [{"role": "system", "content": "be careful"}]
    steps = []
    for number in range(1, count + 1):
        answer, result = " ".join(rng.choices(words, k=60)), " ".join(rng.choices(words, k=90))
        status = ExecutionStatus.ERROR if number % 97 == 0 else ExecutionStatus.SUCCEEDED
        log = tool_log(f"call_{number}", f"tool_{number % 7}", outputs=result, execution_status=status)
        steps.append(
            step(
                number,
                log,
                agent_name=f"agent-{number % 6}",
                input={"messages": list(talk)},
                output={"text": answer, "tool_calls": []},
            )
        )
        talk += [
            {"role": "assistant", "content": answer},
            {
                "role": "tool",
                "tool_call_id": f"call_{number}",
                "content": result + (" needle" if number == 4321 else ""),
            },
        ]
        talk = talk if len(talk) < 60 else talk[:1] + talk[-30:]
    return trajectory(*steps)


def test_five_thousand_steps_paint_and_search_at_once(
    browser: Browser, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "big.html"
    url = save(path, big(5000))
    browser.open(url)
    paint = browser.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    browser.wait(lambda: browser.js("return performance.getEntriesByName('shown').length") == 1)
    shown = browser.js("return performance.getEntriesByName('shown')[0].startTime")
    assert browser.js("return document.querySelectorAll('.row').length") < 60, "only the rows in sight are elements"
    started = time.monotonic()
    browser.search("needle")
    searched = time.monotonic() - started
    assert [row.split()[0] for row in browser.rows()] == ["4322"], "the step whose request first had it"
    browser.press(Keys.ESCAPE)
    started = time.monotonic()
    browser.go("step-4900")
    opened = time.monotonic() - started
    for name, value in (
        ("first_paint_ms", paint),
        ("shown_ms", shown),
        ("search_s", searched),
        ("open_step_s", opened),
        ("page_bytes", path.stat().st_size),
    ):
        record_property(name, value)
        print(f"{name} {value:.3f}")
    assert paint < PAINT_MS
    assert shown < SHOWN_MS
    assert searched < SEARCH_S


def test_the_reader_of_messages_has_a_true_twin(browser: Browser, page: str) -> None:
    from tests.unit.renderers.test_messages import test_shapes

    browser.open(page)
    (mark,) = [mark for mark in test_shapes.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    for message, *_ in mark.args[1]:
        told = browser.js(asset("dom.js") + asset("message.js") + "return readMessage(arguments[0])", message)
        (said,) = read_said(message)
        pieces = [{"kind": str(p.kind), "value": p.value, "id": p.id, "name": p.name} for p in said.pieces]
        assert told == {"role": said.role, "name": said.name, "pieces": pieces}


def test_the_time_axis_shows_gaps_that_the_order_hides(browser: Browser, tmp_path: Path) -> None:
    times = [("00:00", "00:01"), ("00:09", "00:10")]
    ran = [{"started_at": f"2026-01-01T00:{a}Z", "ended_at": f"2026-01-01T00:{b}Z"} for a, b in times]
    browser.open(save(tmp_path / "times.html", trajectory(*(step(n, **one) for n, one in enumerate(ran, 1)))))
    canvas = browser.driver.find_element("id", "lane-canvas")
    from selenium.webdriver import ActionChains

    def click(share: float) -> str:
        browser.js("location.hash = 'overview'")
        browser.until("overview")
        at = int((share - 0.5) * canvas.size["width"])
        ActionChains(browser.driver).move_to_element_with_offset(
            canvas, at, 10 - canvas.size["height"] // 2
        ).click().perform()
        time.sleep(0.2)
        return browser.shows()

    assert (click(0.25), click(0.75)) == ("step-1", "step-2"), "by order each has its half"
    low = canvas.size["height"]
    browser.js("document.getElementById('lane-mode').click()")
    assert browser.js("return document.getElementById('lane-mode').getAttribute('aria-pressed')") == "true"
    assert canvas.size["height"] > low, "room for the axis"
    assert (click(0.05), click(0.95)) == ("step-1", "step-2")
    pixel = (
        "const c = document.getElementById('lane-canvas'), x = c.width * arguments[0];"
        "return [...c.getContext('2d').getImageData(x, 10 * c.height / c.clientHeight, 1, 1).data].join()"
    )
    bar, gap, same = (browser.js(pixel, share) for share in (0.05, 0.3, 0.7))
    assert bar != gap
    assert gap == same, "nothing ran between the two"


def test_the_tree_says_who_called_whom(browser: Browser, page: str) -> None:
    browser.open(page)
    strong = "[...li.querySelectorAll(':scope > ul strong')].map(s => s.textContent)"
    top = "[...document.querySelectorAll('.agents > li')]"
    tree = browser.js(f"return {top}.map(li => [li.querySelector('strong').textContent, {strong}])")
    assert tree == [["lead", ["researcher"]]]


def test_json_folds_and_is_copied(browser: Browser, tmp_path: Path) -> None:
    deep = {"rows": [{"id": n, "name": "x" * 20} for n in range(9)], "last": "the very last word"}
    browser.open(save(tmp_path / "json.html", trajectory(step(1, tool_log(outputs=deep)))) + "#step-1")
    browser.until("step-1")
    assert browser.js("return document.querySelectorAll('.log .tree details').length") >= 2
    assert "the very last word" in browser.text()
    browser.js("document.querySelector('.log .tree details').open = false")
    assert "the very last word" not in browser.text()
    browser.js("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    browser.js("[...document.querySelectorAll('.log .copy')].at(-1).click()")
    browser.wait(lambda: browser.js("return window.copied !== undefined"))
    assert json.loads(browser.js("return window.copied")) == deep


def test_a_report_is_printed_whole(browser: Browser, tmp_path: Path, fixtures: Path) -> None:
    path = tmp_path / "report.html"
    view([fixtures / "renderers" / "nightly-sync" / "trajectory.json"], path, report=True)
    browser.open(path.as_uri())
    browser.wait(lambda: browser.js("return document.querySelectorAll('.sheet').length") == 8)
    text = browser.text()
    assert all(f"Step {number}" in text for number in range(1, 9))
    assert "How it ended" in text
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = "return ['.side', '.lanes', '.tools', '.copy'].filter(s => document.querySelector(s)?.offsetParent)"
    assert browser.js(hidden) == []
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(printed).count(b"/Type /Page\n") >= 8, "a sheet for each step"


@pytest.mark.parametrize("address", ["overview", "step-2", "step-8"])
def test_a_phone_needs_no_sideways_scrolling(browser: Browser, page: str, address: str) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.open(f"{page}#{address}")
        browser.until(address)
        assert browser.js("return innerWidth") == 390
        assert browser.js("return document.documentElement.scrollWidth") <= 390
        wide = "return [...document.querySelectorAll('#detail *')].filter(n => n.offsetParent && n.getBoundingClientRect().right > 391 && !n.closest('.diff')).map(n => n.className || n.tagName)"  # noqa: E501
        assert browser.js(wide) == []
        heading = "return document.getElementById('heading').getBoundingClientRect().top"
        assert 0 <= browser.js(heading) < 400  # how it ended, or the step, stands above the list
        browser.js("document.querySelectorAll('.row')[1].click()")
        browser.until("step-2")
        assert 0 <= browser.js(heading) < 700
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_cost_of_a_step_and_of_the_run(browser: Browser, tmp_path: Path) -> None:
    usage = {"input_tokens": 900, "output_tokens": 30}
    run = trajectory(step(1, model="gpt-4o", output={"text": "x", "usage": usage}), step(2, model="no-such"))
    browser.open(save(tmp_path / "cost.html", run))
    assert re.search(r"\$0\.00255\s+cost, and 1 calls without a price", browser.text())
    browser.go("step-1")
    assert re.search(r"cost\s+\$0\.00255", browser.text())
    browser.go("step-2")
    assert re.search(r"cost\s+not known: usage not recorded", browser.text())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes(browser: Browser, page: str, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.open(page)
    ground = browser.js("return getComputedStyle(document.body).backgroundColor")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert (sum(map(int, ground[4:-1].split(","))) > 380) == (scheme == "light")


def test_everything_that_can_be_pressed_has_a_name(browser: Browser, page: str) -> None:
    for address in ("overview", "step-2", "step-8"):
        browser.open(f"{page}#{address}")
        browser.until(address)
        nameless = browser.js(
            "return [...document.querySelectorAll('button, a, select, input, summary')].filter(n => "
            "!(n.textContent.trim() || n.getAttribute('aria-label') || (n.labels && n.labels.length && n.labels[0].textContent.trim()))"  # noqa: E501
            " && n.offsetParent !== null).map(n => n.id || n.tagName)"
        )
        assert nameless == []
        assert browser.js("return document.querySelectorAll('h1').length") == 1


def test_a_growing_run_is_followed(browser: Browser, tmp_path: Path, fixtures: Path) -> None:
    from otel2traj.writers.trajectory import TrajectoryWriter

    saved = tmp_path / "run.json"

    def write(count: int) -> None:
        out = io.BytesIO()
        play(
            trajectory(*(step(n, output={"text": f"answer {n}"}) for n in range(1, count + 1))),
            TrajectoryWriter().sink(out),
        )
        saved.write_bytes(out.getvalue())

    write(2)
    server = ViewServer(LiveRuns([saved]), every=0.1)
    thread = threading.Thread(target=server.run, args=(print,), daemon=True)
    thread.start()
    try:
        browser.driver.get("about:blank")
        browser.driver.get(server.url + "#step-2")
        browser.until("step-2")
        write(5)
        browser.wait(lambda: len(browser.rows()) == 5)
        assert browser.shows() == "step-2", "what is being read stays"
        assert "answer 2" in browser.text()
        browser.go("step-5")
        assert "answer 5" in browser.text()
        assert "Live" in browser.js("return document.getElementById('live').textContent")
    finally:
        server.stop()
        thread.join(10)
    assert not thread.is_alive()


def test_any_shape_is_shown(browser: Browser, tmp_path: Path) -> None:
    """What the contract leaves open may hold anything; no step of it may end in an error."""
    from hypothesis import HealthCheck, Phase, given, settings

    from tests.unit.renderers.test_any_shape import trajectories

    drawn: list[Trajectory] = []

    @settings(
        max_examples=60,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    @given(trajectories())
    def draw(what: Trajectory) -> None:
        drawn.append(what)

    draw()
    browser.open(save(tmp_path / "any.html", *drawn))
    for run, what in enumerate(drawn, 1):
        for address in ("overview", *(f"step-{one.step_id}" for one in what.steps)):
            browser.js(
                "document.getElementById('detail').dataset.shows = ''; location.hash = arguments[0]",
                f"run-{run}/{address}",
            )
            browser.until(address)
            assert "This cannot be shown" not in browser.text(), (browser.text(), what)
    assert browser.complaints() == []
