"""What one dialect says of one span, field by field."""

from __future__ import annotations

import pytest

from otel2traj.dialects.draft import TEXTS, Draft
from otel2traj.model.reading import Role


@pytest.mark.parametrize("field", sorted(TEXTS))
@pytest.mark.parametrize("value", [[], {}, 7, True, ["id"]])
def test_a_value_of_another_kind_is_a_notice_and_the_field_stays_open(field: str, value: object) -> None:
    draft = Draft("some_dialect", {}, Role.MODEL_CALL)
    draft.put(field, value)
    assert getattr(draft.reading, field) is None
    assert field not in draft.reading.said_by
    (notice,) = draft.reading.notices
    assert notice.code == "unreadable_value"
    assert f"some_dialect: {field}" in notice.message
    draft.put(field, "a text")
    assert getattr(draft.reading, field) == "a text"
