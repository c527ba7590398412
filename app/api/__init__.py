"""The HTTP surface: routers parse a call, ask one service or read, and shape the answer.

Wire names live in `schemas` (requests) and `answers`.
"""
