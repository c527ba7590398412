"""Reads facts from talk by rules: no model, no clock, no I/O."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from app.domain.secrets import REDACTED
from app.domain.talk import Extraction, Quote, Role, Skipped, SkipReason, Statement, Turn
from app.domain.text import fold_loosely
from app.extraction import words as lists
from app.extraction.blocks import find_blocks, find_line_reason
from app.extraction.clauses import cut_clauses
from app.extraction.comments import find_comments
from app.extraction.confirmations import (
    find_confirmation_end,
    find_denial_end,
    is_addition,
)
from app.extraction.corrections import correct_proposal
from app.extraction.open_questions import state_answer
from app.extraction.openings import Opening, measure_correction, strip_openings
from app.extraction.polar_questions import Answers
from app.extraction.pronouns import (
    Antecedent,
    find_antecedents,
    find_title,
    has_dangling_pronoun,
    put_title,
    replace_by_stranger,
    replace_object,
    resolve_pronoun,
    starts_with_pronoun,
)
from app.extraction.proposals import is_tag_question, read_proposal, state_in_first_person
from app.extraction.quotes import find_handover_end, find_quotes, is_inside_quote
from app.extraction.sentences import split_sentences
from app.extraction.tokens import Clause
from app.extraction.verdicts import find_skip_reason


def extract_by_rules(turns: Sequence[Turn], handed_out: Collection[str] = ()) -> Extraction:
    """Return the facts that the users' turns state, and what was skipped with the reasons.

    `handed_out` are texts that came out of the memory. A sentence that repeats one is nothing new.
    """
    reader = _Reader(turns, frozenset(fold_loosely(text) for text in handed_out))
    for place, turn in enumerate(turns):
        reader.read_turn(place, turn)
    return Extraction(tuple(reader.statements), tuple(reader.skipped))


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause of a sentence: its place, and why it is no fact; None if it is.

    `link` is the word that ties it to the clause before. `text` has its pronoun replaced. `is_note`
    is True for what the speaker wants to be remembered.
    """

    start: int
    end: int
    link: str
    text: str
    reason: SkipReason | None
    is_note: bool = False

    def move(self, offset: int) -> "_Part":
        """Return the part with its place counted from `offset` characters earlier."""
        return replace(self, start=self.start + offset, end=self.end + offset)


# Words behind a yes that belong to it: "Sure does, vet said so."
_LONGEST_REMARK = 5
_REMARKS = {SkipReason.NO_STATEMENT, SkipReason.POLITENESS}
# How many sentences back a pronoun may point.
_PRONOUN_REACH = 3
# Characters at the end of an assistant's turn that a pronoun in the answer may point to.
_ASKED_LENGTH = 160
# Characters. Nobody states a fact in so long a sentence, and the rules read one more than once.
_LONGEST_SENTENCE = 1_000


