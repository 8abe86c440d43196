"""Which files are one attempt, one folder of traces, or nothing; and that each belongs to exactly one candidate."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from otel2traj.corpus.candidates import find_candidates
from otel2traj.corpus.listing import Entry


def found(*paths: str) -> dict[tuple[str, str], tuple[list[str], str | None]]:
    out = find_candidates([Entry(path) for path in sorted(paths)])
    return {(one.path, one.kind): ([entry.path for entry in one.files], one.reason) for one in out}


def test_an_attempt_holds_all_that_lies_in_it() -> None:
    assert found("a/run.json", "a/steps/0001/otel.jsonl", "a/steps/0001/run.json", "a/x.bin") == {
        ("a", "attempt"): (["run.json", "steps/0001/otel.jsonl", "steps/0001/run.json", "x.bin"], None)
    }


def test_the_root_itself_may_be_the_attempt() -> None:
    assert found("evaluation/inputs/0001/otel.jsonl", "network.jsonl") == {
        (".", "attempt"): (["evaluation/inputs/0001/otel.jsonl", "network.jsonl"], None)
    }


def test_loose_traces_of_one_directory_belong_together() -> None:
    assert found("t/a.jsonl", "t/b.json.zst", "u/c.binpb", "u/readme.md") == {
        ("t", "folder"): (["a.jsonl", "b.json.zst"], None),
        ("u", "folder"): (["c.binpb"], None),
        ("u/readme.md", "file"): (["u/readme.md"], "not_a_trace"),
    }


def test_derived_trajectories_are_no_evidence() -> None:
    out = found("a/run.json", "a/trajectory.json", "b/expected/trajectory.json", "c/run.trajectory.json")
    assert out[("a", "attempt")] == (["run.json"], None)
    assert {key for key, (_, reason) in out.items() if reason == "derived_output"} == {
        ("a/trajectory.json", "file"),
        ("b/expected/trajectory.json", "file"),
        ("c/run.trajectory.json", "file"),
    }


def test_a_refused_entry_is_a_candidate_of_its_own() -> None:
    entries = [Entry("a/run.json"), Entry("a/steps", reason="symbolic_link"), Entry("p", reason="special_file")]
    out = {(one.path, one.kind): one.reason for one in find_candidates(entries)}
    assert out == {("a", "attempt"): None, ("a/steps", "link"): "symbolic_link", ("p", "file"): "special_file"}


_NAMES = st.sampled_from(["steps", "a", "b", "run.json", "x.jsonl", "evaluation", "trajectory.json", "t.zip"])


@given(st.sets(st.lists(_NAMES, min_size=1, max_size=4).map("/".join), max_size=12))
def test_every_file_is_in_exactly_one_candidate(paths: set[str]) -> None:
    assume(not any(other.startswith(f"{path}/") for path in paths for other in paths))
    candidates = find_candidates([Entry(path) for path in sorted(paths)])
    placed = []
    for one in candidates:
        prefix = "" if one.reason is not None or one.path == "." else f"{one.path}/"
        placed += [prefix + entry.path for entry in one.files]
    assert sorted(placed) == sorted(paths)
    assert [one.key for one in candidates] == sorted(one.key for one in candidates)
