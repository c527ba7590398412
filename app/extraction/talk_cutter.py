"""Cuts talk into the sentences that may state something, and their parts.

What is skipped for its form is skipped here: other speakers, quotations, code and secrets. What a
sentence says is for the network to tell.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from app.domain.secrets import REDACTED
from app.domain.talk import (
    CONTEXT_ENDS,
    Quote,
    Role,
    Skipped,
    SkipReason,
    Turn,
)
from app.domain.text import fold_loosely
from app.extraction.blocks import find_blocks, find_line_reason
from app.extraction.clauses import cut_clauses
from app.extraction.confirmations import (
    find_confirmation_end,
    find_denial_end,
    is_addition,
)
from app.extraction.corrections import correct_proposal
from app.extraction.open_questions import state_answer
from app.extraction.openings import strip_openings
from app.extraction.polar_questions import Answers
from app.extraction.pronouns import (
    Antecedent,
    find_antecedents,
    find_title,
    has_dangling_pronoun,
    put_title,
    resolve_pronoun,
    starts_with_pronoun,
)
from app.extraction.proposals import (
    is_tag_question,
    leaves_open,
    read_proposal,
    state_in_first_person,
)
from app.extraction.quotes import find_handover_end, find_quotes, is_inside_quote
from app.extraction.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence that may state something: its place, and its words with names.

    `before` is what the message says before it, `link` the word that ties it to the part before.
    `reason` is why it is no fact, if its form says so. It is unclear if a pronoun may be anybody's,
    and a note if the user wants it to be remembered.
    """

    start: int
    end: int
    text: str
    before: str = ""
    link: str = ""
    reason: SkipReason | None = None
    is_unclear: bool = False
    is_note: bool = False
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a user's turn with its place. `answered` is what it confirms or answers."""

    turn: int
    start: int
    end: int
    parts: tuple[Part, ...]
    answered: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class CutTalk:
    """The sentences of users that may state something, and what was skipped for its form.

    `handed_out` are the folded texts that came out of the memory.
    """

    sentences: tuple[Sentence, ...]
    skipped: tuple[Skipped, ...]
    handed_out: frozenset[str]

    def find_first_skipped(self, turn: int) -> float:
        """Return the place of the first skipped character of a turn; infinity without one."""
        starts = (each.quote.start for each in self.skipped if each.quote.turn == turn)
        return min(starts, default=math.inf)


def cut_talk(turns: Sequence[Turn], handed_out: Collection[str] = ()) -> CutTalk:
    """Return what of the turns may state something, without reading what it says."""
    cutter = _Cutter(turns, frozenset(fold_loosely(text) for text in handed_out))
    for place, turn in enumerate(turns):
        cutter.cut_turn(place, turn)
    return CutTalk(tuple(cutter.sentences), tuple(cutter.skipped), cutter.handed_out)


# How many sentences back a pronoun may point.
_PRONOUN_REACH = 3
# Characters at the end of an assistant's turn that a pronoun in the answer may point to.
_ASKED_LENGTH = 160
# Characters. Nobody states a fact in so long a sentence.
_LONGEST_SENTENCE = 1_000


