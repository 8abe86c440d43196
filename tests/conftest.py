"""Shared by all tests: golden files, and where the fixtures are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent


settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what was produced; read the diff, then commit")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused under CI")


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return ROOT / "fixtures"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, bytes], None]:
    """`golden(path, actual)` compares bytes with a file, or writes it under `--update-golden`."""

    def check(path: Path, actual: bytes) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(actual)
            return
        assert path.is_file(), f"no golden file {path.relative_to(ROOT)}: run pytest --update-golden and read it"
        assert actual == path.read_bytes(), f"differs from {path.relative_to(ROOT)}"

    return check
