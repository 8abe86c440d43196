"""A command, or a block of code, into an attempt directory: its model traffic, telemetry, file changes and end."""
