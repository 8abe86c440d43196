"""What a reader sees first."""

from __future__ import annotations

from otel2traj.model.trajectory import SdkInput
from otel2traj.outcome import Ended, EndStatus, Failure, FailureKind
from otel2traj.renderers.glance import Glance, ended_words, exit_words, inputs_words, total_cost
from tests.factory import play, step, tool_log, trajectory
from tests.unit.renderers.helpers import render


def test_how_a_run_ended_in_a_mark_and_words() -> None:
    boom = Failure(FailureKind.TOOL, "RuntimeError", "boom", step_id=2)
    cut = Failure(FailureKind.LENGTH, "finish_reason length")
    told = {
        ended_words(Ended(EndStatus.SUCCEEDED)): ("✓", "succeeded", ""),
        ended_words(Ended(EndStatus.SUCCEEDED, caveat=cut)): (
            "~",
            "succeeded",
            "but the last answer: answer cut at a length limit: finish_reason length",
        ),
        ended_words(Ended(EndStatus.FAILED, reason=boom)): ("✗", "failed", "step 2: tool error: RuntimeError: boom"),
        ended_words(Ended(EndStatus.FAILED)): ("✗", "failed", "no reason was recorded"),
        ended_words(Ended(EndStatus.OTHER, "half done")): ("✗", "half done", "no reason was recorded"),
        ended_words(Ended(EndStatus.NOT_RECORDED, reason=boom)): (
            "✗",
            "end not recorded, last error",
            "step 2: tool error: RuntimeError: boom",
        ),
        ended_words(Ended(EndStatus.NOT_RECORDED)): (
            "?",
            "end not recorded",
            "no result and no error says how it ended",
        ),
    }
    for found, wanted in told.items():
        assert found == wanted


def test_tokens_keep_nothing_said_and_zero_apart() -> None:
    glance = Glance()
    glance.add(step(1))
    assert glance.tokens_in is None
    glance.add(step(2, output={"usage": {"input_tokens": 0, "output_tokens": True}}))
    assert glance.tokens_in == 0
    assert glance.tokens_out is None


def test_exit_words() -> None:
    assert exit_words(tool_log()) is None
    assert exit_words(tool_log(exit_status={"exitCode": 0, "signal": None})) == "exit 0"
    assert exit_words(tool_log(exit_status={"exitCode": None, "signal": "SIGKILL"})) == "signal SIGKILL"
    assert exit_words(tool_log(exit_status={})) == "exit status without a code"


def test_costs_are_added_and_calls_without_a_price_are_counted() -> None:
    usage = {"input_tokens": 900, "output_tokens": 30}
    known = [step(n, model="gpt-4o", output={"text": "x", "usage": usage}) for n in (1, 2)]
    glance = Glance()
    play(trajectory(*known), _Played(glance))
    assert total_cost(glance) == "$0.0051"
    other = Glance()
    play(trajectory(*known, step(3, model="no-such", output={"text": "x", "usage": usage}), step(4)), _Played(other))
    assert total_cost(other) == "$0.0051 and 2 of 4 calls without a price"
    none = Glance()
    play(trajectory(step(1)), _Played(none))
    assert total_cost(none) is None
    shown = render("text", trajectory(*known))
    assert "cost $0.0051" in shown
    assert "tokens 900 in, 30 out · $0.00255" in shown


class _Played:
    def __init__(self, glance: Glance) -> None:
        self.begin, self.step, self.end = glance.begin, glance.add, glance.end


def test_inputs_that_did_not_end_alike_are_told_with_the_answers_own() -> None:
    def glance(*words: str | None) -> Glance:
        found = Glance()
        items = [
            SdkInput(f"{n:04d}", "i", "Do it.", None, {"status": word} if word else None, [])
            for n, word in enumerate(words, 1)
        ]
        run = trajectory(step(1, output={"text": "Done.", "tool_calls": []}), inputs=items)
        found.begin(run.header)
        found.add(run.steps[0])
        found.end(run.summary)
        return found

    assert inputs_words(glance("failed", "succeeded").outcome) == "input 0001 failed, 0002 succeeded"
    assert inputs_words(glance("succeeded", None).outcome) == "input 0001 succeeded, 0002 not recorded"
    assert inputs_words(glance("failed", *["succeeded"] * 4).outcome) == "1 input failed, 4 inputs succeeded"
    assert inputs_words(glance("failed", "failed").outcome) is None
    assert glance("failed").answer_of is None
    assert glance("failed", "succeeded").answer_of == "0001"
