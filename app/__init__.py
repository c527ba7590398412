"""Palimpsest: the memory service for agents that knows when facts change."""

__version__ = "0.1.0+checkout"
