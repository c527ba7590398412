"""Splitting of compound sentences into facts of their own."""

from app.extraction.compound.splitting import Part, split_fact

__all__ = ["Part", "split_fact"]
