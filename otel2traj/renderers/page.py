"""Bundles into one HTML page that needs nothing else: no network, no side file, no right to run anything but itself."""

from __future__ import annotations

import base64
import html
import zlib
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import BinaryIO, Final

from ..canonical import JsonValue, dumps
from ..errors import UsageError
from ..model.trajectory import Header, Step, StepSink, Summary
from .base import Mode, Part, RenderOptions
from .bundle import Bundle, BundleSink
from .safe import inline

SCRIPTS: Final = (
    "dom.js",
    "blobs.js",
    "store.js",
    "message.js",
    "evidence.js",
    "list.js",
    "lanes.js",
    "step.js",
    "overview.js",
    "app.js",
)
"""Joined in this order into the one script of the page."""

_BASE: Final = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


@cache
def asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


@cache
def script() -> str:
    return '"use strict";\n(() => {\n' + "".join(asset(name) for name in SCRIPTS) + "})();\n"


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def policy(*, live: bool) -> str:
    """The content security policy: one script and one style by their digests; the server's page may ask its server."""
    base = _BASE.format(script=_hash(script()), style=_hash(asset("page.css")))
    return base + ("; connect-src 'self'" if live else "")


def _data(out: BinaryIO, name: str, packed: bytes) -> None:
    out.write(b'<script type="application/octet-stream" id="%s">' % name.encode("ascii"))
    out.write(base64.b64encode(packed))
    out.write(b"</script>\n")


def packed_json(value: JsonValue) -> bytes:
    return zlib.compress(dumps(value), 6)


def write_head(out: BinaryIO, name: str, mode: str = "file") -> None:
    shell = asset("page.html")
    before, body = shell.split("<!--head-->")
    out.write(before.encode("utf-8"))
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy(live=mode == "live")}">\n'
        f"<title>{html.escape(inline(name, 80))}</title>\n<style>{asset('page.css')}</style>\n"
    )
    out.write(head.encode("utf-8"))
    out.write(body.encode("utf-8"))
    out.write(b'<script type="application/octet-stream" id="mode">%s</script>\n' % mode.encode("ascii"))


def write_page(out: BinaryIO, bundles: Sequence[Bundle], *, report: bool = False) -> None:
    """One page for one trajectory or many. The indexes come before the script and the parts after it, so that the
    first picture waits for no part. A `report` lays everything out on one sheet, for print."""
    name = bundles[0].index["title"] if len(bundles) == 1 else f"{len(bundles)} runs"
    write_head(out, f"{name} · otel2traj", "report" if report else "file")
    _data(out, "runs", packed_json([bundle.row for bundle in bundles]))
    for number, bundle in enumerate(bundles):
        _data(out, f"a{number}-index", packed_json(bundle.index))
    out.write(b"<script>" + script().encode("utf-8") + b"</script>\n")
    for number, bundle in enumerate(bundles):
        for kind, places in bundle.places.items():
            for part in range(len(places)):
                _data(out, f"a{number}-{kind}{part}", bundle.part(kind, part))
    out.write(b"</body>\n</html>\n")


def write_live_page(out: BinaryIO) -> None:
    """The same page without data: it asks its own server for them."""
    write_head(out, "live · otel2traj", "live")
    out.write(b"<script>" + script().encode("utf-8") + b"</script>\n</body>\n</html>\n")


class Html:
    """One trajectory as a page, without raw records: `view` embeds those too."""

    name = "html"

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink:
        if options.budget is not None or options.mode is not Mode.FULL or options.part is not Part.ALL:
            raise UsageError(
                "a page holds whole runs", hint="--mode, --only and --budget are for text, Markdown and JSON Lines"
            )
        return _Page(out, options)


class _Page:
    def __init__(self, out: BinaryIO, options: RenderOptions) -> None:
        self._out, self._options = out, options
        self._bundle = BundleSink("run", inference=options.inference)

    def begin(self, header: Header) -> None:
        self._bundle.begin(header)

    def step(self, step: Step) -> None:
        if self._options.selection.takes(step):
            self._bundle.step(step)

    def end(self, summary: Summary) -> None:
        self._bundle.end(summary)
        write_page(self._out, [self._bundle.bundle])