@dataclass
class _Reader:
    turns: Sequence[Turn]
    handed_out: frozenset[str]
    statements: list[Statement] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    recent: list[list[Antecedent]] = field(default_factory=list)
    earlier: list[list[Antecedent]] = field(default_factory=list)
    last_question: list[list[Antecedent]] = field(default_factory=list)
    last_title: str | None = None

    def read_turn(self, place: int, turn: Turn) -> None:
        match turn.role:
            case Role.USER:
                self._read_user(place, turn)
            case Role.ASSISTANT:
                self._skip_whole(place, turn, SkipReason.ASSISTANT)
            case Role.SYSTEM | Role.TOOL:
                self._skip_whole(place, turn, SkipReason.OTHER_ROLE)

    def _skip_whole(self, place: int, turn: Turn, reason: SkipReason) -> None:
        if turn.content.strip():
            self._skip(place, 0, len(turn.content), reason)

    def _skip(self, turn: int, start: int, end: int, reason: SkipReason) -> None:
        self.skipped.append(Skipped(Quote(turn, start, end), reason))

    def _read_user(self, place: int, turn: Turn) -> None:
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
                    self._read_sentence(place, begins, end)
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
        answer_end = start + answered[1]
        if self._is_remark(place, answer_end, end):
            answer_end = end
        if self._is_repeated(text):
            self._skip(place, start, answer_end, SkipReason.REPEATED_CONTEXT)
            return answer_end
        quotes = (Quote(place, start, answer_end), Quote(place - 1, first, last))
        self.statements.append(Statement(text, quotes))
        self._note_antecedents(text)
        return answer_end

    def _is_remark(self, place: int, start: int, end: int) -> bool:
        """Return True if what follows an answer in its sentence states and asks nothing."""
        rest = self.turns[place].content[start:end]
        words = rest.lower().split()
        if not words or len(words) > _LONGEST_REMARK or rest.rstrip().endswith("?"):
            return False
        if words[0] in lists.PRONOUNS | lists.FIRST_PERSON | {"that", "this", "it's", "that's"}:
            return False
        return all(
            part.reason in _REMARKS for part in self._judge_parts(rest, strip_openings(rest))
        )

    def _read_value(self, place: int, start: int, end: int) -> int:
        """Add what a few words state that answer an open question of the assistant.

        Return where the sentence goes on behind them, or `start` if they answer none.
        """
        question_place = _find_proposed_sentence(self.turns[place - 1].content)
        if question_place is None or end - start > _LONGEST_SENTENCE:
            return start
        question = self.turns[place - 1].content[question_place[0] : question_place[1]]
        text = state_answer(question, self.turns[place].content[start:end])
        if text is None or find_skip_reason(Clause(text)) is not None:
            return start
        quotes = (Quote(place, start, end), Quote(place - 1, *question_place))
        self.statements.append(Statement(text, quotes))
        self._note_antecedents(text)
        return end

    def _settle_reply(self, text: str) -> str | None:
        """Return the text with its pronoun replaced, None if it is not worth knowing."""
        text = put_title(text, self.last_title) if self.last_title else text
        if not _is_proposable(text) or text.endswith((" it", " that")):
            return None
        if starts_with_pronoun(text):
            return resolve_pronoun(text, self.recent, self.earlier)
        return text

    def _is_repeated(self, text: str) -> bool:
        return fold_loosely(text) in self.handed_out

    def _note_antecedents(self, text: str) -> None:
        self.recent = [*self.recent[1 - _PRONOUN_REACH :], find_antecedents(text)]

    def _read_sentence(self, place: int, start: int, end: int) -> None:
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
        parts = [part.move(start) for part in self._judge_parts(sentence, opening)]
        self._add_parts(place, start, end, parts)
        self._note_antecedents(" ".join(part.text for part in parts))

    def _judge_parts(self, sentence: str, opening: Opening) -> Iterator[_Part]:
        """Yield the clauses of a sentence, with their places in it."""
        core = sentence[opening.start : opening.end]
        is_asked = sentence.rstrip(" \"'”’)!").endswith("?")
        if opening.is_note:
            yield self._judge_note(core + "?" if is_asked else core, opening)
            return
        quotes = find_quotes(sentence)
        handover = find_handover_end(sentence)
        if handover is not None:
            quotes.append((handover, len(sentence) + 1))
        cuts = cut_clauses(core)
        follows_fact = False
        reason: SkipReason | None = None
        for number, (first, last, link) in enumerate(cuts):
            text = core[first:last]
            goes_on_asking = reason is SkipReason.QUESTION and link in {"so", "so that"}
            if is_inside_quote(opening.start + first, opening.start + last, quotes):
                reason = SkipReason.QUOTATION
            elif (is_asked and number == len(cuts) - 1) or goes_on_asking:
                reason = SkipReason.QUESTION
            elif follows_fact and starts_with_pronoun(text):
                reason = find_skip_reason(Clause(replace_by_stranger(text)))
            else:
                text, reason = self._judge(text, core[:first], follows_fact=follows_fact)
            follows_fact = reason is None
            yield _Part(opening.start + first, opening.start + last, link, text, reason)

    def _judge_note(self, text: str, opening: Opening) -> _Part:
        """Return what is to be remembered with its pronoun replaced, and why it is no fact."""
        reason = find_skip_reason(Clause(text), is_note=True)
        if reason is None and starts_with_pronoun(text):
            resolved = self._resolve(text, "")
            reason = SkipReason.UNCLEAR_PRONOUN if resolved is None else None
            text = resolved or text
        return _Part(opening.start, opening.end, "", text, reason, is_note=True)

    def _judge(
        self, text: str, before: str, *, follows_fact: bool
    ) -> tuple[str, SkipReason | None]:
        """Return a clause with its pronoun replaced, and why it is no fact.

        `before` is what the sentence says before the clause.
        """
        text = put_title(text, self.last_title) if self.last_title else text
        if not starts_with_pronoun(text):
            judged = replace_object(text) if follows_fact else text
            reason = find_skip_reason(Clause(judged[measure_correction(judged) :]))
            if reason is None and not follows_fact and has_dangling_pronoun(text):
                reason = SkipReason.UNCLEAR_PRONOUN
            return text, reason
        resolved = self._resolve(text, before)
        if resolved is not None:
            return resolved, find_skip_reason(Clause(resolved))
        reason = find_skip_reason(Clause(replace_by_stranger(text)))
        return text, reason or SkipReason.UNCLEAR_PRONOUN

    def _resolve(self, text: str, before: str) -> str | None:
        """Return the text with its first pronoun replaced, by the nearest who is named."""
        here = [find_antecedents(before)] if before else []
        return resolve_pronoun(text, here, self.recent, self.last_question, self.earlier)

    def _add_parts(self, place: int, start: int, end: int, parts: list[_Part]) -> None:
        """Add one statement for each run of clauses that state something."""
        runs = _join_runs(parts)
        content = self.turns[place].content
        if len(runs) == 1 and runs[0][0].reason is not None:
            self._skip(place, start, end, runs[0][0].reason)
            return
        for run in runs:
            first, last = run[0].start, run[-1].end
            text = (run[0].text + content[run[0].end : last]).strip()
            if run[0].reason is not None:
                self._skip(place, first, last, run[0].reason)
            elif self._is_repeated(text):
                self._skip(place, first, last, SkipReason.REPEATED_CONTEXT)
            else:
                self._add_statement(place, first, last, text, is_note=run[0].is_note)

    def _add_statement(self, place: int, start: int, end: int, text: str, *, is_note: bool) -> None:
        """Add what the words at this place state, in this text, and skip the comments behind it."""
        comments = find_comments(text)
        last = end - len(text[comments:])
        quotes = (Quote(place, start, last),)
        self.statements.append(Statement(text[:comments], quotes, is_note))
        if last < end:
            skipped = end - len(text[comments:].lstrip(", "))
            self._skip(place, skipped, end, SkipReason.NO_STATEMENT)


