"""Reads what a user confirms: "So you're allergic to penicillin?" – "Yes, exactly."."""

import re

_YES = re.compile(
    r"""
    (?: yes|yep|yeah|yup|ya|yea|yeh|aye|alas|exactly|quite(?:\ so)?|affirmative|bang\ on|naturally|certainly|totally|correct|right|absolutely|indeed|true|definitely|precisely|of\ course|sure(?:\ is|\ am|\ do)?
      | that['’]?s\ (?:right|correct|it|me|true|exactly\ (?:it|right)|the\ one|what\ i\ (?:said|meant))|you\ got\ it|(?:i(?:['’]m|\ am)\ afraid\ )?you(?:['’]re|\ are)\ right|i(?:['’]m|\ am)\ afraid\ so|just\ so|so\ (?:i|we)\ (?:am|are|do|have)|none\ at\ all|not\ at\ all|as\ you\ say|that\ was\ it|spot\ on|bingo|confirmed|affirmative
      | (?:i|we|it|she|he|they)\ (?:am|do|is|are|does|have|has|did|was|were)|100%|that\ is\ (?:right|correct)|all\ correct|both\ correct|got\ it\ in\ one|you\ remembered|still\ (?:am|do|is|true)|well\ remembered
    )
    (?:[\s,.!–—-]+|\Z)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REST = re.compile(
    r"(?:(?:thanks|thank you|please|that is|still|always|very much so|very|it is|i am|i do|all of it|good memory|well remembered|pls|lol|haha|unfortunately|sadly|mate|only \w+|just \w+|for now|at the moment|both|all \w+)[\s,.!–—-]*)*\Z",
    re.IGNORECASE,
)


_QUALIFIED = re.compile(
    r"(?:but|if|when|only\s+if|except|unless|sort|kind|kinda|more|less|mostly|well|not|no|or|and\s+no|please|thanks|that|let|do|go|can|could|would|what|how|why|is|are|i'd|i’d)\b",
    re.IGNORECASE,
)


def find_confirmation_end(sentence: str) -> int:
    """Return the end of the words that say yes at the start of a sentence, 0 if none do.

    What follows a mere yes may add to it, but must not limit it or ask for something.
    """
    place = 0
    while match := _YES.match(sentence, place):
        place = match.end()
    if not place or _REST.fullmatch(sentence, place):
        return len(sentence) if place else 0
    is_plain = sentence[:place].rstrip()[-1] in ",.!;–—-"
    return place if is_plain and not _QUALIFIED.match(sentence, place) else 0


_LEAD = re.compile(
    r"""
    (?: (?:ok(?:ay)?|so|and|just|got\ it|understood|great|right|alright|noted|thanks|sure|ah|oh|good|perfect|then|wait|sorry|hmm|also|let\ me\ (?:just\ )?(?:check|confirm|make\ sure)(?:\ (?:that|i\ have\ this\ right))?
      |(?:just\ )?to\ (?:confirm|check|clarify|be\ (?:sure|clear))|(?:just\ )?(?:checking|confirming)|am\ i\ right\ (?:that|in\ thinking(?:\ that)?)|is\ it\ (?:right|correct|true)\ that|do\ i\ (?:have\ it\ right|understand\ correctly)\ that
      |did\ i\ (?:get|understand)\ (?:that|it)\ right(?:\ that)?|if\ i\ (?:understand|remember|recall)\ (?:correctly|right|rightly)|(?:[^,.?!]{0,40}\ )?it\ (?:looks|seems|sounds)\ (?:like|as\ if|as\ though|that)|presumably|that\ means|which\ means|i\ (?:suppose|guess|imagine|presume|understand|take\ it|gather|assume|believe|think|see|remember|noted|have\ noted)(?:\ that)?
      |correct\ me\ if\ i['’]?m\ wrong|it\ sounds\ like|sounds\ like|in\ other\ words|you\ mean(?:\ that)?|you\ mentioned(?:\ that)?|you\ said(?:\ that)?|you\ told\ me(?:\ that)?|meaning|i['’]?ll\ note(?:\ that)?|shall\ i\ (?:remember|note|save)\ that|should\ i\ (?:remember|note|save)\ that|want\ me\ to\ remember\ that
      ) (?:\s*[,:;.!–—-]+\s*|\s+) )+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,\s*(?:right|correct|yes|is\ that\ (?:right|correct)|isn['’]t\ it|aren['’]t\ you|don['’]t\ you|yeah|then|did\ I\ get\ that\ right|if\ I\ remember\ correctly))*\s*[?.!]*\s*\Z",
    re.VERBOSE | re.IGNORECASE,
)
_SWAPPED = {
    "you are": "I am", "you're": "I'm", "you’re": "I'm", "are you": "I am", "you were": "I was", "were you": "I was",
    "you've": "I've", "you’ve": "I've", "you'll": "I'll", "you’ll": "I'll", "you": "I", "your": "my", "yours": "mine",
    "yourself": "myself", "y'all": "we",
}  # fmt: skip
_YOU = re.compile(
    r"\b(you\s+are|you['’]re|are\s+you|you\s+were|were\s+you|you['’]ve|you['’]ll|yourself|yours|your|you)\b",
    re.IGNORECASE,
)
_OBJECT_BEFORE = re.compile(
    r"\b(?:for|to|with|of|about|from|by|at|on|like|than|near|gives?|makes?|helps?|suits?|bothers?|reminds?|takes?|tells?|told|gave|keeps?|drives?)\s+\Z",
    re.IGNORECASE,
)
_DO_YOU = re.compile(r"(?:do|don['’]t)\s+you\s+", re.IGNORECASE)
_HAVE_YOU = re.compile(r"have\s+you\s+", re.IGNORECASE)
_IS_YOUR = re.compile(r"(is|are|was|were)\s+(your\s+.+)", re.IGNORECASE)
# Questions of fact that an assistant asks, which a bare "yes" answers but does not put into words.
_OFFER = re.compile(
    r"\b(?:would|shall|should|can|could|may|want|like)\s+(?:you\s+like|i|me|we)\b|\b(?:do|would)\s+you\s+(?:want|like|need|mind)\b|\byou\s+(?:could|should|might|can|may|would|want)\b",
    re.IGNORECASE,
)


_ASKED = re.compile(
    r"(?:do|does|did|is|are|was|were|have|has|had|any|or)\b(?!\s+you\b)", re.IGNORECASE
)


def read_proposal(sentence: str) -> str | None:
    """Return what an assistant's sentence proposes about the user, in the user's words.

    None if it proposes nothing about the user, or only offers something.
    """
    text = sentence.strip().strip("*_ ")
    if match := _LEAD.match(text):
        text = text[match.end() :]
    if match := _TAIL.search(text):
        text = text[: match.start()]
    if not text or _OFFER.search(text) or _HELP.search(text):
        return None
    is_asked = sentence.rstrip("*_ ").endswith("?")
    if not (_YOU.search(text) or is_asked):
        return None
    if match := _DO_YOU.match(text):
        text = "you " + text[match.end() :]
    elif match := _HAVE_YOU.match(text):
        text = "you have " + text[match.end() :]
    elif match := _IS_YOUR.match(text):
        turned = _turn_question(match[1], match[2])
        if turned is None:
            return None
        text = turned
    if _ASKED.match(text):
        return None
    swapped = _YOU.sub(_swap_person, text)
    return swapped[0].upper() + swapped[1:]


_HELP = re.compile(
    r"\b(?:does|did|will|would)\s+(?:that|this|it)\b|\b(?:ready|happy)\s+to\b|\bany(?:thing)?\s+else\b|^(?:want|need|like|ready|shall|should|what|which|how|when|where|who|why|can|could|would|will)\b"
    r"|\b(?:i|me|we|us)\b|\bhelp\b|\bmake sense\b|\bsound\s+(?:good|right|ok)\b",
    re.IGNORECASE,
)
_NAME_END = re.compile(
    r"(your\s+[\w'’-]+(?:\s+(?:name|birthday|flight|address|job|title|wife|husband|dog|cat))?)\s+(.+)",
    re.IGNORECASE,
)


def _turn_question(verb: str, rest: str) -> str | None:
    """Return "your name is Anna" for "is your name Anna"."""
    match = _NAME_END.match(rest)
    return f"{match[1]} {verb.lower()} {match[2]}" if match else None


def _swap_person(match: re.Match[str]) -> str:
    words = " ".join(match[0].lower().split())
    if words == "you" and _OBJECT_BEFORE.search(match.string[: match.start()]):
        return "me"
    return _SWAPPED[words]
