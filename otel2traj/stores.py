"""Files behind URLs, by fsspec (https://filesystem-spec.readthedocs.io/): evidence comes to a folder of this machine,
results go out whole. Credentials are fsspec's own matter: its configuration, the environment, the cloud's own files.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from .errors import EvidenceError, Otel2TrajError, RefusedError, UsageError
from .files import PREFIX, cannot_write

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://|::)")
_LOCAL: Final = frozenset({"file", "local"})
_WHOLE: Final = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "tos", "memory"})
"""Protocols whose every write appears whole or not at all; elsewhere a file is written beside and renamed."""
_FACTS: Final = (
    "size", "ETag", "etag", "md5", "md5Hash", "crc32c", "CRC", "generation", "VersionId", "version_id", "mtime",
    "LastModified", "last_modified", "updated", "modified", "created", "date_time",
)  # fmt: skip
"""What listings of stores and archives say of a file that changes with it."""
_MOST_FILES: Final = 1_000_000
_MOST_BYTES: Final = 64 << 30
_LINK: Final = 0o120000


def is_url(text: str) -> bool:
    """Whether a path is one of a store: `s3://…`, `zip://…::s3://…`."""
    return "://" in text and _URL.match(text) is not None


def shown(url: str) -> str:
    """The URL without what may be secret in it."""
    return re.sub(r"(://)[^/@:]*(:[^/@]*)?@", r"\1", url).split("?", 1)[0]


def filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises `UsageError` where fsspec or the package of the protocol is missing, `EvidenceError` where it cannot be
    opened.
    """
    try:
        core = import_module("fsspec.core")
    except ImportError as err:
        raise UsageError("URLs need fsspec, which is not installed", hint="pip install 'otel2traj[cloud]'") from err
    first = _URL.match(url)
    if first is None or first[1] in _LOCAL:
        raise UsageError(f"{shown(url)} is a path of this machine", hint="give the path itself")
    try:
        found, path = core.url_to_fs(url)
    except ImportError as err:
        raise UsageError(f"{first[1]}:// needs another package: {err}", hint="install the one that it names") from err
    except ValueError as err:
        raise UsageError(f"{shown(url)}: {err}", hint="see the protocols of fsspec") from err
    except Exception as err:
        raise cannot_read(url, err) from err
    return found, path.rstrip("/")


def cannot_read(url: str, err: Exception) -> EvidenceError:
    return EvidenceError(f"cannot read {shown(url)}: {err or type(err).__name__}")


def name_of(url: str) -> str:
    """What the last part of a URL is called: of an archive that is taken whole, the name of the archive."""
    for part in url.split("::"):
        inner = _URL.sub("", part, count=1).split("?", 1)[0].rstrip("/")
        if inner:
            return inner.rpartition("/")[2]
    return "store"


def listing(url: str) -> dict[str, Mapping[str, Any]]:
    """Every file at or below a URL: its name below, in which "" is the URL itself -> what the store says of it.

    Raises `EvidenceError` where nothing is there or a name leaves the tree.
    """
    found, path = filesystem(url)
    try:
        told: dict[str, Mapping[str, Any]] = found.find(path, detail=True)
        if not told and found.isfile(path):
            told = {path: found.info(path)}
    except Exception as err:
        raise cannot_read(url, err) from err
    if not told:
        raise EvidenceError(f"there is nothing at {shown(url)}", hint="give an attempt or a trace file")
    base = path.lstrip("/")
    out: dict[str, Mapping[str, Any]] = {}
    for key, info in told.items():
        bare = key.lstrip("/")
        if bare != base and base and not bare.startswith(base + "/"):
            raise RefusedError(f"{bare!r} lies outside {shown(url)}")
        name = "" if bare == base else bare[len(base) :].lstrip("/") if base else bare
        if any(part in ("", ".", "..") for part in name.split("/")) and name:
            raise RefusedError(f"{name!r} leaves {shown(url)}", hint="evidence must lie inside the attempt")
        out[name] = {**info, "key": key}
    return dict(sorted(out.items()))


def facts(name: str, info: Mapping[str, Any]) -> str:
    """What a listing says of a file, as one line."""
    return "\0".join([name, *(f"{key}={info[key]}" for key in _FACTS if info.get(key) is not None)]) + "\n"


