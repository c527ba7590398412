"""Measurements of the service against floors: the least that the same work costs. `python -m bench` writes bench/RESULTS.md."""
