"""The language model as a judge."""
