"""Reads of the doctor."""
