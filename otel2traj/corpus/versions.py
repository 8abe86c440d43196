"""What a corpus was made with: software, code, rules and formats, each on its own axis."""

from __future__ import annotations

from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from typing import Final

from .. import __version__
from ..canonical import JsonObject, sha256_canonical, sha256_hex
from ..prov import versions as axes
from ..prov.rules import CATALOGUES, catalogue
from ..prov.sem import PROFILES

CORPUS: Final = "agentprov-corpus/0.2"
VIEW: Final = "trajectory-v1"
SOFTWARE: Final = f"otel2traj {__version__}"
_APART: Final = ("api", "auditors", "capture", "cli", "recording", "renderers", "stored", "writers")
"""Rooms that take no part in a derivation. One not named here does: forgetting is only too careful."""
_FILES: Final = ("canonical.py", "errors.py", "registry.py", "timestamps.py", "writers/trajectory.py")
_LOCKED: Final = ("msgspec", "orjson", "protobuf", "rfc8785", "zstandard")


@cache
def code_digest() -> str:
    """SHA-256 over the paths and digests of every file of this package that takes part in a derivation."""
    package = resources.files(__package__.partition(".")[0])
    found: list[list[str]] = []
    for room in package.iterdir():
        if room.is_dir() and room.name not in (*_APART, "__pycache__"):
            _collect(room, room.name, found)
    for name in _FILES:
        found.append([name, sha256_hex(package.joinpath(name).read_bytes())])
    return "sha256:" + sha256_canonical(sorted(found))


def _collect(folder: Traversable, prefix: str, found: list[list[str]]) -> None:
    for entry in folder.iterdir():
        path = f"{prefix}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            _collect(entry, path, found)
        elif entry.name.endswith((".py", ".toml", ".ttl")):
            found.append([path, sha256_hex(entry.read_bytes())])


def axes_of() -> JsonObject:
    """The formats and specifications, by their names in the contract."""
    return {
        "corpus": CORPUS,
        "aer": axes.AER,
        "sem": axes.SEM,
        "prov": axes.SPECIFICATION,
        "vocabulary": axes.VOCABULARY,
        "view": VIEW,
        "adapter": f"{axes.ADAPTER}@{axes.ADAPTER_VERSION}",
    }


def rule_catalogues() -> JsonObject:
    return {name: {"version": catalogue(name).version, "sha256": catalogue(name).digest} for name in CATALOGUES}


def derivation() -> JsonObject:
    """`derivation.json`: the software and its code, the libraries that write and read its bytes, and the stages."""
    return {
        "software": SOFTWARE,
        "code": code_digest(),
        "lockfile": {name: metadata.version(name) for name in _LOCKED},
        "rule_catalogues": rule_catalogues(),
        "stages": [
            {"name": "store", "from": "origin", "to": ["raw/objects", "raw/origins.jsonl", "raw/members.jsonl"]},
            {"name": "map", "from": "raw", "to": ["aer", "views/trajectory-v1"], "adapter": axes.ADAPTER},
            {"name": "annotate", "from": "aer", "to": [f"sem/{name}" for name in PROFILES.names()]},
            {"name": "derive", "from": "aer, sem", "to": ["prov"], "emit_content": False},
        ],
    }
