"""Requests: the wire names of everything that comes in, and its bounds."""
