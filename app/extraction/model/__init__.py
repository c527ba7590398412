"""The language model as a reader of talk."""
