"""The nouns. No I/O, no neighbours: every room may import from here."""
