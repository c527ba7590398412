"""What a user's answer to an assistant states: "Yes" to "So you're vegan?", "Leeds" to "Where?"."""

import re
from dataclasses import dataclass

from app.extraction.blocks import find_blocks
from app.extraction.confirmations import find_confirmation_end, find_denial_end, is_addition
from app.extraction.corrections import correct_proposal
from app.extraction.open_questions import state_answer
from app.extraction.polar_questions import Answers
from app.extraction.proposals import is_tag_question, leaves_open, read_proposal
from app.extraction.sentences import split_sentences

# Characters. Nobody proposes or answers in so long a sentence.
_LONGEST_SENTENCE = 1_000
_DID_NOT = re.compile(r"\bdid(?:\s+not|n['’]t)\b", re.IGNORECASE)
_DO_NOT = re.compile(r"\bdo(?:es)?n't\b")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer states, where its words end, and the place of the question or proposal."""

    text: str
    end: int
    question: tuple[int, int]


def read_answer(before: str, content: str, start: int, end: int) -> Answer | None:
    """Return what the first sentence of a turn states as an answer to what an assistant asked.

    The sentence is at `start` to `end` of the content. None if it answers nothing.
    """
    question = _find_question(before)
    if question is None:
        return None
    sentence = before[question[0] : question[1]]
    proposed = read_proposal(sentence)
    if proposed is not None:
        reply = _read_reply(proposed, content[start : min(end, start + _LONGEST_SENTENCE)])
        return Answer(reply[0], start + reply[1], question) if reply else None
    if end - start > _LONGEST_SENTENCE:
        return None
    text = state_answer(sentence, content[start:end])  # a few words that answer an open question
    return None if text is None else Answer(text, end, question)


def _find_question(content: str) -> tuple[int, int] | None:
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


def _read_reply(proposed: Answers, answer: str) -> tuple[str, int] | None:
    """Return what the answer makes of a proposal, and where its words end; None if nothing."""
    answer_end = find_confirmation_end(answer)
    if not answer_end:
        corrected = correct_proposal(proposed.yes, answer)
        if corrected:
            return corrected, len(answer)
        denial_end = find_denial_end(answer)
        if not proposed.no or not denial_end:
            return None
        # "I did not" denies nothing of what somebody does.
        is_of_past = _DID_NOT.search(answer[:denial_end]) and _DO_NOT.search(proposed.no)
        return None if is_of_past else (proposed.no, denial_end)
    if leaves_open(proposed.yes):
        return None
    addition = answer[answer_end:]
    if is_addition(addition):
        return f"{proposed.yes}, {addition.rstrip(' .!')}", len(answer)
    return proposed.yes, answer_end
