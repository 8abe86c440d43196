"""Dialects of other packages: found by entry point, asked as the built-in ones, named where they are broken."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import otel2traj
from otel2traj import dialects
from otel2traj.capture.claims import places
from otel2traj.errors import NothingRecordedError, PluginError
from otel2traj.model.link import LinkStatus

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "dialect.md"
Install = Callable[[str], None]


def file_of_page(name: str) -> str:
    """The file of that name as the page shows it."""
    found = re.search(rf"^`{re.escape(name)}`:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    assert found is not None, name
    return found[1]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a module with an entry point on the path, as `pip install` does."""
    site = tmp_path / "site"

    def put(code: str, value: str = "acme_otel:ACME") -> None:
        info = site / "acme_otel-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "acme_otel.py").write_text(code, "utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-otel\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[otel2traj.dialects]\nacme = {value}\n", "utf-8")
        monkeypatch.syspath_prepend(str(site))
        forget()

    def forget() -> None:
        dialects.known.cache_clear()
        places.cache_clear()

    monkeypatch.delitem(sys.modules, "acme_otel", raising=False)
    yield put
    monkeypatch.undo()
    sys.modules.pop("acme_otel", None)
    forget()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.json"
    file.write_text(file_of_page("trace.json"), "utf-8")
    return file


def test_without_it_nothing_is_told_of_the_spans(trace: Path) -> None:
    with pytest.raises(NothingRecordedError, match="2 spans were read, and none of them tells of a model call"):
        otel2traj.load(trace)


def test_it_reads_spans_as_a_dialect_of_this_package_does(install: Install, trace: Path) -> None:
    install(file_of_page("acme_otel.py"))
    assert dialects.known().spans.names()[0] == "acme"
    run = otel2traj.load(trace)
    (step,) = run.steps
    assert step.model == "gpt-5-mini"
    assert step.output["usage"]["input_tokens"] == 40
    assert step.evidence["said_by"]["tool_calls"] == "acme"
    (log,) = step.tool_logs
    assert (log.link, log.tool_name, log.input_arguments) == (LinkStatus.EXACT, "order_status", {"order": 7})
    assert any("acme of acme-otel 1.0" in warning for warning in run.summary.warnings)


def test_what_it_declares_reaches_the_splitter_and_the_warnings(install: Install) -> None:
    assert "acme.session" not in places()
    install(file_of_page("acme_otel.py"))
    assert "acme.session" in places()
    assert dialects.untested("acme.tracer", "2.2")
    assert not dialects.untested("acme.tracer", "2.1")


WORKING = """
from otel2traj.dialects import Marks, Role, SpanDialect
class Acme(SpanDialect):
    name, title, source, switch_on, leaves_out = "acme", "Acme", "https://example.org", "always", "all else"
    marks = Marks(keys=("acme.kind",))
    def role(self, span):
        return Role.MODEL_CALL
    def fill(self, draft, span, logs):
        {body}
ACME = Acme()
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("OTHER = 1", "cannot be loaded: AttributeError"),
        ("ACME = 7", "is no dialect but of type int"),
        (WORKING.format(body="pass").replace("ACME = Acme()", "ACME = Acme"), "is the class Acme"),
        (WORKING.format(body="pass").replace('"always"', '""'), "lacks 'switch_on'"),
        (WORKING.format(body="pass").replace("Marks(keys=", "dict(keys="), "has marks of type dict"),
        (WORKING.format(body="pass").replace('"acme", "Acme"', '"litellm", "Acme"'), "has the name 'litellm'"),
        (WORKING.format(body="pass").replace("SpanDialect):", "Declaration):").replace("Marks,", "Declaration, Marks,")
         .replace("SpanDialect\n", "SpanDialect  # noqa\n"), "lacks confirms, recognises"),
    ],
)  # fmt: skip
def test_a_broken_plugin_is_an_error_that_names_the_distribution(
    install: Install, trace: Path, code: str, told: str
) -> None:
    install(code)
    with pytest.raises(PluginError) as caught:
        otel2traj.load(trace)
    assert told in str(caught.value)
    assert "acme-otel 1.0" in str(caught.value)
    assert "uninstall" in str(caught.value.hint)
    assert caught.value.exit_code == 2


def test_one_that_raises_on_a_span_names_the_span_too(install: Install, trace: Path) -> None:
    install(WORKING.format(body='draft.attributes["no.such.key"]'))
    with pytest.raises(PluginError, match=r"'acme' of acme-otel 1\.0 fails on trace\.json:\d+: KeyError"):
        otel2traj.load(trace)


def test_log_records_have_dialects_of_other_packages_too(install: Install, trace: Path) -> None:
    code = """
from otel2traj.dialects import Declaration
class Logs(Declaration):
    name, title, source, switch_on, leaves_out = "acme_logs", "Acme", "https://example.org", "always", "all else"
    def recognises(self, log):
        return log.scope_name == "acme"
    def classify(self, log):
        return None
    def read(self, logs):
        raise NotImplementedError
ACME = [Logs()]
"""
    install(code)
    assert dialects.known().logs.names()[0] == "acme_logs"
    assert dialects.known().spans.names() == dialects.DIALECTS.names()
