"""The shipped neural networks: their weights, how texts go into them, and whose turn it is."""

from app.networks.fair_threads import FairThreads
from app.networks.many_languages import find_many_languages
from app.networks.requester import Requester, get_requester, work_for
from app.networks.session import (
    ENGLISH,
    LazyNetwork,
    NetworkSet,
    locate_tokens,
    locate_words,
    make_encodable,
    weigh_logits,
)

__all__ = [
    "ENGLISH",
    "FairThreads",
    "LazyNetwork",
    "NetworkSet",
    "Requester",
    "find_many_languages",
    "get_requester",
    "locate_tokens",
    "locate_words",
    "make_encodable",
    "weigh_logits",
    "work_for",
]
