"""otel2traj: what an agent run leaves behind, turned into one evidence-backed trajectory."""

__version__ = "0.1.0"
