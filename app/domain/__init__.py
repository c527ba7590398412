"""The words of the business in plain Python: time, facts, relations. No I/O, no clock, no SQL."""
