"""Sweeps: their rows, their work and their queue."""
