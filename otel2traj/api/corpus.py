"""Corpora: many attempts imported, derived, checked, sealed, and checked again by somebody else."""

from __future__ import annotations

from pathlib import Path

from ..corpus.deriving import Derived, derive
from ..corpus.exports import bagit, in_toto, ro_crate
from ..corpus.importing import Imported, ImportOptions
from ..corpus.importing import import_root as _import
from ..corpus.limits import Limits
from ..corpus.profile import SourceProfile, read_profile
from ..corpus.recomputing import Recomputed
from ..corpus.recomputing import recompute as _recompute
from ..corpus.sealing import Sealed, package
from ..corpus.summary import info
from ..corpus.validating import Validated, validate
from ..corpus.verifying import Verified, verify
from ..corpus.withholding import purge


def import_root(
    root: Path,
    corpus: Path,
    *,
    jobs: int = 1,
    name: str | None = None,
    profile: Path | None = None,
    withhold_raw: bool = False,
    limits: Limits | None = None,
) -> Imported:
    """Import a directory, an archive or a trace file into the working tree of a corpus; goes on where it stopped.

    `profile` is a TOML file with redaction and withholding rules. Raises `RefusedError` for a sealed corpus.
    """
    options = ImportOptions(
        jobs, name, _profile(profile), limits if limits is not None else Limits(), withhold_raw=withhold_raw
    )
    return _import(root, corpus, options)


def recompute(corpus: Path, out: Path | None = None, *, jobs: int = 1, profile: Path | None = None) -> Recomputed:
    """Derive a corpus again from its raw store and compare byte by byte."""
    return _recompute(corpus, out, jobs, _profile(profile))


def _profile(file: Path | None) -> SourceProfile | None:
    return None if file is None else read_profile(file)


__all__ = [
    "Derived",
    "Imported",
    "Limits",
    "Recomputed",
    "Sealed",
    "Validated",
    "Verified",
    "bagit",
    "derive",
    "import_root",
    "in_toto",
    "info",
    "package",
    "purge",
    "recompute",
    "ro_crate",
    "validate",
    "verify",
]
