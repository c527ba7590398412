"""Reads what an assistant proposes about the user: "So you're allergic to penicillin?"."""

import re

from app.extraction.phrases import build_pattern
from app.extraction.polar_questions import Answers, state_answers
from app.extraction.words import LASTING_ADJECTIVES

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
    /didn't you say that/hello/hi/hey/yea/yeah/wow/cool/haha/lol/congratulations/lovely
    /nice/charming/noted that
    /i see
    """
)
_NOTE = (
    r"(?:shall|should|can|may|do\s+you\s+want|would\s+you\s+like|want)\s+(?:i"
    r"|me\s+to)\s+(?:also\s+)?"
    r"(?:remember|note(?:\s+down)?|save|store|record|keep(?:\s+a\s+note|\s+in\s+mind)?"
    r"|make\s+a\s+note|write\s+down|add)\s+that\b"
)
_ASSUME = build_pattern(
    "suppose/guess/imagine/presume/understand/take it/gather/assume/believe/think/see/remember"
)
_SEEMS = r"(?:[^,.?!]{0,40}\s)?it\s+(?:looks|seems|sounds)\s+(?:like|as\s+if|as\s+though|that)\b"
_LEAD = re.compile(
    rf"(?:(?:{_LEAD_WORDS}|{_NOTE}|i\s+{_ASSUME}(?:\s+that\b)?|{_SEEMS})(?:\s*[,:;.!–—-]+\s*"
    rf"|\s+))+",
    re.IGNORECASE,
)
# An assistant speaks of itself before it comes to the user: "From what you told me, you …".
_YOURS = (
    r"(?=(?:so\s+)?(?:(?:do|does|did|are|is|were|was|have|has|can|will)\s+)?"
    r"(?:you|your|you['’]\w+)\b)"
)
_TIED = r"(?:on|in|at|for|when|while|because|since|although|after|before|every|each|with|if|unless)"
_OWN = r"(?:i|i['’]\w+|me|my|we|let['’]?s)"
_SPEAKERS_LEAD = re.compile(
    rf"(?:(?:{_TIED}\b(?=[^,:–—]*\b{_OWN}\b)|(?!{_TIED}\b))[^,:;.!?–—]{{1,60}}[,:–—-]\s+"
    rf"(?:and\s+)?{_YOURS}"
    r"|(?:may|can|could|would|should|shall|am|is|will)\s+(?:i|it)\s[^,?]{0,30}?"
    r"\b(?:say|saying|assume|assuming|think|thinking|note|remember|save|store|record|right|mind)"
    rf"\s+(?:that\s+)?{_YOURS}"
    r"|[^,?]{0,40}\b(?:remember|note|save|store|record|mind)\s+that\s+(?=\w+\s+\w+\s+\w))",
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
_TAIL = re.compile(rf"\s*[,–—-]\s*(?:{_TAIL_WORDS}|{_TAG})\s*\Z", re.IGNORECASE)
_LONE_TAIL = re.compile(rf"(?:{_TAIL_WORDS}|{_TAG})\s*\?", re.IGNORECASE)
# What the assistant does because of it: "…, so I used English spelling".
_CONSEQUENCE = re.compile(
    r",?\s{1,3}so\s{1,3}(?:i['’]?(?:ll|ve|d)?|that|shall|should|let['’]?s|please|run|use|try|most"
    r"|it)\s.*\Z",
    re.IGNORECASE,
)


def is_tag_question(sentence: str) -> bool:
    """Return True for a question such as "Right?", which asks for what was said before it."""
    return _LONE_TAIL.fullmatch(sentence) is not None


_OFFER = re.compile(
    r"\b(?:would|shall|should|can|could|may|want|like)\s+(?:i|me|we)\b"
    r"|\bwould\s+you\s+like\b|\bdo\s+you\s+(?:want|need|mind)\b"
    r"|\byou\s+(?:could|should|might|can|may|would|want)\b"
    r"|\b(?:does|did|will|would)\s+(?:that|this|it)\b|\b(?:ready|happy)\s+to\b"
    r"|\bany(?:thing)?\s+else\b|\b(?:i|me|we|us|help)\b|\bmake\s+sense\b"
    r"|\bsound\s+(?:good|right|ok)\b"
    r"|\A(?:want|need|like|ready|shall|should|what|which|how|when|where|who|why|could|would)\b"
    r"|\A(?:can|will)\s+you\s+(?!drive|swim|eat|drink|have|be|speak|read|play|cook|ride|walk)\w",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"(?:do|does|did|is|are|was|were|have|has|had|can|will|any|or|\w+n['’]t)\b(?!\s+you\b)",
    re.IGNORECASE,
)
_YOURS_FIRST = re.compile(r"(?:you|your|you['’]\w+)\b", re.IGNORECASE)
# What somebody has seen or tried, or how they are just now, is talk.
_OF_THE_TALK = re.compile(
    r"(?:have|has|did|do|does)\s+(?:you|he|she|they)\s+(?:ever\s+|also\s+|already\s+|just\s+)?"
    r"(?:seen?|heard?|tried|try|watch(?:ed)?|read|check(?:ed)?|look(?:ed)?|notice|know|mean|think"
    r"|thought|hear|see|find|found|got|get|remember|finish(?:ed)?|considered|understand|agree)\b",
    re.IGNORECASE,
)
# What is named is a film or a book, which lasts.
_TITLE = re.compile(
    r"\b(?:seen?|read|watch(?:ed)?|heard\s+of|got|get|play(?:ed)?)\s+"
    r"(?:(?:it|that)\Z|(?:\w+\s+){0,3}(?:movies?|films?|shows?|series|books?|novels?|comics)\b"
    r"|(?:the\s+|any\s+of\s+the\s+|all\s+the\s+)?(?-i:[A-Z])"
    r"|(?!it\b|them\b|th(?:is|at|e|ese|ose)\b|any|my\b|your\b|an?\b|what\b|how\b|one\b|some)"
    r"\w+\s+\w)",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no)\b|n['’]t\b", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\bor\b", re.IGNORECASE)
_ANY = re.compile(r"\bany(?:one|body|thing|where)?\b", re.IGNORECASE)


def read_proposal(sentence: str) -> Answers | None:
    """Return what a yes to an assistant's sentence states, and a no, in the user's words.

    None if it only offers or asks something: it must be a statement about the user, or be a
    statement with a question mark. What a no states is None if that is not plain.
    """
    text = sentence.strip().strip("*_ ")
    is_asked = text.endswith("?")
    text = text.rstrip("?.! ")
    if match := _TAIL.search(text):
        text = text[: match.start()]
    for lead in (_LEAD, _SPEAKERS_LEAD):
        if match := lead.match(text):
            text = text[match.end() :]
    text = _CONSEQUENCE.sub("", text)
    is_open = _ALTERNATIVE.search(text) and not _NEGATION.search(text)
    is_talk = _OF_THE_TALK.match(text) and not _TITLE.search(text)
    if not text or is_open or _OFFER.search(text) or is_talk:
        return None
    if not is_asked:
        return _put_in_first_person(Answers(text, None)) if _YOURS_FIRST.match(text) else None
    answers = state_answers(text) or Answers(_write_out_fragment(text), None)
    return None if _INVERTED.match(answers.yes) else _put_in_first_person(answers)


def leaves_open(stated: str) -> bool:
    """Return True if a yes states too little: "I have any allergies" does not say which."""
    return bool(_ANY.search(stated)) and not _NEGATION.search(stated)


_FRAGMENT = re.compile(r"(?P<still>still\s+)?(?P<state>[\w-]+)\b", re.IGNORECASE)


def _write_out_fragment(text: str) -> str:
    """Return "you are still vegan" for "still vegan"; other texts as they are."""
    match = _FRAGMENT.match(text)
    if match is None:
        return text
    state = match["state"].lower()
    is_state = state in LASTING_ADJECTIVES
    is_place = state in {"at", "in", "with", "on"} or state.endswith("ing")
    text = text[0].lower() + text[1:] if match["still"] or is_state else text
    return f"you are {text}" if is_state or (match["still"] and is_place) else text


def _put_in_first_person(answers: Answers) -> Answers:
    yes = state_in_first_person(answers.yes)
    no = state_in_first_person(answers.no) if answers.no else None
    return Answers(yes[0].upper() + yes[1:], no and no[0].upper() + no[1:])


_YOU = re.compile(
    r"\b(?:you\s+(?:two|both|all|guys)|you\s+are(?:\s+not|n['’]t)?|you\s+were(?:\s+not|n['’]t)?"
    r"|you['’]re|are\s+you|were\s+you"
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


_GROUPS = {"you two": "we", "you guys": "we", "you both": "we both", "you all": "we all"}
_PARTNER = re.compile(r"you\s+and\s+((?:(?:your|the)\s+)?[\w'’-]+)(?=\s)", re.IGNORECASE)


def state_in_first_person(text: str) -> str:
    """Return a text with "I", "me" and "my" for "you" and "your"."""
    return _YOU.sub(_swap_person, _PARTNER.sub(r"\1 and I", text, count=1))


def _swap_person(match: re.Match[str]) -> str:
    words = " ".join(match[0].lower().replace("’", "'").split())
    if words in _GROUPS:
        return _GROUPS[words]
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
