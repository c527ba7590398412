"""Reads facts from talk without a model: a network cuts messages, and says what each piece is.

Words are put together only where a user confirms or answers what an assistant asked, and where a
pronoun plainly stands for a name. The network reads what came of it before it is stored.
"""

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.domain.corrections import is_correction
from app.domain.fact import Kind
from app.domain.forgetting import read_command_to_forget
from app.domain.talk import Extraction, Quote, Role, Skipped, SkipReason, Statement, Turn
from app.domain.text import fold_loosely
from app.extraction.answers import Answer, read_answer
from app.extraction.message_network import (
    MessageNetwork,
    Piece,
    PieceKind,
    replace_numbers,
)
from app.extraction.pronouns import (
    Antecedent,
    find_antecedents,
    find_title,
    has_dangling_pronoun,
    put_title,
    resolve_pronoun,
    starts_with_pronoun,
)
from app.extraction.proposals import state_in_first_person
from app.extraction.turn_cutter import CutTurn, cut_turn, find_said

# From this probability a piece is worth keeping; what the user confirmed is from the second.
LEAST: Final = 0.7
LEAST_OF_CONFIRMED: Final = 0.5
_REASONS: Final = {
    PieceKind.EVENT: SkipReason.EVENT,
    PieceKind.QUESTION: SkipReason.QUESTION,
    PieceKind.REQUEST: SkipReason.REQUEST,
    PieceKind.WISH: SkipReason.WISH,
    PieceKind.FRAME: SkipReason.QUOTATION,
    PieceKind.TALK: SkipReason.SMALL_TALK,
    PieceKind.LINK: SkipReason.SMALL_TALK,
    PieceKind.WORLD: SkipReason.NOT_PERSONAL,
    PieceKind.CODE: SkipReason.CODE,
}
_POINTING: Final = (" it", " that")
# How many pieces back a pronoun may point.
_PRONOUN_REACH: Final = 3
# Characters at the end of an assistant's turn that a pronoun in the answer may point to.
_ASKED_LENGTH: Final = 160
# Marks around a statement that are no part of its text: those of lists, the last ones, smiles.
_FIRST_MARKS: Final = re.compile(r"(?:(?:[-*•–]|#+|\d{1,2}[.)]|[a-z]\))\s+)+")
_LAST_MARKS: Final = re.compile(
    r"(?:[\s.,;:!–—。．｡！，、；：-]|(?<=\s)(?:[:;=]-?[)(DPp/]|<3|xD)"
    r"|[\u2600-\u27BF\uFE0F\u200D\U0001F300-\U0001FAFF])+\Z"
)
_SENTENCE_END: Final = re.compile(r"[.!?…。！？]\W*\Z")


async def read_talk(
    turns: Sequence[Turn], network: MessageNetwork, handed_out: Collection[str] = ()
) -> Extraction:
    """Return the facts that the users' turns state, and what was skipped with the reasons.

    `handed_out` are texts that came out of the memory. A piece that repeats one is nothing new.
    Raises CallerLeft.
    """
    reader = _TalkReader(turns, network, frozenset(map(fold_loosely, handed_out)))
    for place, turn in enumerate(turns):
        match turn.role:
            case Role.USER:
                await reader.read_user(place)
            case Role.ASSISTANT:
                reader.skip_turn(place, SkipReason.ASSISTANT)
            case Role.SYSTEM | Role.TOOL:
                reader.skip_turn(place, SkipReason.OTHER_ROLE)
    return Extraction(tuple(reader.statements), tuple(reader.skipped))


