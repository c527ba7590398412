"""Checking that a fact of the model rests on words that were said.

A model may obey a text that it reads, and answer a fact of its own with any quote. So most words of
a fact must stand in its quotes, nearly all of them in what the user wrote, and both must deny the
same, or neither.
"""

import re
from collections.abc import Sequence

from app.domain.talk import Extraction, Quote, Role, Skipped, SkipReason, Statement, Turn
from app.domain.text import fold
from app.extraction.confirmations import find_confirmation_end, find_denial_end
from app.extraction.model.answer import AnswerFact
from app.extraction.model.prompt import SHOWN_ROLES
from app.extraction.quotes import find_quotes

MAX_FACT = 1_000
STEM = 4

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_FRAMES = (SkipReason.QUOTATION, SkipReason.CODE, SkipReason.TABLE, SkipReason.LOG)
# The shares of a fact's words that must stand in its quotes, and in those or another turn of the
# user that the model saw: a fact has nouns for the pronouns of its quote.
LEAST_QUOTED = 0.5
LEAST_OF_USER = 0.6
# Words that say little by themselves, and words for an end, which a fact may add: "never mind the
# appointment" becomes "The appointment is cancelled".
_SMALL_WORDS = frozenset(
    """
    a an the this that these those it its there here i i'm i've i'd i'll me my mine myself we us our
    you your he him his she her they them their user user's who which what and or but so than then
    too also as of in on at to for from with by about into over up out be am is are was were been
    being do does did doing have has had having will would shall should can could may might must
    going gets got get used make makes made one ones some any all very really just still now
    """.split()
)
_ENDINGS = re.compile(
    r"\b(?:cancel\w*|call(?:ed)? off|no longer|any ?more|stop\w*|quit\w*|g[ai]ven? up|former\w*"
    r"|used to|done with|never ?mind|forget|dropp?\w*|over|ended)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|cannae|dinnae|nae|hardly"
    r"|barely|nope|nah|dont|cant|wont|isnt|arent|doesnt|didnt|havent|hasnt|nicht|kein\w*|nie"
    r"|niemals"
    r"|ohne|non|pas|jamais|sans|n[aã]o|nunca|jam[aá]s|sin|sem|mai|senza|niet|geen|nooit|ikke|inte"
    r"|aldrig|\w+n['’]t)\b|ない|ません|なく|不|没",
    re.IGNORECASE,
)
# Where the clause of a quote begins at the latest.
_BORDER = re.compile(
    r"[.!?;:,\n…–—]|\b(?:but|and|aber|und|pero|mais|mas|ma|et|y|e)\b", re.IGNORECASE
)
_END = re.compile(r"[.!?\n]+(?:\s|$)|[。！？]")
_PUT_TO_USER = re.compile(
    r"[?？]\s*$|\b(?:you\w*|du|dein\w*|sie|ihr\w*|tu|t[ue]s?|toi|vous|votre|usted\w*|você\w*|lei"
    r"|voi)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|whether|suppose|imagine|pretend)\b", re.IGNORECASE)
# "Do I smoke?" states nothing, unlike "Did you know that I smoke?".
_ASKS = re.compile(
    r"\W*(?:do|did|am|was|are|were|have|had|should|shall|can|could|would|will|may|might|must)"
    r"\s+(?:i|we)\b.*[?？]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_WORDS_OF_ANOTHER = re.compile(
    r"(?<!\bi )\b(?:said|says|wrote|writes|answered|replied|texted|told\s+\w+|asked)\s*[:,]\s*$",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:i|we|me|us)\b", re.IGNORECASE)
_OTHER_SUBJECT = re.compile(
    r"\W*(?i:my|our|his|her|their|your|the|he|she|they|you|it)\s+\w|\W*[A-Z]\w+\s+\w+s\b"
)
_OWN_DEED = re.compile(r"(?:I|We)\s+(\w{3,})")
_YES_OR_NO = re.compile(
    r"\s*(?:(?P<no>no|nope|nah|nein|non|n[aã]o|nee|nej)|yes|yeah|yep|ja|s[ií]m?|oui)\b[\s,.!–—-]*",
    re.IGNORECASE,
)
# Words behind a yes or a no that say no more than it does: "yes, exactly".
MOST_IN_ANSWER = 2
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SUFFIX = re.compile(r"['’](?:s|m|re|ve|ll|d)\b", re.IGNORECASE)
_COMMON_STARTS = frozenset("the my our we an this there it he she they user".split())


