"""Pages that are served to this machine while they grow."""
