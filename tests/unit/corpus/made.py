"""Small corpora from shipped attempts, and the bytes of a directory as one value."""

from __future__ import annotations

import shutil
from pathlib import Path

from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import ImportOptions, import_root
from otel2traj.corpus.sealing import package

ATTEMPTS = Path(__file__).parents[3] / "fixtures" / "attempts"
SOME = (
    "abb-02-parallel-tools",
    "abb-15a-broken-line",
    "abb-17a-acp",
    "abb-20c-steps-symlink",
    "pydanticai-builtin-twins",
)


def runs(folder: Path, names: tuple[str, ...] = SOME) -> Path:
    """A directory `runs` with copies of shipped attempts."""
    root = folder / "runs"
    for name in names:
        shutil.copytree(ATTEMPTS / name / "attempt", root / name)
    return root


def working(folder: Path, names: tuple[str, ...] = SOME, options: ImportOptions | None = None) -> Path:
    """A corpus that is imported and derived, not sealed; returns its name without `.partial`."""
    root = folder / "runs"
    import_root(root if root.exists() else runs(folder, names), folder / "corpus", options)
    derive(folder / "corpus")
    return folder / "corpus"


def sealed(folder: Path, names: tuple[str, ...] = SOME) -> Path:
    corpus = working(folder, names)
    package(corpus)
    return corpus


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a directory, by relative path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
