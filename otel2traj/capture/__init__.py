"""OTLP, over the network or in process, into attempt directories: accept first, derive afterwards."""