def find_support(
    fact: AnswerFact, turns: Sequence[Turn], places: Sequence[int]
) -> Statement | None:
    """Return the fact as a statement with its quotes; None if it is not supported.

    `places[n - 1]` is the place of turn number n. A fact is supported if its quote stands verbatim
    in a turn of the user, if its proposal stands verbatim in the assistant's last turn before, and
    if it brings in no number, no name and few words of its own, denies what its quotes deny, and
    is of the one of whom they are.
    """
    quote = _find_quote(fact.quote.words, turns, places[fact.quote.number - 1], Role.USER)
    if quote is None or len(fact.text) > MAX_FACT:
        return None
    quotes = [quote]
    if fact.proposal is not None:
        earlier = range(quote.turn - 1, -1, -1)
        last = next((at for at in earlier if turns[at].role is Role.ASSISTANT), None)
        proposal = _find_quote(fact.proposal, turns, last, Role.ASSISTANT)
        if proposal is None or not _answers_proposal(quote, proposal, turns):
            return None
        quotes.append(proposal)
    if _brings_in_more(fact.text, quotes, turns) or _denies_another(fact.text, quotes, turns):
        return None
    if fact.proposal is None and _states_of_another(fact.text, quote, turns):
        return None
    return Statement(fact.text, tuple(quotes), kind=fact.kind)


def _answers_proposal(quote: Quote, proposal: Quote, turns: Sequence[Turn]) -> bool:
    """Return True if the proposal is put to the user, and the quote may answer it.

    A text that the assistant shows puts nothing to the user. An answer is a yes or a no, or comes
    first in its turn.
    """
    proposed = _read_sentence(proposal, turns)
    answer = _read_sentence(quote, turns).strip()
    is_first = turns[quote.turn].content.lstrip().startswith(answer)
    is_answer = find_confirmation_end(answer) > 0 or find_denial_end(answer) > 0 or is_first
    return is_answer and _PUT_TO_USER.search(proposed) is not None


def drop_framed(extraction: Extraction, read: Extraction, turns: Sequence[Turn]) -> Extraction:
    """Return the model's extraction without what it took from quotations and pasted blocks.

    `read` is what the network makes of the same turns: it sees such frames. What stands in
    quotation marks is one for its form.
    """
    quotations = [
        Skipped(Quote(number, *place), SkipReason.QUOTATION)
        for number, turn in enumerate(turns)
        for place in find_quotes(turn.content)
    ]
    for reason in _FRAMES:
        skipped = (*read.skipped, *quotations)
        frames = [part.quote for part in skipped if part.reason is reason]
        framed = {
            statement
            for statement in extraction.statements
            if any(_contains(frame, statement.quotes[0]) for frame in frames)
        }
        extraction = extraction.drop(framed, reason)
    return extraction


def _contains(frame: Quote, quote: Quote) -> bool:
    return frame.turn == quote.turn and frame.start <= quote.start and quote.end <= frame.end


def read_quote(quote: Quote, turns: Sequence[Turn]) -> str:
    """Return the words of a quote."""
    return turns[quote.turn].content[quote.start : quote.end]


def _find_quote(words: str, turns: Sequence[Turn], place: int | None, role: Role) -> Quote | None:
    if place is None or turns[place].role is not role or not _WORD.search(words):
        return None
    start = turns[place].content.find(words)
    return None if start < 0 else Quote(place, start, start + len(words))


