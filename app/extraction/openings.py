"""Words at the ends of a sentence that are no part of what it states."""

import re
import unicodedata
from dataclasses import dataclass

from app.extraction.phrases import build_pattern

_MARK = r"\s*[,:;!.…–—-]+\s+"
_GAP = rf"(?:{_MARK}|\s+)"

# The speaker asks for the statement to be noted.
_POLITE = build_pattern("please/pls/can you/could you/also/and/oh and/ok/so")
_REMEMBER = build_pattern(
    """
    remember/note/keep in mind/bear in mind/don't forget/do not forget/never forget/make a note
    /make a mental note/take note/be aware/store/save/log/record/memorise/memorize/mind
    """
)
_LATER = build_pattern("this/it/down/the following/for later/for next time/for the future")
_MENTION = build_pattern(
    """
    you should know/you should also know/you should remember/i should mention/i should add
    /i should say/i forgot to mention/i forgot to say/i forgot to add/i meant to say
    /i meant to mention/worth knowing/worth noting/worth mentioning/it's worth knowing
    /it's worth noting/it's worth mentioning/just so you know/so you know/so that you know
    /just so you're aware/so you're aware/just for you to know/just letting you know
    /letting you know/might be useful to know/might be helpful to know
    """
)
_HEADING = build_pattern(
    """
    fyi/f.y.i./just fyi/for your information/for the record/for reference/for future reference
    /for context/for background/context/background
    /bit of background/a bit of background
    /some background/bit of context/a bit of context/some context
    /reminder/note to self/quick note/side note
    /heads up/heads-up/ps/p.s./nb/n.b./jsyk/one thing to remember/one more thing to remember
    /one thing to note/important/correction/from now on/from here on/going forward/in future
    """
)
_SPEAKER = build_pattern("i/i'm/we/my/our")
_NOTE = re.compile(
    rf"""
    (?: {_POLITE}[,\s]+ (?:please\s+)? ){{0,3}}
    (?: {_REMEMBER} (?:\s+{_LATER})* (?: \s+that\b{_GAP} | \s*:\s* | \s*[–—-]\s+ )
      | {_MENTION} (?: \s+that\b{_GAP} | {_GAP} )
      | {_HEADING} (?: \s+that\b\s+ | {_GAP} )
      | remember,\s+ | remember\s+(?={_SPEAKER})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Words that carry on a conversation. With a mark behind them they are never part of a statement.
_FILLERS = build_pattern(
    """
    so/well/oh/ah/hmm/um/uh/ok/okay/k/alright/right/yeah/yes/yep/yup/ya/yeh/aye/alas/och/no/nope/nah
    /also/plus/anyway/anyways/btw/by the way/basically/honestly/tbh/to be honest/to be fair
    /to be clear/to be precise/in fact/as i said/as i mentioned/as mentioned/as mentioned before
    /as i said before/like i said/fwiw/for what it's worth/unfortunately/fortunately/luckily/sadly
    /thankfully/hey/hey there/hi/hi there/hi all/hi everyone/hello/hello there/cool/great/nice
    /perfect/awesome/thanks/thanks a lot/thanks so much/thanks again/thanks for the help
    /thanks for your help/thank you/thank you so much/thank you very much/thx/ty/cheers/lol/haha/me
    /ugh/wow/wait/hang on/one more thing/one other thing/another thing/first/firstly/second/secondly
    /finally/lastly/besides/random fact/fun fact/quick question/quick one/just checking/morning
    /good morning/good evening/good afternoon/exactly/correct/that's right/that's correct/absolutely
    /indeed/true/sure/of course/and/but/now/see/look/listen/you see/you know/i mean/update/edit
    /long story short/in general/in short/good point/good idea/good question/fair enough/fair point
    /makes sense/got it/however/yes indeed/oh wow/me too/me neither/same here/same
    """
)
# "Ahh", "ohhh", "hmmm", "ughh".
_CRIES = r"(?:a+h+|o+h+|h+m+|u+g+h+|a+w+|e+w+|ha(?:ha)+|y+a+y+|o+o+f+)(?!\w)"
_LINKS = build_pattern(
    """
    so/and/but/oh/no/nope/nah/also/well/btw/yeah/yes/yeh/plus/anyway/ok/okay/basically/by the way
    /tbh/because/haha/lol/me,/since/cos/cuz/though/which is because/then/hi/hey/hello/thanks/ah
    """
)
_LOOSE_LINKS = build_pattern("and/but/also/plus/btw/by the way/alas/och/aye/else")
_SUBJECTS = build_pattern(
    """
    i/i'm/i've/i'll/im/ive/my/our/theres/hes/shes/its/we/we're/we've/he/she/they/it's/there's
    /remember/note/the/please/fyi/just/and/but/also
    """
)
_PREFACES = build_pattern(
    """
    the thing is/turns out/it turns out/the fun fact is/fun fact is/the reason is/i can confirm
    /as you know/as you may know/you know
    """
)
_FILLER = re.compile(
    rf"""
    {_FILLERS} {_MARK}
    | {_CRIES} {_GAP}
    | {_LINKS} \s+ (?={_SUBJECTS})
    | {_LOOSE_LINKS} ,? \s+ (?=\w+\s+\w)
    | {_PREFACES} (?: \s+that\b | , )? \s+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:[-*•–]|\d{1,2}[.)]|[a-z]\))\s+|[\"'“‘(]+(?=\S)|#+\s+")

# What may follow a statement, looked for in its last characters.
_TAIL_LENGTH = 48
_TAILS = build_pattern(
    """
    btw/by the way/fyi/thanks/thank you/thx/cheers/please/pls/lol/haha/tbh/though/tho/anyway
    /just so you know/jsyk/if that helps/if that matters/ok/okay/if that's relevant
    /if that's useful/if it's relevant/if it's important/for your information/for context
    /for reference/for the record/mate/lmao/rn/x/xx/xo
    """
)
_TAIL = re.compile(rf"[\s,;:.!–—-](?:{_TAILS}|[:;=]-?[)(DPp/]|<3|xD)\Z", re.IGNORECASE)
_TAIL_MARKS = " \t.!;,:–—-"


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a statement begins and ends in its sentence, and whether it is to be remembered."""

    start: int
    end: int
    is_note: bool


def strip_openings(text: str) -> Opening:
    """Return the place of the statement without list marks, fillers, and "remember that"."""
    place = 0
    is_note = False
    while True:
        if match := _LIST_MARK.match(text, place):
            place = match.end()
        elif match := _NOTE.match(text, place):
            place = match.end()
            is_note = True
        elif match := _FILLER.match(text, place):
            place = match.end()
        else:
            return Opening(place, _find_end(text, place), is_note)


def _find_end(text: str, start: int) -> int:
    """Return where the statement ends, before marks, emoji, "thanks" and the like."""
    end = len(text)
    while True:
        shorter = start + len(text[start:end].rstrip(_TAIL_MARKS))
        while shorter > start and _is_emoji(text[shorter - 1]):
            shorter -= 1
        if match := _TAIL.search(text, max(start, shorter - _TAIL_LENGTH), shorter):
            shorter = match.start()
        if shorter == end:
            return end
        end = shorter


def _is_emoji(character: str) -> bool:
    return ord(character) > 0x2000 and unicodedata.category(character) in {"So", "Sk", "Mn", "Cf"}