@dataclass
class _Cutter:
    turns: Sequence[Turn]
    handed_out: frozenset[str]
    sentences: list[Sentence] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    recent: list[list[Antecedent]] = field(default_factory=list)
    earlier: list[list[Antecedent]] = field(default_factory=list)
    last_question: list[list[Antecedent]] = field(default_factory=list)
    last_title: str | None = None

    def cut_turn(self, place: int, turn: Turn) -> None:
        match turn.role:
            case Role.USER:
                self._cut_user(place, turn)
            case Role.ASSISTANT:
                self._skip_whole(place, turn, SkipReason.ASSISTANT)
            case Role.SYSTEM | Role.TOOL:
                self._skip_whole(place, turn, SkipReason.OTHER_ROLE)

    def _skip_whole(self, place: int, turn: Turn, reason: SkipReason) -> None:
        if turn.content.strip():
            self._skip(place, 0, len(turn.content), reason)

    def _skip(self, turn: int, start: int, end: int, reason: SkipReason) -> None:
        self.skipped.append(Skipped(Quote(turn, start, end), reason))

    def _cut_user(self, place: int, turn: Turn) -> None:
        self.earlier, self.recent = self.recent or self.earlier, []
        self.last_question = []
        self.last_title = None
        is_first = True
        quotes = find_quotes(turn.content)
        for block in find_blocks(turn.content):
            if block.reason is not None:
                self._skip(place, block.start, block.end, block.reason)
                is_first = False
                continue
            for start, end in split_sentences(turn.content, block.start, block.end):
                if REDACTED in turn.content[start:end]:
                    self._skip(place, start, end, SkipReason.REDACTED)
                    is_first = False
                    continue
                if is_inside_quote(start, end, quotes):
                    self._skip(place, start, end, SkipReason.QUOTATION)
                    is_first = False
                    continue
                begins = self._read_answer(place, start, end) if is_first else start
                if begins < end:
                    self._cut_sentence(place, begins, end)
                is_first = False
                if find_handover_end(turn.content[start:end]) is not None:
                    quotes.append((end, len(turn.content) + 1))

    def _read_answer(self, place: int, start: int, end: int) -> int:
        """Add what the assistant proposed just before, if the sentence confirms or corrects it.

        Return where the sentence goes on behind its answer, or `start` if it answers nothing.
        """
        before = self.turns[place - 1] if place else None
        if before is None or before.role is not Role.ASSISTANT:
            return start
        self.last_question = [
            find_antecedents(state_in_first_person(before.content[-_ASKED_LENGTH:]))
        ]
        self.last_title = find_title(before.content)
        proposal = _find_proposal(before.content)
        if proposal is None:
            return self._read_value(place, start, end)
        answers, first, last = proposal
        answer = self.turns[place].content[start : min(end, start + _LONGEST_SENTENCE)]
        answered = _read_reply(answers, answer)
        text = self._settle_reply(answered[0]) if answered else None
        if answered is None or text is None:
            return start
        self._add_answer(place, start, start + answered[1], text, (first, last))
        return start + answered[1]

    def _read_value(self, place: int, start: int, end: int) -> int:
        """Add what a few words state that answer an open question of the assistant.

        Return where the sentence goes on behind them, or `start` if they answer none.
        """
        question_place = _find_proposed_sentence(self.turns[place - 1].content)
        if question_place is None or end - start > _LONGEST_SENTENCE:
            return start
        question = self.turns[place - 1].content[question_place[0] : question_place[1]]
        text = state_answer(question, self.turns[place].content[start:end])
        if text is None:
            return start
        self._add_answer(place, start, end, text, question_place)
        return end

    def _add_answer(
        self, place: int, start: int, end: int, text: str, question: tuple[int, int]
    ) -> None:
        part = Part(start, end, text, is_confirmed=True)
        answered = (Quote(place - 1, *question),)
        self.sentences.append(Sentence(place, start, end, (part,), answered))
        self._note_antecedents(text)

    def _settle_reply(self, text: str) -> str | None:
        """Return the text with its pronoun replaced, None if nobody knows for whom it stands."""
        text = put_title(text, self.last_title) if self.last_title else text
        if text.endswith((" it", " that")):
            return None
        if starts_with_pronoun(text):
            return resolve_pronoun(text, self.recent, self.earlier)
        return text

    def _is_repeated(self, text: str) -> bool:
        return fold_loosely(text) in self.handed_out

    def _note_antecedents(self, text: str) -> None:
        self.recent = [*self.recent[1 - _PRONOUN_REACH :], find_antecedents(text)]

    def _cut_sentence(self, place: int, start: int, end: int) -> None:
        content = self.turns[place].content
        sentence = content[start:end]
        if len(sentence) > _LONGEST_SENTENCE:
            self._skip(place, start, end, SkipReason.NO_STATEMENT)
            return
        line_reason = find_line_reason(sentence)
        if line_reason is not None:
            self._skip(place, start, end, line_reason)
            return
        opening = strip_openings(sentence)
        core = sentence[opening.start : opening.end]
        if self._is_repeated(sentence) or self._is_repeated(core):
            self._skip(place, start, end, SkipReason.REPEATED_CONTEXT)
            self._note_antecedents(core)
            return
        if not any(character.isalpha() for character in core):
            self._skip(place, start, end, SkipReason.NO_STATEMENT)
            return
        parts = tuple(self._cut_parts(content, start, end))
        self.sentences.append(Sentence(place, start, end, parts))
        self._note_antecedents(". ".join(part.text for part in parts))

    def _cut_parts(self, content: str, start: int, end: int) -> Iterator[Part]:
        """Yield the parts of a sentence that can stand by themselves."""
        sentence = content[start:end]
        opening = strip_openings(sentence)
        core = sentence[opening.start : opening.end]
        is_asked = sentence.rstrip(" \"'”’)!").endswith("?")
        quotes = find_quotes(sentence)
        handover = find_handover_end(sentence)
        if handover is not None:
            quotes.append((handover, len(sentence) + 1))
        cuts = [(0, len(core), "")] if opening.is_note else cut_clauses(core)
        for number, (first, last, link) in enumerate(cuts):
            begins, ends = opening.start + first, opening.start + last
            reason: SkipReason | None = None
            if is_inside_quote(begins, ends, quotes):
                reason = SkipReason.QUOTATION
            elif is_asked and number == len(cuts) - 1:
                reason = SkipReason.QUESTION
            text, is_unclear = self._settle_pronoun(core[first:last], core[:first])
            yield Part(
                start + begins,
                start + ends,
                text,
                _find_said(content[: start + begins]),
                link,
                reason,
                is_unclear,
                opening.is_note,
            )

    def _settle_pronoun(self, text: str, before: str) -> tuple[str, bool]:
        """Return the text with its pronoun replaced, and whether it stays unclear.

        `before` is what the sentence says before the text.
        """
        text = put_title(text, self.last_title) if self.last_title else text
        if not starts_with_pronoun(text):
            return text, has_dangling_pronoun(text)
        here = [find_antecedents(before)] if before else []
        antecedents = (here, self.recent, self.last_question, self.earlier)
        resolved = resolve_pronoun(text, *antecedents)
        return resolved or text, resolved is None


