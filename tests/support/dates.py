"""Dates of texts, as the shipped network reads them."""

import asyncio
from datetime import UTC, datetime

from app.domain.dates.dated_text import DatedText
from app.domain.dates.facts import date_fact, find_times
from app.extraction.dates_network import DatesNetwork
from app.networks import FairThreads

_NETWORK = DatesNetwork(FairThreads(1))


def date_text(text: str, said_at: datetime) -> DatedText:
    """Return the dates of a text, whose days are those of UTC."""
    return date_fact(*asyncio.run(_NETWORK.rule(find_times(text))), said_at, UTC)
