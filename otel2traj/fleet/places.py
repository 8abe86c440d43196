"""Paths and URLs to trees of attempts and places of data sets."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .. import stores
from ..api.runs import holds_attempt
from ..files import PREFIX
from .place import Folder, Place
from .trees import ITSELF, LocalTree, Tree


def tree_of(path: str) -> Tree:
    """The tree at a path or URL."""
    return StoreTree(path) if stores.is_url(path) else LocalTree(Path(path))


def place_of(path: str) -> Place:
    """The data set at a path or URL."""
    return Bucket(path.rstrip("/")) if stores.is_url(path) else Folder(Path(path))


@dataclass(frozen=True, slots=True)
class StoreTree:
    """A tree at a URL. One listing tells everything; the files of an attempt come when it is built."""

    url: str

    @property
    def location(self) -> str:
        return stores.shown(self.url.rstrip("/"))

    @property
    def name(self) -> str:
        return stores.name_of(self.url)

    def attempts(self) -> Iterator[tuple[str, str]]:
        files = stores.listing(self.url)
        below: dict[str, tuple[set[str], set[str]]] = {}
        for name in files:
            folder, _, last = name.rpartition("/")
            below.setdefault(folder, (set(), set()))[1].add(last)
            while folder:
                folder, _, last = folder.rpartition("/")
                below.setdefault(folder, (set(), set()))[0].add(last)
        found = _outermost(sorted(folder for folder, (names, inner) in below.items() if holds_attempt(names, inner)))
        digests = {attempt: hashlib.sha256() for attempt in found}
        for name, info in files.items():
            folder = name
            while folder:
                folder = folder.rpartition("/")[0]
                if folder in digests:
                    digests[folder].update(stores.facts(name, info).encode("utf-8", "surrogatepass"))
                    break
        for attempt, digest in digests.items():
            yield attempt or ITSELF, digest.hexdigest()[:32]
        if not found:
            whole = hashlib.sha256("".join(stores.facts(*item) for item in files.items()).encode())
            yield ITSELF, whole.hexdigest()[:32]

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        head, chained, rest = self.url.partition("::")
        inner = head.rstrip("/") if attempt == ITSELF else f"{head.rstrip('/')}/{attempt}"
        if inner.endswith((":", ":/")):  # the slashes of `zip://`
            inner = head
        elif head.endswith("://") and attempt != ITSELF:
            inner = head + attempt
        with stores.local(inner + chained + rest) as path:
            yield path


def _outermost(folders: list[str]) -> list[str]:
    out: list[str] = []
    for folder in folders:
        if not any(folder.startswith(f"{one}/") or one == "" for one in out):
            out.append(folder)
    return out


@dataclass(frozen=True, slots=True)
class Bucket:
    """A data set at a URL. Nobody is kept from writing it at the same time: see docs/how-to/fleet.md."""

    url: str

    def names(self, folder: str) -> list[str]:
        found, path = self._at(folder)
        found.invalidate_cache()
        base = self._at("")[1].rstrip("/") + "/"
        try:
            keys = found.find(path)
        except FileNotFoundError:
            return []
        except Exception as err:
            raise stores.cannot_read(self.url, err) from err
        names = (key[key.index(base.lstrip("/")) + len(base.lstrip("/")) :] for key in keys)
        return sorted(name for name in names if not name.rpartition("/")[2].startswith(PREFIX))

    def read(self, name: str) -> bytes | None:
        found, path = self._at(name)
        try:
            data: bytes = found.cat_file(path)
            return data
        except FileNotFoundError:
            return None
        except Exception as err:
            raise stores.cannot_read(self.url, err) from err

    def open(self, name: str) -> BinaryIO:
        found, path = self._at(name)
        stream: BinaryIO = found.open(path, "rb")
        return stream

    def write(self, name: str, data: bytes) -> None:
        with self.scratch() as folder:
            file = folder / "file"
            file.write_bytes(data)
            self.put(name, file)

    def put(self, name: str, file: Path) -> None:
        stores.put(f"{self.url}/{name}", file)
        file.unlink()

    def drop(self, name: str) -> None:
        found, path = self._at(name)
        with contextlib.suppress(FileNotFoundError):
            found.rm_file(path)

    def where(self, name: str) -> str:
        found, path = self._at(name)
        told: str = found.unstrip_protocol(path)
        return told

    def allow(self, base: Any) -> None:
        base.register_filesystem(stores.filesystem(self.url)[0])
        base.execute("SET allowed_directories = [?]", [self.where("")])
        base.execute("SET enable_external_access = false")
        base.execute("SET lock_configuration = true")

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="otel2traj-") as folder:
            yield Path(folder)

    @contextmanager
    def held(self) -> Iterator[None]:
        yield

    def _at(self, name: str) -> tuple[Any, str]:
        found, path = stores.filesystem(f"{self.url}/{name}")
        return found, path
