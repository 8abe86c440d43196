"""Archives are read in memory and within limits; what could hurt is a row with its reason, and never a file."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.corpus.archives import Archive, archive_kind
from otel2traj.corpus.limits import Limits

Files = Iterable[tuple[str, bytes]]


def tar_bytes(files: Files, extra: Iterable[tarfile.TarInfo] = ()) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return out.getvalue()


def zip_bytes(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def scanned(folder: Path, data: bytes, limits: Limits | None = None) -> dict[str, str | None]:
    """Path -> reason, of everything but directories."""
    file = folder / "archive"
    file.write_bytes(data)
    kind = archive_kind(file)
    assert kind is not None
    opened = Archive(file, kind, limits if limits is not None else Limits())
    try:
        return {member.path: member.reason for member in opened.scan()}
    finally:
        opened.close()


GOOD = [("a/run.json", b"{}"), ("a/steps/0001/otel.jsonl", b"x" * 5000)]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("zip", zip_bytes(GOOD)),
        ("tar", tar_bytes(GOOD)),
        ("tar+gzip", gzip.compress(tar_bytes(GOOD))),
        ("tar+zstd", zstandard.compress(tar_bytes(GOOD))),
    ],
    ids=["zip", "tar", "tar+gzip", "tar+zstd"],
)
def test_forms_are_told_by_content_and_every_member_is_read(tmp_path: Path, kind: str, data: bytes) -> None:
    file = tmp_path / "name-says-nothing"
    file.write_bytes(data)
    assert archive_kind(file) == kind
    opened = Archive(file, kind, Limits())
    members = opened.scan()
    assert [(one.path, one.size, one.reason) for one in members] == [
        ("a/run.json", 2, None),
        ("a/steps/0001/otel.jsonl", 5000, None),
    ]
    assert [opened.read(one.ordinal) for one in members] == [data for _, data in GOOD]
    opened.close()
    assert sorted(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"\x28\xb5\x2f\xfdjunk", gzip.compress(b"{}\n" * 900, mtime=0), b"PK"],
    ids=["empty", "json", "no zstd", "gzip of lines", "no zip"],
)
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    assert archive_kind(tmp_path / "x") is None


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../evil", "C:\\evil", "a\\..\\evil", "nul\x01"])
@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_names_that_leave_the_directory(tmp_path: Path, make: type, name: str) -> None:
    found = scanned(tmp_path, make([(name, b"x"), ("good.json", b"{}")]))
    assert found.pop("good.json") is None
    assert list(found.values()) == ["unsafe_name"]


def test_directories_are_no_members(tmp_path: Path) -> None:
    folder = tarfile.TarInfo("./")
    folder.type = tarfile.DIRTYPE
    assert scanned(tmp_path, tar_bytes([("./a", b"1")], [folder])) == {"a": None}
    assert scanned(tmp_path, zip_bytes([("d/", b""), ("../", b""), ("d/a", b"1")])) == {"d/a": None}


def test_links_and_devices_in_a_tar(tmp_path: Path) -> None:
    extra = []
    for name, kind in (("s", tarfile.SYMTYPE), ("h", tarfile.LNKTYPE), ("d", tarfile.CHRTYPE), ("f", tarfile.FIFOTYPE)):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        extra.append(info)
    assert scanned(tmp_path, tar_bytes([("a", b"1")], extra)) == {
        "a": None,
        "s": "symbolic_link",
        "h": "symbolic_link",
        "d": "special_file",
        "f": "special_file",
    }


def test_a_link_in_a_zip(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert scanned(tmp_path, out.getvalue()) == {"link": "symbolic_link"}


def test_one_member_beyond_its_limit_and_an_archive_beyond_its_own(tmp_path: Path) -> None:
    bomb = [("small", b"x"), ("big", b"\0" * 50_000), ("after", b"y")]
    for data in (zip_bytes(bomb), tar_bytes(bomb)):
        assert scanned(tmp_path, data, Limits(member_bytes=10_000)) == {
            "small": None,
            "big": "too_large",
            "after": None,
        }
        found = scanned(tmp_path, data, Limits(total_bytes=20_000))
        assert found == {"small": None, "big": "archive_too_large"}, "what comes after is not read"


def test_what_is_refused_counts_against_the_archive(tmp_path: Path) -> None:
    many = [(f"big{number}", b"\0" * 9_000) for number in range(50)]
    found = scanned(tmp_path, zip_bytes(many), Limits(member_bytes=1_000, total_bytes=30_000))
    assert list(found.values()) == ["too_large"] * 3 + ["archive_too_large"]


@pytest.mark.parametrize("press", [gzip.compress, zstandard.compress])
def test_a_compressed_bomb_is_inflated_to_the_limit_and_no_further(tmp_path: Path, press: type) -> None:
    data = press(tar_bytes([("good", b"x"), ("bomb", b"\0" * 40_000_000)]))
    assert len(data) < 200_000
    found = scanned(tmp_path, data, Limits(total_bytes=1 << 20))
    assert found.pop("good") is None
    assert set(found.values()) <= {"archive_too_large", "damaged_member"}
    assert "archive_too_large" in found.values()


def test_a_member_that_lies_about_its_size(tmp_path: Path) -> None:
    data = bytearray(zip_bytes([("a", b"\0" * 9_000)]))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (5).to_bytes(4, "little")
    assert scanned(tmp_path, bytes(data)) == {"a": "damaged_member"}


def test_too_many_members(tmp_path: Path) -> None:
    files = [(f"f{number}", b"") for number in range(10)]
    found = scanned(tmp_path, tar_bytes(files), Limits(members=4))
    assert list(found.values()) == [None] * 4 + ["too_many_members"]


def test_twins_conflicts_and_archives_in_archives(tmp_path: Path) -> None:
    files = [
        ("a", b"1"),
        ("a", b"2"),
        ("b", b"3"),
        ("b/c", b"4"),
        ("in.zip", zip_bytes(GOOD)),
        ("in.tar", tar_bytes(GOOD)),
    ]
    (tmp_path / "x").write_bytes(tar_bytes(files))
    opened = Archive(tmp_path / "x", "tar", Limits())
    assert [(one.path, one.reason) for one in opened.scan()] == [
        ("a", None),
        ("a", "duplicate_name"),
        ("b", "name_conflict"),
        ("b/c", None),
        ("in.zip", "nested_archive"),
        ("in.tar", "nested_archive"),
    ]
    opened.close()


def test_an_encrypted_member_and_a_compression_of_another_kind(tmp_path: Path) -> None:
    data = bytearray(zip_bytes([("a", b"x")]))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    assert scanned(tmp_path, bytes(data)) == {"a": "encrypted"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("b", b"x")
    assert scanned(tmp_path, out.getvalue()) == {"b": "unsupported_compression"}


def test_a_cut_tar_gives_what_came_before(tmp_path: Path) -> None:
    data = tar_bytes([("a", b"1"), ("b", b"2" * 3000)])
    found = scanned(tmp_path, data[:2000])
    assert found == {"a": None, "b": "damaged_member"}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_damage_is_a_reason_and_never_an_exception(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = data.draw(st.sampled_from([zip_bytes(GOOD), tar_bytes(GOOD), zstandard.compress(tar_bytes(GOOD))]))
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(broken)))
    file = tmp_path_factory.mktemp("fuzz") / "x"
    file.write_bytes(bytes(broken[:cut]))
    kind = archive_kind(file)
    if kind is not None:
        opened = Archive(file, kind, Limits(total_bytes=1 << 20))
        for member in opened.scan():
            assert member.reason is not None or member.sha256 is not None
        opened.close()
