"""Reads facts from talk without a model: the network says what each part of a message is.

Words are put together only where a user confirms or answers what an assistant asked, and where a
pronoun plainly stands for a name. The network reads what came of it before it is stored.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from app.domain.fact import Kind
from app.domain.language import is_english
from app.domain.talk import Extraction, Quote, Skipped, SkipReason, Statement, Turn
from app.domain.text import fold_loosely
from app.extraction.sentence_network import SentenceKind, SentenceNetwork, SentenceReading
from app.extraction.talk_cutter import CutTalk, Part, cut_talk

# From this probability a sentence is worth keeping; what the user confirmed is from the second.
LEAST: Final = 0.8
LEAST_OF_CONFIRMED: Final = 0.5
_REASONS: Final = {
    SentenceKind.EVENT: SkipReason.EVENT,
    SentenceKind.QUESTION: SkipReason.QUESTION,
    SentenceKind.REQUEST: SkipReason.REQUEST,
    SentenceKind.WISH: SkipReason.WISH,
    SentenceKind.FRAME: SkipReason.QUOTATION,
    SentenceKind.TALK: SkipReason.SMALL_TALK,
    SentenceKind.WORLD: SkipReason.NOT_PERSONAL,
    SentenceKind.CODE: SkipReason.CODE,
}


async def read_talk(
    turns: Sequence[Turn], network: SentenceNetwork, handed_out: Collection[str] = ()
) -> Extraction:
    """Return the facts that the users' turns state, and what was skipped with the reasons.

    `handed_out` are texts that came out of the memory. A sentence that repeats one is nothing new.
    """
    # In a thread: to cut a long message takes some milliseconds.
    cut = await asyncio.to_thread(cut_talk, turns, handed_out)
    readings = iter(await _read_parts(cut, network))
    statements: list[Statement] = []
    skipped = list(cut.skipped)
    for sentence in cut.sentences:
        judged = [_judge_part(part, next(readings)) for part in sentence.parts]
        for run in _join_runs(judged):
            text = _write_run(run, turns[sentence.turn].content)
            quote = Quote(sentence.turn, run[0].part.start, run[-1].part.end)
            reason = run[0].reason
            if len(run) == len(judged) and reason is not None:
                quote = Quote(sentence.turn, sentence.start, sentence.end)
            if reason is None and fold_loosely(text) in cut.handed_out:
                reason = SkipReason.REPEATED_CONTEXT
            if reason is None:
                quotes = (quote, *sentence.answered)
                statements.append(Statement(text, quotes, run[0].is_note, run[0].kind))
            else:
                skipped.append(Skipped(quote, reason))
    return Extraction(tuple(statements), tuple(skipped))


async def _read_parts(cut: CutTalk, network: SentenceNetwork) -> list[SentenceReading]:
    """Return what is read of each part.

    Something must begin a frame. So a part that follows nothing but facts in its message is read by
    itself too, and is a fact if it is one there.
    """
    parts = [(sentence.turn, part) for sentence in cut.sentences for part in sentence.parts]
    readings = await network.read([(part.before, part.text) for _, part in parts])
    for turn, places in groupby(range(len(parts)), key=lambda place: parts[place][0]):
        first_skipped = cut.find_first_skipped(turn)
        for place in places:
            part = parts[place][1]
            if part.reason is not None or part.start > first_skipped:
                break
            if readings[place].worth >= LEAST:
                continue
            if not part.before:
                break
            [by_itself] = await network.read([("", part.text)])
            if by_itself.worth < LEAST:
                break
            readings[place] = by_itself
    return readings


@dataclass(frozen=True, slots=True)
class _Judged:
    """A part, and what the network makes of it. `reason` is why it is no fact; None if it is."""

    part: Part
    reason: SkipReason | None
    kind: Kind = Kind.FACT
    is_note: bool = False


def _judge_part(part: Part, reading: SentenceReading) -> _Judged:
    if part.reason is not None:
        return _Judged(part, part.reason)
    kind = reading.find_likeliest(is_kept=True)
    least = LEAST_OF_CONFIRMED if part.is_confirmed else LEAST
    if not part.is_note and reading.worth < least:
        kind = reading.find_likeliest(is_kept=False)
        reason = _REASONS[kind] if is_english(part.text) else SkipReason.NO_STATEMENT
        return _Judged(part, reason)
    if part.is_unclear:
        return _Judged(part, SkipReason.UNCLEAR_PRONOUN)
    is_instruction = kind is SentenceKind.INSTRUCTION
    is_note = part.is_note or kind is SentenceKind.REMEMBER
    return _Judged(part, None, Kind.PREFERENCE if is_instruction else Kind.FACT, is_note)


# Clauses that say why, when or how of the clause before them, and stand with it.
_SUBORDINATE = frozenset(
    """
    because bc cuz cos since as although though while whereas which except
    """.split()
)


def _join_runs(parts: Sequence[_Judged]) -> list[list[_Judged]]:
    """Return the parts in runs: those that belong to one statement, or are skipped alike."""
    runs: list[list[_Judged]] = []
    for part in parts:
        if runs and _continues(runs[-1], part):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _continues(run: Sequence[_Judged], judged: _Judged) -> bool:
    """Return True if the part is skipped like the run, or belongs to what the run states.

    A pronoun behind a statement stands for somebody in it.
    """
    if run[0].reason is not None or judged.reason is None:
        return run[0].reason is judged.reason
    is_unclear = judged.reason is SkipReason.UNCLEAR_PRONOUN
    return is_unclear or (
        judged.reason is SkipReason.SMALL_TALK and judged.part.link in _SUBORDINATE
    )


def _write_run(run: Sequence[_Judged], content: str) -> str:
    """Return the words of a run: the first part with its names, and what follows as it is."""
    return (run[0].part.text + content[run[0].part.end : run[-1].part.end]).strip()
