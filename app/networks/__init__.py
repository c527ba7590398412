"""The shipped neural networks: their weights, and how texts and tokens go into them."""

from app.networks.session import END_TOKEN, START_TOKEN, load_tokenizer, open_session

__all__ = ["END_TOKEN", "START_TOKEN", "load_tokenizer", "open_session"]
