"""Judging how two facts relate: rules, and the cascade of signals and a language model."""
