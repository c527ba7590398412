"""The shipped neural networks: their weights, how texts go into them, and whose turn it is."""

from app.networks.fair_threads import FairThreads
from app.networks.requester import Requester, get_requester, work_for
from app.networks.session import (
    END_TOKEN,
    START_TOKEN,
    LazyNetwork,
    load_tokenizer,
    locate_words,
    open_session,
    start_session,
    weigh_logits,
)

__all__ = [
    "END_TOKEN",
    "START_TOKEN",
    "FairThreads",
    "LazyNetwork",
    "Requester",
    "get_requester",
    "load_tokenizer",
    "locate_words",
    "open_session",
    "start_session",
    "weigh_logits",
    "work_for",
]