# Clauses that say why, when or how of the clause before them, and stand with it.
_SUBORDINATE = frozenset(
    """
    because bc cuz cos since as although though while whereas which except
    """.split()
)


def _join_runs(parts: list[_Part]) -> list[list[_Part]]:
    """Return the clauses in runs: those that belong to one statement, or are skipped alike."""
    runs: list[list[_Part]] = []
    for part in parts:
        if runs and _continues(runs[-1], part):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _continues(run: list[_Part], part: _Part) -> bool:
    is_fact = run[0].reason is None
    if not is_fact:
        return part.reason is run[0].reason
    if part.reason is None:
        return True
    is_neutral = part.reason in {SkipReason.NO_STATEMENT, SkipReason.UNCLEAR_PRONOUN}
    return is_neutral and (part.link in _SUBORDINATE or part.text[:3].lower() in {"he ", "she"})


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
    addition = answer[answer_end:]
    if is_addition(addition):
        return f"{proposed.yes}, {addition.rstrip(' .!')}", len(answer)
    return proposed.yes, answer_end


_DID_NOT = re.compile(r"\bdid(?:\s+not|n['’]t)\b", re.IGNORECASE)
_DO_NOT = re.compile(r"\bdo(?:es)?n't\b")


def _is_of_past(denial: str, denied: str) -> bool:
    """Return True for "I did not" where the question was what somebody does."""
    return bool(_DID_NOT.search(denial) and _DO_NOT.search(denied))


def _is_proposable(text: str) -> bool:
    """Return True for a statement that is worth knowing once the user has confirmed it."""
    judged = replace_by_stranger(text) if starts_with_pronoun(text) else text
    return find_skip_reason(Clause(judged), is_confirmed=True) is None
