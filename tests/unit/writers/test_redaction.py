"""What a profile names is gone, everything else stays, and the report can be checked."""

from __future__ import annotations

import copy
import hashlib
from io import BytesIO

import pytest

from otel2traj.canonical import dumps, loads
from otel2traj.errors import UsageError
from otel2traj.model.codec import step_to_json
from otel2traj.model.trajectory import Collect
from otel2traj.writers import WRITERS
from otel2traj.writers.redaction import Redacting, read_profile
from tests.factory import play, step, tool_log, trajectory
from tests.unit.writers.run import rich, written

PROFILE = b"""
name = "mail and secrets"
[[rule]]
name = "mail"
pattern = '[a-z]+@[a-z.]+'
replacement = "[MAIL]"
[[rule]]
name = "secret"
keys = ["*password*", "token"]
"""


def test_texts_and_keys_everywhere() -> None:
    arguments = {"q": "bob@example.org", "DB_Password": "hunter2", "deep": [{"token": ["a", "b"]}]}
    call = {"id": "call_1", "function": {"name": "f", "arguments": '{"password":"hunter2","to":"bob@example.org"}'}}
    one = step(1, tool_log(input_arguments=arguments, outputs='{"token": "t0ps3cret"}'))
    one.input["messages"].append({"role": "assistant", "tool_calls": [call]})
    redacting = Redacting(read_profile(PROFILE), collect := Collect())
    play(trajectory(one), redacting)
    text = dumps(step_to_json(collect.trajectory.steps[0])).decode()
    for secret in ("hunter2", "bob@example.org", "t0ps3cret"):
        assert secret not in text
    log = collect.trajectory.steps[0].tool_logs[0]
    assert log.input_arguments["q"] == "[MAIL]"  # type: ignore[index,call-overload]
    assert redacting.counts == {"mail": 3, "secret": 6}


def test_the_form_stays_and_the_original_is_untouched() -> None:
    original = rich()
    before = copy.deepcopy(original)
    profile = read_profile(b'[[rule]]\nname = "all"\npattern = "[a-z0-9]+"\nreplacement = "#"\n')
    redacting = Redacting(profile, collect := Collect())
    play(original, redacting)
    assert original == before
    for clean, kept in zip(collect.trajectory.steps, original.steps, strict=True):
        assert (clean.step_id, clean.kind, clean.status) == (kept.step_id, kept.kind, kept.status)
        assert clean.evidence == kept.evidence
    assert collect.trajectory.summary.sources == original.summary.sources
    assert collect.trajectory.header.extra["redacted"]["profile_sha256"] == profile.sha256


def test_token_counts_are_no_tokens() -> None:
    profile = read_profile(b'[[rule]]\nname = "secret"\nkeys = ["*token*"]\n')
    redacting = Redacting(profile, collect := Collect())
    play(rich(), redacting)
    assert collect.trajectory.steps[0].output["usage"] == rich().steps[0].output["usage"]
    assert redacting.counts == {"secret": 0}


def test_the_report_names_the_original_by_digest() -> None:
    redacting = Redacting(read_profile(PROFILE), WRITERS.get("atif").sink(BytesIO()))
    play(rich(), redacting)
    report = redacting.report()
    digest = hashlib.sha256(written("steps-jsonl", rich())).hexdigest()
    assert report["original"] == {"form": "steps-jsonl", "sha256": digest}
    assert report["profile"]["sha256"] == hashlib.sha256(PROFILE).hexdigest()
    assert report["replacements"] == sum(rule["replacements"] for rule in report["rules"]) == 2


def test_every_format_takes_a_redacted_run() -> None:
    for writer in WRITERS:
        if not writer.name.startswith("parquet"):
            out = BytesIO()
            play(rich(), Redacting(read_profile(PROFILE), writer.sink(out)))
            assert b"bob@example.org" not in out.getvalue()


def test_json_text_without_a_named_key_stays_byte_for_byte() -> None:
    spaced = '{"a":  1, "b": "x"}'
    redacting = Redacting(read_profile(PROFILE), collect := Collect())
    play(trajectory(step(1, tool_log(outputs=spaced))), redacting)
    assert collect.trajectory.steps[0].tool_logs[0].outputs == spaced
    assert loads(spaced) == {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"rule = 3", "no [[rule]]"),
        (b"", "no [[rule]]"),
        (b"[[rule]]\npattern = 'x'", "no name"),
        (b"[[rule]]\nname = 'x'", "neither keys nor a pattern"),
        (b"[[rule]]\nname = 'x'\npattern = '('", "'x'"),
        (b"[[rule]]\nname = 'x'\npattern = 'y'\nreplacement = '\\1'", "'x'"),
        (b"[[rule]]\nname = 'x'\nkey = ['y']", "unknown keys: key"),
        (b"[[rule]]\nname = 'x'\nkeys = 'y'", "list"),
        (b"[[rule]]\nname = 'x'\npattern = 'y'\n[[rule]]\nname = 'x'\npattern = 'z'", "one name"),
        (b"other = 1\n[[rule]]\nname = 'x'\npattern = 'y'", "unknown keys: other"),
        (b"\xff", "no TOML"),
    ],
)
def test_a_profile_that_would_not_do_what_it_says_is_refused(text: bytes, word: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_profile(text)
    assert word in str(caught.value)
