"""The HTTP surface: routers parse, call one thing and shape the answer. Wire names live in `schemas.py` (in) and `answers.py` (out)."""
