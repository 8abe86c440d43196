"""Heads to links: model calls, executions, tool calls, inputs, actors. Recorded identifiers only; time only orders."""
