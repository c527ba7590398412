"""States what a few words answer: "Where do you live?" with "Porto." becomes "I live in Porto"."""

import re

from app.domain.dates.names import ONE_TO_TWENTY
from app.extraction import words as lists
from app.extraction.phrases import build_pattern
from app.extraction.polar_questions import state_answers
from app.extraction.proposals import state_in_first_person

_QUESTION = re.compile(
    r"(?:.*[,:;–—]\s+|(?:and|so|ok|okay|but|also|great|nice|lovely)\s+){0,2}?"
    r"(?P<wh>(?:where|what|which|who|when|how|whose|at\s+what)(?=['’]s\b|\b)(?:\s+[\w-]+){0,4}?)"
    r"(?P<is>['’]s)?\s+(?P<rest>(?:do|does|did|is|are|was|were|have|has|your|you)\b.*)",
    re.IGNORECASE,
)
_LONGEST_ANSWER = 8
_LONGEST_SUBJECT = 4
_NO_VALUE = re.compile(
    build_pattern(
        """
        no/yes/not/nothing/none/maybe/depends/it depends/whatever/anything/any/either/same/idk/dunno
        /good/fine/great/bad/all good/well/hm/hmm/thanks/sorry/ok/okay/sure/what/why/how/which/who
        /where/when/if/because/the first/the second/the last/that/this/it/both/something
        /before/formerly/previously/used/hard to/tough to/difficult to/tough one
        """
    ),
    re.IGNORECASE,
)
_SEEMING = frozenset("seem seems look looks sound sounds".split())
_VERBS = (
    _SEEMING
    | (lists.AUXILIARIES - {"may"})
    | lists.THIRD_VERBS
    | lists.IRREGULAR_PAST
    | lists.FIRST_PERSON
)
_PREPOSITIONS = frozenset("in at on near with by from to outside around about since for".split())
_LEAD = re.compile(r"(?:oh|ah|well|um+|uh|so|just|hm+)[,\s]+", re.IGNORECASE)
# "What are your thoughts on it?" is answered by an opinion, and "A or B?" leaves open which.
_OPINION = re.compile(r"\b(?:your\s+(?:\w+\s+)?(?:thou\w+|opinions?|views?|take|guess)|or)\b", re.I)
_CLAUSE = re.compile(r"(?:i|you|he|she|it|that|they|we)['’](?:s|re|m|ve|ll|d)\b", re.I)
_NUMBER_WORDS = ONE_TO_TWENTY[:10]
_COUNT = re.compile(rf"(?:just\s+|only\s+)?(?:\d+|{'|'.join(_NUMBER_WORDS)})\Z")


def state_answer(question: str, answer: str) -> str | None:
    """Return the statement that the answer gives to an open question, in the user's words.

    None if the question is not about the user in a plain form, or the answer is no mere value.
    """
    value = _read_value(answer)
    match = _QUESTION.fullmatch(question.strip().rstrip("?! "))
    if value is None or match is None:
        return None
    wh_words = match["wh"].lower().split()
    rest = f"is {match['rest']}" if match["is"] else match["rest"]
    if "you" not in question.lower() or _OPINION.search(question) or value.endswith(" one"):
        return None
    if wh_words == ["where"] and value.split(maxsplit=1)[0].lower() not in _PREPOSITIONS:
        value = f"in {value}"
    if wh_words[:2] == ["how", "many"] and len(wh_words) > 2 and _COUNT.match(value.lower()):
        value = f"{value} {' '.join(wh_words[2:])}"
    stated = _put_value(rest, value)
    if stated is None:
        return None
    text = state_in_first_person(stated)
    return text[0].upper() + text[1:]


def _read_value(answer: str) -> str | None:
    """Return the words of an answer without a verb, None if it is a sentence or says nothing."""
    value = answer.strip().rstrip(".! ")
    if match := _LEAD.match(value):
        value = value[match.end() :]
    words = [word.strip(",.;:!()'\"").lower() for word in re.split(r"[\s]+|['’]", value)]
    is_long = not value or len(words) > _LONGEST_ANSWER or "?" in answer
    is_clause = _CLAUSE.match(value) is not None
    if is_long or is_clause or _NO_VALUE.match(value) or not _VERBS.isdisjoint(words):
        return None
    if words[0] in lists.STARTERS or words[0] in _NUMBER_WORDS:
        value = value[0].lower() + value[1:]
    is_polite = set(words) <= lists.POLITE_WORDS or words[0] in lists.IMPERATIVES
    return None if is_polite else value


_NOUN_IS = re.compile(
    r"(?P<verb>is|are|was|were)\s+(?P<subject>you|(?:your|the)\s+.+?)(?P<called>\s+called"
    r"|\s+named)?\Z",
    re.IGNORECASE,
)


def _put_value(rest: str, value: str) -> str | None:
    """Return "your name is Ana" for "is your name", "you live in Kiel" for "do you live"."""
    if rest.lower() == "are you from":
        return f"you are from {value.removeprefix('in ')}"
    if match := _NOUN_IS.match(rest):
        subject, verb = match["subject"], match["verb"].lower()
        if subject.lower() == "you" or len(subject.split()) <= _LONGEST_SUBJECT:
            return f"{subject} {verb}{match['called'] or ''} {value}"
    answers = state_answers(rest)
    if answers is None:
        return None
    is_double = answers.yes.split()[-1] in _PREPOSITIONS
    return f"{answers.yes} {value.removeprefix('in ') if is_double else value}"
