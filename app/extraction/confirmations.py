"""Reads what a user confirms: "So you're allergic to penicillin?" and then "Yes, exactly."."""

import re

from app.extraction.phrases import build_pattern

_YES_WORDS = build_pattern(
    """
    yes/yep/yeah/yup/ya/yea/yeh/aye/alas/exactly/quite/quite so/affirmative/bang on/naturally
    /certainly/totally/correct/right/absolutely/indeed/true/definitely/precisely/of course/sure
    /sure is/sure am/sure do/that's right/that's correct/that's it/that's me/that's true
    /that's exactly it/that's exactly right/that's the one/that's what i said/that's what i meant
    /that is right/that is correct/you got it/you're right/you are right/i'm afraid so
    /i am afraid so/just so/none at all/not at all/as you say/that was it/spot on/bingo/confirmed
    /100%/all correct/both correct/got it in one/you remembered/still am/still do/still is
    /still true/well remembered
    """
)
_ECHO = r"(?:so\s+)?(?:i|we|it|she|he|they)\s+(?:am|do|is|are|does|have|has|did|was|were)\b"
_YES = re.compile(rf"(?:{_YES_WORDS}|{_ECHO})(?:[\s,.!–—-]+|\Z)", re.IGNORECASE)
_ADDED_WORDS = build_pattern(
    """
    thanks/thank you/please/that is/still/always/very much so/very/it is/i am/i do/all of it
    /good memory/well remembered/pls/lol/haha/unfortunately/sadly/mate/for now/at the moment/both
    """
)
_ADDED = re.compile(rf"(?:(?:{_ADDED_WORDS}|(?:only|just|all)\s+\w+)[\s,.!–—-]*)*\Z", re.IGNORECASE)
# A yes that goes on like this limits itself, or is the start of something else.
_LIMITED = re.compile(
    build_pattern(
        """
        but/if/when/only if/except/unless/sort/kind/kinda/more/less/mostly/well/not/no/or/and no
        /please/thanks/that/let/do/go/can/could/would/what/how/why/is/are/i'd
        """
    ),
    re.IGNORECASE,
)


def find_confirmation_end(sentence: str) -> int:
    """Return the end of the words that say yes at the start of a sentence, 0 if none do.

    What follows a mere yes may add to it, but must not limit it or ask for something.
    """
    place = 0
    while match := _YES.match(sentence, place):
        place = match.end()
    if not place:
        return 0
    if _ADDED.fullmatch(sentence, place):
        return len(sentence)
    has_mark = sentence[:place].rstrip()[-1] in ",.!;–—-"
    return place if has_mark and not _LIMITED.match(sentence, place) else 0


# How an assistant leads up to what it proposes, and how it asks at the end.
_LEAD_WORDS = build_pattern(
    """
    ok/okay/so/and/just/got it/understood/great/right/alright/noted/thanks/sure/ah/oh/good/perfect
    /then/wait/sorry/hmm/also/let me check/let me just check/let me confirm/let me make sure
    /let me check that/let me confirm that/let me make sure that/first/firstly
    /to confirm/just to confirm/to check
    /just to check/to clarify/just to clarify/to be sure/just to be sure/to be clear/just checking
    /am i right that/am i right in thinking/am i right in thinking that/is it right that
    /is it correct that/is it true that/do i have it right that/do i understand correctly that
    /did i get that right/did i understand that right/if i understand correctly
    /if i remember correctly/if i recall correctly/if i remember rightly/presumably/that means
    /which means/correct me if i'm wrong/sounds like/in other words/you mean/you mean that
    /you mentioned/you mentioned that/you said/you said that/you told me/you told me that/meaning
    /i'll note/i'll note that/shall i remember that/shall i note that/should i remember that
    /should i note that/want me to remember that
    """
)
_ASSUME = build_pattern(
    "suppose/guess/imagine/presume/understand/take it/gather/assume/believe/think/see/remember"
)
_SEEMS = r"(?:[^,.?!]{0,40}\s)?it\s+(?:looks|seems|sounds)\s+(?:like|as\s+if|as\s+though|that)\b"
_LEAD = re.compile(
    rf"(?:(?:{_LEAD_WORDS}|i\s+{_ASSUME}(?:\s+that\b)?|{_SEEMS})(?:\s*[,:;.!–—-]+\s*|\s+))+",
    re.IGNORECASE,
)
_TAIL_WORDS = build_pattern(
    """
    right/correct/yes/is that right/is that correct/isn't it/aren't you/don't you/yeah/then
    /did i get that right/if i remember correctly
    """
)
_TAIL = re.compile(rf",\s*{_TAIL_WORDS}\s*\Z", re.IGNORECASE)
_LONE_TAIL = re.compile(rf"{_TAIL_WORDS}\s*\?", re.IGNORECASE)


