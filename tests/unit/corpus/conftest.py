"""One corpus made once; each test gets a copy of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from . import made


@pytest.fixture(scope="session")
def _working_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.working(tmp_path_factory.mktemp("working"))


@pytest.fixture(scope="session")
def _sealed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.sealed(tmp_path_factory.mktemp("sealed"))


@pytest.fixture
def working(_working_once: Path, tmp_path: Path) -> Path:
    """A derived corpus that is not sealed; `working` + `.partial` is on the disk."""
    shutil.copytree(f"{_working_once}.partial", tmp_path / "corpus.partial")
    return tmp_path / "corpus"


@pytest.fixture
def sealed(_sealed_once: Path, tmp_path: Path) -> Path:
    shutil.copytree(_sealed_once, tmp_path / "corpus")
    return tmp_path / "corpus"
