"""What the project exists for, in plain Python: time, supersession, relations, plans. No I/O, no clock, no SQL."""
