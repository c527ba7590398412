"""The HTTP surface: routers parse, call one thing and shape the answer. Wire names live and die in `schemas.py`."""
