"""Every code a warning of a trajectory can have. The list is closed: docs/reference/warnings.md is made from it."""

from __future__ import annotations

from typing import Final

LOSSY: Final = frozenset(
    (
        "ambiguous_link", "conversations_may_be_one", "dropped_attributes", "empty_source",
        "file_evidence_incomplete", "incomplete_response", "missing_payload",
        "missing_response", "missing_result",
        "missing_source", "second_source", "unread_folder", "observation_error", "otel_incomplete", "replay_incomplete",
        "source_grew", "source_shrank", "symlink_refused", "truncated_container", "truncated_content",
        "truncated_record", "unfinished_span", "unrecorded_model_calls", "unread_body", "unreadable_document",
        "unreadable_line", "unreadable_record", "unreadable_source", "unreadable_time",
    )
)  # fmt: skip
"""Codes that never stand in a complete trajectory; of the others it depends on the case."""

CODES: Final[dict[str, str]] = {
    "acp_update_without_start": "An ACP tool call update whose `tool_call` was never recorded; no start is made up.",
    "ambiguous_link": "A tool call id with more than one emitter or more than one execution in one Input.",
    "ambiguous_span_id": "A wire call names a span id that stands in more than one place; it is not joined.",
    "call_in_another_input": "A tool call and an execution bear one id in two Inputs of a conversation; no link"
    " crosses Inputs.",
    "calls_may_stand_twice": "Wire calls and model spans that no identifier joins: some may be one call told twice, so"
    " that steps, tokens and costs may be counted twice.",
    "capture_incomplete": "The harness says that a part of its own record of an Input is not complete.",
    "contradicted_join": "A wire call names a span that tells of another call; they are two steps.",
    "conversations_may_be_one": "Two conversations bear one id of a call or a response, or one holds spans and the"
    " other wire calls that name none: they may be one run, told in two trajectories.",
    "dialects_disagree": "Two dialects read different identifiers from one span; the first in precedence stands.",
    "dropped_attributes": "The SDK dropped attributes or events of a span at a limit.",
    "duplicate_span": "One span id was recorded twice with different content; the first stands.",
    "empty_source": "The file of a recorder holds no record.",
    "foreign_dialect": "A dialect of another package, which is installed, read spans of this run.",
    "foreign_file": "A file of a folder of traces that holds no spans, log records or wire records; passed over.",
    "file_evidence_incomplete": "The recorder says that not all file changes were captured.",
    "incomplete_response": "A response breaks off before its end, or its body cannot be read.",
    "lossy_form": "A file in a form that cannot hold all of a span; what it loses is named.",
    "metric_left_out": "A recorded metric that is no resource telemetry of a known kind.",
    "missing_id": "A span or log record without an id that it must have.",
    "missing_payload": "A span names a payload file that is not there.",
    "missing_request": "A wire call without a recorded request.",
    "missing_response": "A wire call without a recorded response or error.",
    "missing_result": "An Input without a readable `result.json`.",
    "missing_source": "A recorder of the harness wrote a file, and the interceptor, which runs beside it, none.",
    "observation_error": "The interceptor could not record something.",
    "otel_incomplete": "The span exporter says that its export is incomplete.",
    "parent_cycle": "Recorded parents lead in a circle; none of its links is used.",
    "repaired_record": "A record that is not valid as it stands was read with the repair that is named.",
    "repeated_end": "A tool call whose end was recorded more than once; the last one stands.",
    "repeated_key": "An object of JSON names a member twice; the last one stands.",
    "repeated_tool_call": "One tool call id in more than one ACP session or Input: told apart, never linked across.",
    "repeated_record": "A wire call has more than one request, response or error record; the last one stands,"
    " of responses the last one that says anything.",
    "replay_incomplete": "The replay archive says that it is not complete.",
    "skipped_records": "Records of another kind, such as metrics, in a file of spans; they are no evidence of a step.",
    "several_terminals": "A tool call names more than one terminal; the exit status is that of the last one.",
    "second_source": "Another file with a recorder's name; not read, since nothing tells how the two go together.",
    "session_gap": "A session file shows that something happened of which it does not tell.",
    "retold_call": "A second record of a run tells calls without an id that ties them; the fuller record stands.",
    "reversed_times": "A step whose recorded end is before its start; both stand as recorded.",
    "several_resources": "Resource telemetry of several processes or containers.",
    "source_grew": "A file grew while it was read; what came later is not in.",
    "source_shrank": "A file became shorter while it was read.",
    "symlink_refused": "A symbolic link inside the evidence was not followed.",
    "truncated_container": "A compressed file ends inside a frame.",
    "truncated_content": "A recorded value was cut by a limit before it was recorded.",
    "truncated_record": "The interceptor recorded only the beginning of a body.",
    "unfinished_span": "A span began and its end was never recorded.",
    "no_step": "Spans say by a convention's word that they are model calls or executions, and their dialects read them"
    " as none: a copy of others, a half of a stream, a wrapper without a call of its own.",
    "unopened_file": "Files of a folder of traces whose names no form that is read has; they were not opened.",
    "unjoined_wire_call": "No identifier joins a wire call to a model span.",
    "unknown_input": "No identifier tells which Input a step or a file change belongs to.",
    "unknown_operation": "A span holds a model's answer under an operation that no dialect knows; it is no step.",
    "unknown_outcome": "A tool ran and its result is recorded, but no record tells whether it succeeded.",
    "unrecorded_model_calls": "An agent gave an answer in an Input of which no model call is recorded.",
    "unrecorded_tool_calls": "A model call stopped for tools, and no record tells which: the content was not recorded.",
    "unplaced_log_records": "Log records with messages of model calls bear no id of a recorded call; no step has them.",
    "unread_body": "The body of a response is of no known form; it is kept whole, and nothing was read of it.",
    "unread_folder": "A folder among those of the Inputs whose name is none of theirs; not read.",
    "unreadable_document": "A JSON file of the attempt is not JSON.",
    "unreadable_line": "A line was skipped because it is not a record.",
    "unreadable_record": "A record was skipped because it lacks what makes it one.",
    "unreadable_source": "A file could not be opened or read at all.",
    "unreadable_time": "A step without a readable start time; it is ordered last.",
    "unreadable_value": "A recorded value of another type than it must have; nothing is read of it.",
    "untested_version": "A dialect in a version that its reading was not tested with.",
    "wire_error": "The interceptor recorded an error instead of a response.",
    "wire_framework_disagree": "Wire and framework say different things of one call; the wire stands.",
    "wire_without_call_id": "An interceptor record of a model call that names no call.",
}
