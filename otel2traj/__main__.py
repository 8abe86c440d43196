"""`python -m otel2traj` is the command line."""

from .cli import main

main()
