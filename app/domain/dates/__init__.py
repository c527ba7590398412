"""Dates in English text: what they mean, and whether they date the fact that names them."""
