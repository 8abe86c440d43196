"""The folder that `--instrument` puts first on the command's `PYTHONPATH`."""
