"""Requests are kept as they were sent, so every writer meets shapes nobody planned for; none of them may raise."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.auditors.matching.marks import MarkSink
from otel2traj.canonical import loads
from otel2traj.model.trajectory import StepKind
from otel2traj.writers import WRITERS
from otel2traj.writers.redaction import Redacting, read_profile
from tests.factory import play, step, tool_log, trajectory

_KEYS = (
    "role content parts type text tool_calls id function name arguments input output tool_call_id call_id response "
    "functionCall functionResponse toolUse toolResult toolUseId thinking summary thought source image_url truncated "
    "sha256 functionDeclarations toolSpec inputSchema json parameters properties required description reasoning usage "
    "input_tokens finish_reason refusal choices system messages tools model url reasoning_content"
)
_WORDS = (
    "user assistant tool system text tool_use tool_result function_call function_call_output reasoning image file "
    "message refusal item_reference thinking stop {} [1] {cut"
)
KEYS, WORDS = st.sampled_from(_KEYS.split()), st.sampled_from(_WORDS.split())
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.just(1.5) | WORDS
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=6)
LIKELY = st.fixed_dictionaries({"messages": st.lists(OBJECTS, max_size=4), "tools": st.lists(OBJECTS, max_size=2)})
PROFILE = read_profile(b'[[rule]]\nname = "r"\nkeys = ["content", "name", "input"]\npattern = "t"\n')


@given(
    request=LIKELY | OBJECTS,
    output=OBJECTS,
    arguments=JSON,
    outputs=JSON,
    exit_status=st.none() | OBJECTS,
    kind=st.sampled_from(StepKind),
    metadata=st.dictionaries(st.sampled_from(["task_instruction", "agent_configuration"]), OBJECTS | JSON),
)
@settings(max_examples=250, deadline=None)
def test_no_shape_raises(
    request: Any, output: Any, arguments: Any, outputs: Any, exit_status: Any, kind: StepKind, metadata: Any
) -> None:
    log = tool_log(input_arguments=arguments, outputs=outputs, exit_status=exit_status)
    log.evidence = {"candidates": outputs, "inferred": outputs}
    one = step(1, log, kind=kind, input=request, evidence={"join": arguments, "call_id": outputs})
    one.output = output
    what = trajectory(header={"metadata": metadata})
    what.steps.append(one)
    play(what, MarkSink())
    for writer in WRITERS:
        if writer.name.startswith("parquet") or writer.name == "trajectory-ledger":
            continue
        for redacted in (False, True):
            out = BytesIO()
            sink = writer.sink(out)
            play(what, Redacting(PROFILE, sink) if redacted else sink)
            if writer.suffix == ".json":
                loads(out.getvalue())