@dataclass
class _TalkReader:
    """Reads the turns in order, and remembers whom a pronoun may stand for.

    A piece in another language than its prose is read again by itself, by the network for it.
    """

    turns: Sequence[Turn]
    network: MessageNetwork
    handed_out: frozenset[str]
    statements: list[Statement] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    recent: list[list[Antecedent]] = field(default_factory=list)
    earlier: list[list[Antecedent]] = field(default_factory=list)
    last_question: list[list[Antecedent]] = field(default_factory=list)
    title: str | None = None
    is_prose_english: bool = True

    def skip_turn(self, turn: int, reason: SkipReason) -> None:
        if self.turns[turn].content.strip():
            self._skip(turn, 0, len(self.turns[turn].content), reason)

    def _skip(self, turn: int, start: int, end: int, reason: SkipReason) -> None:
        """Skip a place, together with the one before it on its line if the reason is the same."""
        last = self.skipped[-1] if self.skipped else None
        if last and last.reason is reason and last.quote.turn == turn:
            between = self.turns[turn].content[last.quote.end : start]
            if not between.strip() and "\n" not in between:
                self.skipped.pop()
                start = last.quote.start
        self.skipped.append(Skipped(Quote(turn, start, end), reason))

    async def read_user(self, turn: int) -> None:
        """Read a turn of a user's: what it answers, then its prose."""
        content = self.turns[turn].content
        # In a thread: to cut a long message takes some milliseconds.
        cut = await asyncio.to_thread(cut_turn, content, self.handed_out)
        self.earlier, self.recent = self.recent or self.earlier, []
        for block in cut.blocks:
            if block.reason is not None:
                self._skip(turn, block.start, block.end, block.reason)
        begins = await self._read_answer(turn, cut)
        for start, end in cut.prose:
            if max(start, begins) < end:
                await self._read_prose(turn, cut, max(start, begins), end)

    async def _read_answer(self, turn: int, cut: CutTurn) -> int:
        """Read what the first sentence answers, and return where the turn goes on behind it."""
        before = self.turns[turn - 1] if turn else None
        self.last_question, self.title = [], None
        if before is None or before.role is not Role.ASSISTANT:
            return 0
        self.last_question = [
            find_antecedents(state_in_first_person(before.content[-_ASKED_LENGTH:]))
        ]
        self.title = find_title(before.content)
        content = self.turns[turn].content
        start, end = cut.sentences[0] if cut.sentences else (0, 0)
        if not content[start:end] or content[:start].strip() or self._find_barred(cut, start, end):
            return 0
        answer = await asyncio.to_thread(read_answer, before.content, content, start, end)
        text = self._settle_answer(answer) if answer else None
        if answer is None or text is None:
            return 0
        quotes = (Quote(turn, start, answer.end), Quote(turn - 1, *answer.question))
        piece = await self._read_best(text)
        self._note_antecedents(text)
        if fold_loosely(text) in self.handed_out:
            self._skip(turn, start, answer.end, SkipReason.REPEATED_CONTEXT)
        elif piece.worth < LEAST_OF_CONFIRMED:
            self._skip(turn, start, answer.end, self._find_reason(piece, text))
        else:
            self._state(text, quotes, piece)
        return answer.end

    def _settle_answer(self, answer: Answer) -> str | None:
        """Return the text with its pronoun replaced, None if nobody knows for whom it stands."""
        text = put_title(answer.text, self.title) if self.title else answer.text
        if text.endswith(_POINTING):
            return None
        if starts_with_pronoun(text):
            return resolve_pronoun(text, self.recent, self.earlier)
        return text

    async def _read_prose(self, turn: int, cut: CutTurn, start: int, end: int) -> None:
        content = self.turns[turn].content
        sentences = [first - start for first, _ in cut.sentences if first >= start]
        bulleted = replace_numbers(content)
        self.is_prose_english = self.network.reads_as_english(bulleted[start:end])
        pieces = await self.network.read(
            find_said(bulleted[:start]), bulleted[start:end], sentences
        )
        placed = [replace(one, start=start + one.start, end=start + one.end) for one in pieces]
        earlier: tuple[int, int] | None = None
        for lead, piece in _take_leads(self._take_commands(turn, cut, placed), content):
            await self._read_piece(turn, cut, lead, piece, earlier)
            is_last = _ends_sentence(piece, content)
            earlier = None if is_last else (piece.start, piece.end)

    def _take_commands(self, turn: int, cut: CutTurn, pieces: Sequence[Piece]) -> list[Piece]:
        """State the commands to forget whole, and return the pieces of other sentences.

        A piece of "Don't remember that I like jazz" says the contrary.
        """
        content = self.turns[turn].content
        left = list(pieces)
        for sentence in cut.sentences:
            start, end = _trim_marks(content, *sentence)
            within = [piece for piece in left if sentence[0] <= piece.start < end]
            kinds = {piece.find_likeliest(is_kept=False) for piece in within}
            if not within or PieceKind.FRAME in kinds or self._find_barred(cut, start, end):
                continue
            if read_command_to_forget(content[start:end]):
                self.statements.append(Statement(content[start:end], (Quote(turn, start, end),)))
                left = [piece for piece in left if piece not in within]
        return left

    async def _read_piece(
        self, turn: int, cut: CutTurn, lead: int, piece: Piece, earlier: tuple[int, int] | None
    ) -> None:
        """State or skip a piece. `earlier` is the place of the one before it in its sentence.

        From `lead` on words lead up to it. No statement has them, unless they say that it corrects
        something.
        """
        content = self.turns[turn].content
        corrects = is_correction(content[lead : piece.end])
        start, end = _trim_marks(content, lead if corrects else piece.start, piece.end)
        text, is_unclear = self._settle_pronoun(content[start:end])
        reason = self._find_barred(cut, start, end)
        if reason is None and not any(map(str.isalpha, text)):
            reason = SkipReason.NO_STATEMENT
        is_changed = text != content[start:end] or self._is_in_other_language(text)
        if reason is None and (is_changed or self._is_baseless_frame(turn, piece)):
            read = await self._read_best(text)
            piece = replace(piece, probabilities=read.probabilities)
        if reason is None and piece.worth < LEAST:
            reason = self._find_reason(piece, text)
        elif reason is None and fold_loosely(text) in self.handed_out:
            reason = SkipReason.REPEATED_CONTEXT
        elif reason is None and is_unclear:
            if earlier is None or starts_with_pronoun(text):
                reason = SkipReason.UNCLEAR_PRONOUN
            else:  # "Without nuts please, I'm allergic to them"
                self._take_back(Quote(turn, *earlier))
                start, _ = _trim_marks(content, *earlier)
                text = content[start:end]
        # A pronoun outside of a quotation never stands for somebody in it.
        self._note_antecedents("" if reason is SkipReason.QUOTATION else text)
        if reason is None:
            self._state(text, (Quote(turn, start, end),), piece)
        else:
            self._skip(turn, lead, piece.end, reason)

    def _is_in_other_language(self, text: str) -> bool:
        """Return True if a text is for another network than read the prose around it."""
        if not self.is_prose_english:
            return self.network.reads_as_english(text)
        return not self.network.reads_as_english(text) and self.network.can_read(text)

    def _is_baseless_frame(self, turn: int, piece: Piece) -> bool:
        """Return True if a piece is read as part of a frame that nothing has begun.

        Facts that follow one another look like a sample.
        """
        if piece.worth >= LEAST or piece.find_likeliest(is_kept=False) is not PieceKind.FRAME:
            return False
        return all(each.quote.turn != turn for each in self.skipped)

    async def _read_best(self, text: str) -> Piece:
        """Return what is read of words that were put together: the piece most worth keeping."""
        return max(await self.network.read("", text), key=lambda piece: piece.worth)

    def _take_back(self, place: Quote) -> None:
        """Forget what became of words that belong to what follows them."""
        self.statements = [one for one in self.statements if not one.quotes[0].overlaps(place)]
        skipped, self.skipped = self.skipped, []
        for one in skipped:
            if not one.quote.overlaps(place):
                self.skipped.append(one)
            elif one.quote.start < place.start:
                rest = replace(one.quote, end=place.start)
                self.skipped.append(replace(one, quote=rest))

    def _state(self, text: str, quotes: tuple[Quote, ...], piece: Piece) -> None:
        kind = piece.find_likeliest(is_kept=True)
        stored = Kind.PREFERENCE if kind is PieceKind.INSTRUCTION else Kind.FACT
        self.statements.append(Statement(text, quotes, kind is PieceKind.REMEMBER, stored))

    def _find_reason(self, piece: Piece, words: str) -> SkipReason:
        if not self.network.can_read(words):
            return SkipReason.LANGUAGE_NOT_READ
        return _REASONS[piece.find_likeliest(is_kept=False)]

    def _find_barred(self, cut: CutTurn, start: int, end: int) -> SkipReason | None:
        """Return why a place states nothing for its form, None if it may state something."""
        return next((each.reason for each in cut.barred if each.covers(start, end)), None)

    def _settle_pronoun(self, words: str) -> tuple[str, bool]:
        """Return the words with a name for their pronoun, and whether it may be anybody's.

        Only pronouns of English are known: "he" is none in Spanish.
        """
        if not self.network.reads_as_english(words):
            return words, False
        text = put_title(words, self.title) if self.title else words
        if not starts_with_pronoun(text):
            return text, has_dangling_pronoun(text) or text.endswith(_POINTING)
        resolved = resolve_pronoun(text, self.recent, self.last_question, self.earlier)
        return resolved or text, resolved is None

    def _note_antecedents(self, text: str) -> None:
        self.recent = [*self.recent[1 - _PRONOUN_REACH :], find_antecedents(text)]


def _take_leads(pieces: Sequence[Piece], content: str) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces with the place from which words lead up to each in its sentence."""
    lead: int | None = None
    for number, piece in enumerate(pieces, 1):
        is_link = piece.worth < LEAST and piece.find_likeliest(is_kept=False) is PieceKind.LINK
        first = piece.start if lead is None else lead
        if is_link and number < len(pieces) and not _ends_sentence(piece, content):
            lead = first
        else:
            yield first, piece
            lead = None


def _ends_sentence(piece: Piece, content: str) -> bool:
    return _SENTENCE_END.search(content, piece.start, piece.end) is not None


def _trim_marks(content: str, start: int, end: int) -> tuple[int, int]:
    """Return the place without the marks around its words."""
    words = content[start:end]
    first = _FIRST_MARKS.match(words)
    last = _LAST_MARKS.search(words)
    return start + (first.end() if first else 0), start + (last.start() if last else len(words))
