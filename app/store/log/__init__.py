"""The log of operations."""
