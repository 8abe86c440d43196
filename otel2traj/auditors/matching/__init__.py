"""Two runs, or a run and its labels, to a verdict for every step."""