def _find_said(before: str) -> str:
    """Return what the user said before a sentence: what follows a context of ours."""
    return before.rpartition(CONTEXT_ENDS)[2].lstrip()


def _find_proposed_sentence(content: str) -> tuple[int, int] | None:
    """Return the place of the sentence that a mere yes answers, None if that is not plain.

    It is the one question of the turn, or the last sentence if there is no question.
    """
    sentences: list[tuple[int, int]] = []
    for block in find_blocks(content):
        if block.reason is None:
            sentences.extend(split_sentences(content, block.start, block.end))
    while sentences and is_tag_question(content[sentences[-1][0] : sentences[-1][1]]):
        sentences.pop()
    questions = [place for place in sentences if content[place[0] : place[1]].endswith("?")]
    candidates = questions or sentences[-1:]
    if len(candidates) != 1 or candidates[0][1] - candidates[0][0] > _LONGEST_SENTENCE:
        return None
    return candidates[0]


def _find_proposal(content: str) -> tuple[Answers, int, int] | None:
    """Return what an assistant proposes at the end of a turn, and its place."""
    place = _find_proposed_sentence(content)
    answers = read_proposal(content[place[0] : place[1]]) if place else None
    return None if place is None or answers is None else (answers, *place)


def _read_reply(proposed: Answers, answer: str) -> tuple[str, int] | None:
    """Return what the answer makes of a proposal, and where its words end; None if nothing."""
    answer_end = find_confirmation_end(answer)
    if not answer_end:
        corrected = correct_proposal(proposed.yes, answer)
        if corrected:
            return corrected, len(answer)
        denial_end = find_denial_end(answer)
        if proposed.no and denial_end and not _is_of_past(answer[:denial_end], proposed.no):
            return proposed.no, denial_end
        return None
    if leaves_open(proposed.yes):
        return None
    addition = answer[answer_end:]
    if is_addition(addition):
        return f"{proposed.yes}, {addition.rstrip(' .!')}", len(answer)
    return proposed.yes, answer_end


_DID_NOT = re.compile(r"\bdid(?:\s+not|n['’]t)\b", re.IGNORECASE)
_DO_NOT = re.compile(r"\bdo(?:es)?n't\b")


def _is_of_past(denial: str, denied: str) -> bool:
    """Return True for "I did not" where the question was what somebody does."""
    return bool(_DID_NOT.search(denial) and _DO_NOT.search(denied))
