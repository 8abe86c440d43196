"""Every file form of the fixtures, damaged at random: a build raises nothing but this project's own errors, and
whatever is still read has its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel2traj.api.build import build_path
from otel2traj.errors import EvidenceError
from otel2traj.model.evidence import Notice, Source, SourceKind
from otel2traj.readers import READERS, open_records
from otel2traj.readers.wire_files import WIRE_READERS

RECORDS = Path(__file__).parents[2] / "fixtures" / "records"
FORMS = [name for name in (*READERS.names(), *WIRE_READERS.names()) if name != "js-console"]
profile = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("form", FORMS)
@profile
@given(data=st.data())
def test_damage_is_told_and_never_raised(tmp_path: Path, form: str, data: st.DataObject) -> None:
    files = sorted(path for path in (RECORDS / form).iterdir() if path.is_file())
    raw = bytearray(data.draw(st.sampled_from(files)).read_bytes()[: 1 << 16])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 40))] = data.draw(
            st.one_of(
                st.binary(max_size=12), st.sampled_from([b"null", b"[]", b"{}", b'"x"', b"-1", b"1e400", b"true"])
            )
        )
    file = tmp_path / "damaged.bin"
    file.write_bytes(bytes(raw))
    built = build_path(file)
    assert built
    try:
        records = open_records(Source("damaged.bin", SourceKind.OTLP_TRACES, file))
    except EvidenceError:
        return
    for record in records.records():
        if not isinstance(record, Notice):
            assert records.fetch(record.ref).ref == record.ref
    records.close()
