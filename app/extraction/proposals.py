"""Reads what an assistant proposes about the user: "So you're allergic to penicillin?"."""

import re

from app.extraction.phrases import build_pattern

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
    /i'll note/i'll note that/i'll remember that/did you say/did you say that/didn't you say
    /didn't you say that/congratulations/lovely/nice/charming/noted that/i see
    """
)
_NOTE = (
    r"(?:shall|should|can|may|do\s+you\s+want|would\s+you\s+like|want)\s+(?:i|me\s+to)\s+(?:also\s+)?"
    r"(?:remember|note(?:\s+down)?|save|store|record|keep(?:\s+a\s+note|\s+in\s+mind)?"
    r"|make\s+a\s+note|write\s+down|add)\s+that\b"
)
_ASSUME = build_pattern(
    "suppose/guess/imagine/presume/understand/take it/gather/assume/believe/think/see/remember"
)
_SEEMS = r"(?:[^,.?!]{0,40}\s)?it\s+(?:looks|seems|sounds)\s+(?:like|as\s+if|as\s+though|that)\b"
_LEAD = re.compile(
    rf"(?:(?:{_LEAD_WORDS}|{_NOTE}|i\s+{_ASSUME}(?:\s+that\b)?|{_SEEMS})(?:\s*[,:;.!–—-]+\s*|\s+))+",
    re.IGNORECASE,
)
_TAIL_WORDS = build_pattern(
    """
    right/correct/yes/yeah/ok/okay/then/still/no/eh/true/am i right/did i get that right
    /have i got that right/do i have that right/if i remember correctly/if i recall
    /if i recall correctly/if i remember/if i remember rightly/if i'm not mistaken/it seems/i assume
    /i think/i believe/i guess/i take it/i gather/i presume/as far as you know/as far as i know
    /you said/you mentioned/you once mentioned/you once said/i think you said/you told me
    """
)
_TAG = (
    r"(?:is|are|do|does|did|has|have|was|were|will|can)(?:n['’]t)?\s+(?:it|he|she|they|you|that|we)"
    r"(?:\s+(?:still\s+)?(?:so|right|correct|true|hold|fair\s+to\s+say|fair|the\s+case))?"
)
_TAIL = re.compile(rf",\s*(?:{_TAIL_WORDS}|{_TAG})\s*\Z", re.IGNORECASE)
_LONE_TAIL = re.compile(rf"(?:{_TAIL_WORDS}|{_TAG})\s*\?", re.IGNORECASE)
# What the assistant does because of it: "…, so I used English spelling".
_CONSEQUENCE = re.compile(
    r",?\s{1,3}so\s{1,3}(?:i['’]?(?:ll|ve|d)?|that|shall|should|let['’]?s|please|run|use|try|most|it)\s.*\Z",
    re.IGNORECASE,
)


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
_YOURS_FIRST = re.compile(r"(?:you|your|you['’]\w+)\b", re.IGNORECASE)


def read_proposal(sentence: str) -> str | None:
    """Return what an assistant's sentence proposes, in the user's words.

    None if it only offers or asks something: it must be a statement about the user, or be a
    statement with a question mark.
    """
    text = sentence.strip().strip("*_ ")
    is_asked = text.endswith("?")
    text = text.rstrip("?.! ")
    if match := _LEAD.match(text):
        text = text[match.end() :]
    if match := _TAIL.search(text):
        text = text[: match.start()]
    text = _CONSEQUENCE.sub("", text)
    if not text or _OFFER.search(text) or not (is_asked or _YOURS_FIRST.match(text)):
        return None
    stated = _state_question(text)
    if _INVERTED.match(stated):
        return None
    swapped = state_in_first_person(stated)
    return swapped[0].upper() + swapped[1:]


_YOU_AND_YOURS = re.compile(
    r"are\s+you\s+and\s+(?P<other>your\s+[\w'’-]+)\s+(?P<rest>.+)", re.IGNORECASE
)
_STATED_VERBS = re.compile(r"(?P<verb>do|don['’]t|have)\s+you\s+", re.IGNORECASE)
_NAME = r"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*)"
_NAME_IN_PLACE = (
    rf"{_NAME}\s+(?:in|from|at|of)\s+{_NAME}(?=\s+(?:her|his|your|their|our|the|an?)\s)"
)
_YOUR_NOUN = (
    r"your\s+[\w'’-]+(?:\s+(?:name|birthday|flight|address|job|title|wife|husband|dog|cat))?"
    rf"(?:\s+{_NAME})?"
)
_SUBJECT = rf"(?P<subject>{_YOUR_NOUN}|{_NAME_IN_PLACE}|{_NAME})"
_BE_FIRST = re.compile(rf"(?P<verb>is|are|was|were|has)\s+{_SUBJECT}\s+(?P<rest>.+)", re.IGNORECASE)
_DOES_FIRST = re.compile(
    rf"does\s+{_SUBJECT}\s+(?P<adverb>(?:still|also|usually|always|often)\s+)?(?P<verb>[a-z]+)"
    r"(?P<rest>\s.*|\Z)",
    re.IGNORECASE,
)


def _state_question(text: str) -> str:
    """Return "your name is Anna" for "is your name Anna"; other texts as they are."""
    if match := _YOU_AND_YOURS.match(text):
        return f"you and {match['other']} are {match['rest']}"
    if match := _STATED_VERBS.match(text):
        return _state_verb(match["verb"].lower()) + text[match.end() :]
    if match := _BE_FIRST.match(text):
        return f"{match['subject']} {match['verb'].lower()} {match['rest']}"
    if match := _DOES_FIRST.match(text):
        verb = _put_in_third_person(match["verb"])
        return f"{match['subject']} {match['adverb'] or ''}{verb}{match['rest']}"
    return text


def _state_verb(verb: str) -> str:
    if verb == "do":
        return "you "
    return "you have " if verb == "have" else "you don't "


def _put_in_third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "o", "z")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_YOU = re.compile(
    r"\b(?:you\s+are(?:\s+not|n['’]t)?|you\s+were(?:\s+not|n['’]t)?|you['’]re|are\s+you|were\s+you"
    r"|you['’]ve|you['’]ll|yourself|yours|your|you)\b",
    re.IGNORECASE,
)
_SWAPPED = {
    "you are": "I am",
    "you are not": "I am not",
    "you aren't": "I'm not",
    "you're": "I'm",
    "are you": "I am",
    "you were": "I was",
    "you were not": "I was not",
    "you weren't": "I wasn't",
    "were you": "I was",
    "you've": "I've",
    "you'll": "I'll",
    "you": "I",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}


def state_in_first_person(text: str) -> str:
    """Return a text with "I", "me" and "my" for "you" and "your"."""
    return _YOU.sub(_swap_person, text)


def _swap_person(match: re.Match[str]) -> str:
    words = " ".join(match[0].lower().replace("’", "'").split())
    is_object = words == "you" and _is_object(
        match.string[: match.start()], match.string[match.end() :]
    )
    return "me" if is_object else _SWAPPED[words]


_PREPOSITIONS = frozenset("for to with of about from by at on like near behind beside".split())
_BEFORE_SUBJECT = frozenset(
    """
    that and or but so because when where while which what who whom if since as than how why
    """.split()
)
# "You" before one of these has no verb and is an object, unless it begins a clause.
_AFTER_OBJECT = frozenset(
    """
    a an the some any no my your his her its our their this these to in on at for with from of by
    about and or but every each more less most enough because when while until before after
    """.split()
)


def _is_object(before: str, after: str) -> bool:
    """Return True if the "you" between two texts stands for "me"."""
    words_before = before.split()
    if not words_before or words_before[-1].endswith((",", ";", ":", ".")):
        return False
    last = words_before[-1].lower()
    if last in _BEFORE_SUBJECT:
        return False
    following = after.split()[:1]
    if last in _PREPOSITIONS or not following or after.lstrip()[0] in ",.;:!?":
        return True
    return following[0].lower().strip(",.;") in _AFTER_OBJECT or last in _GIVING


_GIVING = frozenset(
    """
    give gives make makes help helps suit suits bother bothers remind reminds take takes tell tells
    told gave keep keeps drive drives
    """.split()
)