def is_tag_question(sentence: str) -> bool:
    """Return True for a question such as "Right?", which asks for what was said before it."""
    return _LONE_TAIL.fullmatch(sentence) is not None


_OFFER = re.compile(
    r"\b(?:would|shall|should|can|could|may|want|like)\s+(?:you\s+like|i|me|we)\b"
    r"|\b(?:do|would)\s+you\s+(?:want|like|need|mind)\b"
    r"|\byou\s+(?:could|should|might|can|may|would|want)\b"
    r"|\b(?:does|did|will|would)\s+(?:that|this|it)\b|\b(?:ready|happy)\s+to\b"
    r"|\bany(?:thing)?\s+else\b|\b(?:i|me|we|us|help)\b|\bmake\s+sense\b"
    r"|\bsound\s+(?:good|right|ok)\b"
    r"|\A(?:want|need|like|ready|shall|should|what|which|how|when|where|who|why|can|could|would|will)\b",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"(?:do|does|did|is|are|was|were|have|has|had|any|or)\b(?!\s+you\b)", re.IGNORECASE
)


def read_proposal(sentence: str) -> str | None:
    """Return what an assistant's sentence proposes, in the user's words.

    None if it only offers or asks something: it must speak of the user, or be a statement with a
    question mark.
    """
    text = sentence.strip().strip("*_ ")
    is_asked = text.endswith("?")
    text = text.rstrip("?.! ")
    if match := _LEAD.match(text):
        text = text[match.end() :]
    if match := _TAIL.search(text):
        text = text[: match.start()]
    if not text or _OFFER.search(text) or not (is_asked or _YOU.search(text)):
        return None
    stated = _state_question(text)
    if _INVERTED.match(stated):
        return None
    swapped = _YOU.sub(_swap_person, stated)
    return swapped[0].upper() + swapped[1:]


_DO_YOU = re.compile(r"(?:do|don['’]t)\s+you\s+", re.IGNORECASE)
_HAVE_YOU = re.compile(r"have\s+you\s+", re.IGNORECASE)
_IS_YOUR = re.compile(
    r"(?P<verb>is|are|was|were)\s+(?P<subject>your\s+[\w'’-]+"
    r"(?:\s+(?:name|birthday|flight|address|job|title|wife|husband|dog|cat))?)\s+(?P<rest>.+)",
    re.IGNORECASE,
)


def _state_question(text: str) -> str:
    """Return "your name is Anna" for "is your name Anna"; other texts as they are."""
    if match := _DO_YOU.match(text):
        return "you " + text[match.end() :]
    if match := _HAVE_YOU.match(text):
        return "you have " + text[match.end() :]
    if match := _IS_YOUR.match(text):
        return f"{match['subject']} {match['verb'].lower()} {match['rest']}"
    return text


_YOU = re.compile(
    r"\b(?:you\s+are|you['’]re|are\s+you|you\s+were|were\s+you|you['’]ve|you['’]ll"
    r"|yourself|yours|your|you)\b",
    re.IGNORECASE,
)
_SWAPPED = {
    "you are": "I am",
    "you're": "I'm",
    "are you": "I am",
    "you were": "I was",
    "were you": "I was",
    "you've": "I've",
    "you'll": "I'll",
    "you": "I",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}
_BEFORE_OBJECT = re.compile(
    build_pattern(
        """
        for/to/with/of/about/from/by/at/on/like/than/near/give/gives/make/makes/help/helps/suit/suits
        /bother/bothers/remind/reminds/take/takes/tell/tells/told/gave/keep/keeps/drive/drives
        """
    )
    + r"\s+\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 12


def _swap_person(match: re.Match[str]) -> str:
    words = " ".join(match[0].lower().replace("’", "'").split())
    before = match.string[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
    if words == "you" and _BEFORE_OBJECT.search(before):
        return "me"
    return _SWAPPED[words]
