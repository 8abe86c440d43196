"""What a reader sees first."""

from __future__ import annotations

from otel2traj.outcome import Ended, EndStatus, Failure, FailureKind
from otel2traj.renderers.glance import Glance, ended_words, exit_words
from tests.factory import step, tool_log


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
