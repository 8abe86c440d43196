"""Every member of a registry has its fixture, its place in the reference, and is asked for by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.dialects import DIALECTS, LOG_DIALECTS
from otel2traj.errors import UsageError
from otel2traj.providers import PROVIDERS
from otel2traj.readers import READERS
from otel2traj.readers.wire_files import WIRE_READERS
from otel2traj.registry import Registry
from otel2traj.renderers import RENDERERS
from otel2traj.writers import WRITERS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_every_provider_has_fixtures(name: str, fixtures: Path) -> None:
    assert [case for case in (fixtures / "providers" / name).iterdir() if case.is_dir()]


@pytest.mark.parametrize("name", [*READERS.names(), *WIRE_READERS.names()])
def test_every_reader_has_fixtures_and_a_line(name: str, fixtures: Path) -> None:
    assert list((fixtures / "records" / name).iterdir())
    assert f"`{name}`" in (REFERENCE / "file-forms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*DIALECTS.names(), *LOG_DIALECTS.names()])
def test_every_dialect_has_fixtures_and_a_line(name: str, fixtures: Path) -> None:
    assert list((fixtures / "dialects" / name).glob("*/*"))
    assert f"`{name}`" in (REFERENCE / "dialects.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WRITERS.names())
def test_every_writer_has_a_line(name: str) -> None:
    assert f"`{name}`" in (REFERENCE / "exports.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "registry", [READERS, WIRE_READERS, PROVIDERS, DIALECTS, LOG_DIALECTS, WRITERS, RENDERERS], ids=lambda r: r.kind
)
def test_an_unknown_name_is_a_usage_error_that_lists_the_known(registry: Registry) -> None:  # type: ignore[type-arg]
    with pytest.raises(UsageError) as caught:
        registry.get("no such member")
    assert registry.names()[0] in str(caught.value.hint)
