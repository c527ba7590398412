"""Turns of talk for tests, and what is read from them without a model."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from app.domain.talk import Extraction, Role, SkipReason, Turn
from app.extraction import talk_reader
from app.extraction.message_network import MessageNetwork
from app.networks import FairThreads

NETWORK = MessageNetwork(FairThreads(1))
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def build_turns(*lines: str) -> list[Turn]:
    """Return turns from lines such as "assistant: …"; a line without a role is the user's."""
    turns = []
    for line in lines:
        role, _, text = line.partition(": ")
        is_named = role in set(Role)
        turns.append(Turn(Role(role) if is_named else Role.USER, text if is_named else line, NOW))
    return turns


def read_turns(turns: Sequence[Turn], handed_out: tuple[str, ...] = ()) -> Extraction:
    return asyncio.run(talk_reader.read_talk(turns, NETWORK, handed_out))


def read_talk(*lines: str, handed_out: tuple[str, ...] = ()) -> Extraction:
    return read_turns(build_turns(*lines), handed_out)


def list_facts(*lines: str, handed_out: tuple[str, ...] = ()) -> list[str]:
    return [one.text for one in read_talk(*lines, handed_out=handed_out).statements]


def list_reasons(*lines: str, handed_out: tuple[str, ...] = ()) -> list[SkipReason]:
    return [one.reason for one in read_talk(*lines, handed_out=handed_out).skipped]