def link_of(info: Mapping[str, Any]) -> bool:
    """Whether an entry is a symbolic link, as archives (ZIP, tar) and SFTP tell it."""
    mode = info.get("external_attr")
    return bool(
        info.get("type") == "link"
        or info.get("islink")
        or info.get("linkname")
        or (isinstance(mode, int) and mode >> 16 & 0o170000 == _LINK)
    )


def fetch(url: str, files: Mapping[str, Mapping[str, Any]], into: Path) -> None:
    """Bring files of a `listing` below `into`. A link comes as a link that leads nowhere, and is refused wherever one
    on a disk is. Raises `EvidenceError`."""
    if len(files) > _MOST_FILES or sum(int(info.get("size") or 0) for info in files.values()) > _MOST_BYTES:
        raise EvidenceError(f"{shown(url)} holds more than {_MOST_FILES} files or {_MOST_BYTES >> 30} GiB")
    found, _ = filesystem(url)
    folders = {str(Path(name).parents[up]) for name in files for up in range(len(Path(name).parents) - 1)}
    remote: list[str] = []
    local: list[str] = []
    for name, info in files.items():
        target = into / name if name else into
        if name in folders:  # how stores mark an empty folder
            if info.get("size"):
                raise EvidenceError(f"{name!r} of {shown(url)} is a file and a folder")
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if link_of(info):
                target.symlink_to(into / f"{PREFIX}link-that-is-not-followed")
                continue
        except (OSError, ValueError) as err:
            raise cannot_read(url, err) from err
        remote.append(info["key"])
        local.append(str(target))
    try:
        if remote:
            found.get(remote, local)
    except Exception as err:
        raise cannot_read(url, err) from err
    for key, place in zip(remote, local, strict=True):
        if not os.path.isfile(place):
            raise EvidenceError(f"{key!r} of {shown(url)} did not come")


@contextmanager
def local(path: str | Path) -> Iterator[Path]:
    """A path of this machine as it is; what is at a URL, as a copy under the same name while the context lasts."""
    if isinstance(path, Path) or not is_url(path):
        yield Path(path)
        return
    files = listing(path)
    with _standing_for(path) as target:
        fetch(path, files, target)
        yield target


_standing: Final[dict[str, str]] = {}
"""Paths of this machine that stand for URLs now -> the URLs, as they are shown."""


@contextmanager
def _standing_for(url: str) -> Iterator[Path]:
    """A path in a folder of its own, under the name of a URL. Errors that name it name the URL."""
    with tempfile.TemporaryDirectory(prefix="otel2traj-") as folder:
        path = Path(folder) / name_of(url)
        _standing[str(path)] = shown(url)
        try:
            yield path
        except Otel2TrajError as err:
            err.args = tuple(as_given(one) if isinstance(one, str) else one for one in err.args)
            raise
        finally:
            del _standing[str(path)]


def as_given(text: str) -> str:
    """A text in which paths that stand for URLs are those URLs."""
    for path, url in _standing.items():
        text = text.replace(path, url)
    return text


def put(url: str, file: Path) -> None:
    """A local file becomes the one at a URL, whole or not at all. Raises `WriteError`."""
    found, path = filesystem(url)
    try:
        if not _WHOLE & set(_protocols(found)):
            found.makedirs(path.rpartition("/")[0], exist_ok=True)
            beside = f"{path.rpartition('/')[0]}/{PREFIX}{secrets.token_hex(8)}.tmp"
            found.put_file(str(file), beside)
            found.mv(beside, path)
        else:
            found.put_file(str(file), path)
    except Exception as err:
        raise cannot_write(shown(url), err if isinstance(err, OSError) else OSError(0, str(err))) from err


@contextmanager
def target(url: str) -> Iterator[Path]:
    """A path of this machine to write a file or a folder to; what is there in the end, and what was written beside it,
    goes to the URL, each file whole. Raises `WriteError`, and `UsageError` at once where nothing could be written."""
    filesystem(url)
    with _standing_for(url) as path:
        yield path
        parent = url.rstrip("/")[: -len(path.name)]
        for made in sorted(path.parent.rglob("*")):
            if made.is_file():
                put(parent + made.relative_to(path.parent).as_posix(), made)


def _protocols(found: Any) -> tuple[str, ...]:
    told = found.protocol
    return (told,) if isinstance(told, str) else tuple(told)
