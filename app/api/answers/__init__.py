"""Answers: the wire names of everything that goes out."""
