"""The functions that the command line and other programs call."""
