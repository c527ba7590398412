"""Checks of stored memories against the log and against the rules of time. Pure."""
