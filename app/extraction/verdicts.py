"""Decides whether a clause states something that is worth knowing later."""

import re

from app.domain.talk import SkipReason
from app.extraction import words as lists
from app.extraction.ellipses import write_out
from app.extraction.phrases import list_phrases
from app.extraction.subjects import is_confirmable, is_stated
from app.extraction.tokens import Clause


def find_skip_reason(
    clause: Clause, *, is_note: bool = False, is_confirmed: bool = False
) -> SkipReason | None:
    """Return why the clause states nothing, None if it states something.

    `is_note` is True if the speaker asked for it to be remembered. Then anything counts that is no
    question. `is_confirmed` is True for what an assistant proposed and the user confirmed.
    """
    if not clause.words:
        return SkipReason.NO_STATEMENT
    if is_question(clause):
        return SkipReason.QUESTION
    if is_note:
        return None if len(clause.words) > 2 else SkipReason.NO_STATEMENT
    if _names_speaker(clause):
        return None
    clause = write_out(clause)
    for is_such, reason in _CHECKS:
        if is_such(clause):
            return reason
    if is_stated(clause) or (is_confirmed and is_confirmable(clause)):
        return None
    return SkipReason.NO_STATEMENT


def is_question(clause: Clause) -> bool:
    """Return True for a question, with or without its mark."""
    if clause.text.rstrip(" \"'”’)!").endswith("?"):
        return True
    first = clause.words[0]
    following = clause.words[1] if len(clause.words) > 1 else ""
    if first in lists.QUESTION_WORDS:
        return True
    if first in lists.QUESTION_OPENINGS:
        return following in _ASKED_SUBJECTS or first in {"any", "anyone", "anybody"}
    return clause.starts_with("what about", "how about", "not sure", "wondering", "just wondering")


_ASKED_SUBJECTS = frozenset(
    """
    i you we he she they it there this that these those the my our your his her anyone any
    """.split()
)


_POLITE_OPENINGS = list_phrases(
    """
    thanks/thank/cheers/sorry/thx/nice to/have a/much obliged/i am much obliged/i appreciate/bless
    """
)
_FAREWELLS = list_phrases(
    """
    enjoyed chatting/enjoyed talking/enjoyed our chat/enjoyed this chat/nice chatting/nice talking
    /good chatting/good talking/great chatting/great talking
    """
)
_LONGEST_POLITENESS = 8


def _is_polite(clause: Clause) -> bool:
    if clause.word_set <= lists.POLITE_WORDS or clause.contains(*_FAREWELLS):
        return True
    return len(clause.words) <= _LONGEST_POLITENESS and clause.starts_with(*_POLITE_OPENINGS)


_WISHES = list_phrases(
    """
    i wish/we wish/i hope/we hope/hopefully/i want/we want/i would love/i would like
    /we would love/we would like/i would rather/i would prefer/would be nice/would be great
    /would be cool/would be lovely/would be amazing/if only/one day i/someday/i dream
    /dreaming of/my dream/looking forward/can not wait/i would kill/i would give
    /fingers crossed/i am hoping/we are hoping/i would die/i really want/i just want
    /i always wanted/i have always wanted/really hope/i am tempted/i fancy/bucket list
    /i also want/wish i/wishes/i long/our hope/my hope/would be a dream/i would really
    /i would absolutely
    """
)


def _is_wish(clause: Clause) -> bool:
    is_dream = clause.contains("love to", "like to") and clause.contains("one day")
    return is_dream or clause.contains(*_WISHES)


_SUPPOSED = list_phrases(
    """
    what if/suppose/supposing/imagine/let us say/say i/say we/assuming/assume/maybe
    /perhaps/might/hypothetically/in theory/i could/we could/would/unless/in case
    /theoretically/pretend/could be/may be/possibly/could
    """
)


def _is_supposed(clause: Clause) -> bool:
    if {"maybe", "perhaps"} & set(clause.words[:3]):
        return True
    is_opened = clause.starts_with(
        "if", "even if", "only if", "when i will", "had i", "were i", "should"
    )
    return is_opened or clause.contains(*_SUPPOSED)


_QUOTED = re.compile(r"[\"“”«»]|(?:(?<=\s)|^)['‘](?=\w).*\w[.!?,]?['’](?=\W|$)")
_REPORTS = frozenset(
    """
    said says say saying repeats goes repeated told tells wrote writes replied asked asks went like
    shouted yelled quoted quote quoting texted emailed claims claimed reads read answered announced
    posted tweeted
    """.split()
)


_NAMING = frozenset(
    """
    called named titled nicknamed sign signed label labelled labeled name nickname
    """.split()
)


def _is_quotation(clause: Clause) -> bool:
    if clause.starts_with("according to", "quote", "to quote", "as the saying goes"):
        return True
    match = _QUOTED.search(clause.text)
    if match is None or clause.word_set & _NAMING:
        return False
    return bool(clause.word_set & _REPORTS) or _has_long_quote(clause.text)


_LONG_QUOTE = re.compile(r"[\"“«](?:\S+\s+){4,}\S*[\"”»]")


def _has_long_quote(text: str) -> bool:
    return _LONG_QUOTE.search(text) is not None


_REQUESTS = list_phrases(
    """
    i need you/i want you/i would like you/can you/could you/would you/i need help
    /need help/i need a/i need an/i need some/i need to/we need a/we need to/we need some
    /you should/you can/you could/you need/you must/feel free/let me know/i am looking for
    /we are looking for/looking for/your task/your job/help me
    """
)


_BEFORE_ORDERS = frozenset("please pls also then now just and so ok kindly first finally".split())


_OWN_NAME = re.compile(
    r"(?:please\s+|just\s+|you\s+can\s+(?:just\s+)?|(?:people|friends|everyone)\s+)?"
    r"call me (?-i:[A-Z])\w+\Z",
    re.IGNORECASE,
)


def _names_speaker(clause: Clause) -> bool:
    """Return True for "call me Bea"."""
    return _OWN_NAME.match(clause.text) is not None


def _is_request(clause: Clause) -> bool:
    words = clause.words
    while words and words[0] in _BEFORE_ORDERS:
        words = words[1:]
    if not words:
        return True
    is_order = words[0] in lists.IMPERATIVES and not _names_subject(words)
    is_asked = clause.contains("i need you to", "i want you to", "for me please")
    return is_order or is_asked or clause.starts_with(*_REQUESTS)


def _names_subject(words: tuple[str, ...]) -> bool:
    """Return True if the first word is a noun, as in "book club is on Mondays"."""
    return any(
        word in {"is", "are", "was", "were", "has", "have", "happens", "starts", "runs", "takes"}
        for word in words[1:4]
    )


_UNSEEN = list_phrases(
    """
    not seen/never seen/not watched/never watched/never saw/not read/never read/did not see
    /not heard/never heard
    """
)


def _is_unseen(clause: Clause) -> bool:
    """Return True if somebody has not seen or read something yet, which may change any evening."""
    return clause.contains(*_UNSEEN)


_CHECKS = (
    (_is_polite, SkipReason.POLITENESS),
    (_is_quotation, SkipReason.QUOTATION),
    (_is_wish, SkipReason.WISH),
    (_is_supposed, SkipReason.HYPOTHETICAL),
    (_is_request, SkipReason.REQUEST),
    (_is_unseen, SkipReason.NO_STATEMENT),
)