def _brings_in_more(fact: str, quotes: Sequence[Quote], turns: Sequence[Turn]) -> bool:
    """Return True if the fact has a number, a name or too many words of its own.

    Numbers must stand in the quotes. A name may come from any turn that the model saw, because it
    may replace a pronoun.
    """
    quoted = " ".join(read_quote(quote, turns) for quote in quotes)
    if not set(_NUMBER.findall(fact)) <= set(_NUMBER.findall(quoted)):
        return True
    names = {fold(name) for name in _CAPITALISED.findall(fact)} - _COMMON_STARTS
    shown = fold(" ".join(turn.content for turn in turns if turn.role in SHOWN_ROLES))
    if any(name not in shown for name in names):
        return True
    in_quotes = _list_stems(quoted + " " + _read_sentence(quotes[0], turns))
    by_user = " ".join(turn.content for turn in turns if turn.role is Role.USER)
    of_user = in_quotes | _list_stems(by_user) | {name[:STEM] for name in names}
    words = _list_stems(_NEGATION.sub(" ", _ENDINGS.sub(" ", fact))) - _SMALL_STEMS
    words = words or _list_stems(fact)
    return (
        len(words & (in_quotes | {name[:STEM] for name in names})) < LEAST_QUOTED * len(words)
        or len(words & of_user) < LEAST_OF_USER * len(words)
        or not (_list_stems(fact) & _list_stems(quoted))
    )


def _denies_another(fact: str, quotes: Sequence[Quote], turns: Sequence[Turn]) -> bool:
    """Return True if only one of the fact and its quote is denied, or if it is a mere condition.

    The quote may begin behind the "not" or the "if" of its clause. An end denies without a "not":
    "I quit smoking", "I do not smoke any more".
    """
    clause = _read_clause(quotes[0], turns)
    if _CONDITION.search(clause) and not _CONDITION.search(fact):
        return True
    proposals = [read_quote(quote, turns) for quote in quotes[1:]]
    stated = " ".join([clause, *proposals])
    denied = _NEGATION.search(fact) is not None
    if denied in _list_senses(clause, proposals):
        return False
    plain, other = (stated, fact) if denied else (fact, stated)
    return not (_list_endings(plain) - _list_endings(other))


def _states_of_another(fact: str, quote: Quote, turns: Sequence[Turn]) -> bool:
    """Return True if the user asks it, passes on what somebody said, or says it of another."""
    sentence, clause = _read_sentence(quote, turns), _read_clause(quote, turns)
    before = turns[quote.turn].content[: quote.start]
    if _ASKS.match(sentence) or _WORDS_OF_ANOTHER.search(before):
        return True
    deed = _OWN_DEED.match(fact)
    if deed is None or _SELF.search(clause) or not _OTHER_SUBJECT.match(clause):
        return False
    return any(stem.startswith(deed[1][:STEM].casefold()) for stem in _list_stems(clause))


def _list_senses(clause: str, proposals: Sequence[str]) -> set[bool]:
    """Return whether the clause denies something, and whether the answer to a proposal does."""
    lead = _YES_OR_NO.match(clause)
    rest = clause[lead.end() :] if lead else clause
    senses = {_NEGATION.search(proposal) is not None for proposal in proposals}
    if lead and lead["no"]:
        senses = {True}
    if not senses or len(_WORD.findall(rest)) > MOST_IN_ANSWER:
        senses.add(_NEGATION.search(rest) is not None)
    return senses


def _list_endings(text: str) -> set[str]:
    return {word[:STEM].casefold() for word in _ENDINGS.findall(text)}


def _read_sentence(quote: Quote, turns: Sequence[Turn]) -> str:
    """Return the words of the sentences in which the quote begins and ends."""
    text = turns[quote.turn].content
    start = max((match.end() for match in _END.finditer(text, 0, quote.start)), default=0)
    end = _END.search(text, max(quote.start, quote.end - 1))
    return text[start : end.end() if end else len(text)]


def _read_clause(quote: Quote, turns: Sequence[Turn]) -> str:
    """Return the words of the quote with those of its clause before it."""
    text = turns[quote.turn].content
    if _BORDER.match(text, quote.start):
        return read_quote(quote, turns)
    borders = _BORDER.finditer(text, 0, quote.start)
    return text[max((match.end() for match in borders), default=0) : quote.end]


def _list_stems(text: str) -> set[str]:
    """Return the first letters of each word: "working" and "works" begin alike.

    Of a script without blanks, return each pair of characters.
    """
    stems: set[str] = set()
    for word in _WORD.findall(fold(_SUFFIX.sub("", text))):
        if _EAST_ASIAN.search(word):
            stems |= {word[place : place + 2] for place in range(max(1, len(word) - 1))}
        else:
            stems.add(word[:STEM])
    return stems


_SMALL_STEMS = frozenset(word[:STEM] for word in _SMALL_WORDS)
