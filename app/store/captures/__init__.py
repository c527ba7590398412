"""Captures: their rows, their runs, what empties and what erases their messages."""
