"""Records to an index of heads; bodies stay on disk and are read again by reference."""

from .index import Index

__all__ = ["Index"]
