"""Recognises a yes to what an assistant proposes, in its many words."""

import re

from app.extraction import words as lists
from app.extraction.phrases import build_pattern

_YES_WORDS = build_pattern(
    """
    yes/yep/yeah/yup/ya/yea/yeh/aye/alas/exactly/quite/quite so/affirmative/bang on/naturally
    /certainly/totally/correct/right/absolutely/indeed/true/definitely/precisely/of course/sure
    /sure is/sure am/sure do/sure does/sure are/sure has/sure have/sure did/that's right
    /that's correct/that's it/that's me/that's true/that's exactly it/that's exactly right
    /that's the one/that's what i said/that's what i meant/that's him/that's her/that's us
    /that is right/that is correct/you got it/you're right/you are right/i'm afraid so
    /i am afraid so/just so/none at all/as you say/that was it/spot on/bingo/confirmed
    /100%/all correct/both correct/got it in one/you remembered/still am/still do/still is/still are
    /still true/well remembered/mm-hm/mhm/mmhm/mm hm/uh-huh/uh huh/yessir/yes sir/yes ma'am/ja
    /jawohl/si/sí/oui/da/opo/oo/hai/roger/roger that/copy that/10-4/ten-four/you bet
    /afraid so/sadly so/unfortunately so/guilty/guilty as charged/not wrong
    /you're not wrong/holds/that holds/still holds/correct on both counts/right on both counts
    /right on all counts/on all counts/nailed it/that's about right/about right/checks out
    /that's still the case/still the case/same as ever/always have/always has
    /i sure do/i sure am/very much so
    /very much/too right/dead right/dead on/on the nose
    /that would be right/that'd be right/that would be me/obviously/please do/i confirm/for sure
    /go ahead/sure, go ahead/do that/yes please
    /sure did/yes do/no doubt/without a doubt/deffo/def/fraid so/true enough/how could i forget
    /tis/'tis/both true
    /you have it right/you've got it right/you got that right/you got me/it's true/that's so
    /so it is
    """
)
_SURELY = r"(?:really|still|certainly|always|most\s+certainly|definitely|sure|absolutely)"
_AUXILIARY = r"(?:am|do|is|are|does|have|has|did|was|were|can|will)"
# "I do", "that I am", "so he does".
_ECHO = (
    rf"(?:(?:so|that)\s+)?(?:i|we|it|she|he|they|you)\s+(?:{_SURELY}\s+)?{_AUXILIARY}\b"
    r"(?=\s*(?:[,.!–—-]|\Z|indeed|still))"
)
_EXPERIENCE = (
    r"(?:i|we)(?:\s+have|['’]?ve)\s+(?:seen|read|been|had|tried)\s+"
    r"(?:it|that|them|there|that\s+one)\b"
)
# "That's still right", "it is all correct".
_THAT_IS = (
    r"(?:that|it|this)(?:['’]?s|\s+is|\s+sounds|['’]?d\s+be)\s+"
    r"(?:(?:all|still|exactly|quite|about|absolutely|completely|very)\s+){0,2}"
    r"(?:right|correct|true|me|us|him|her|so|the\s+case|exactly\s+(?:it|right))"
)
# "Yesss", "yeahhh", "yepp", "y".
_LONG_YES = r"(?:y+e+s+(?:sir)?|y+e+a+h*|y+e+p+|y+u+p+|y+a+s*|y+e*)"
_JUDGED = (
    r"you\s+(?:\w+\s+(?:right|correctly)|(?:have|got|know|remember(?:ed)?)(?:\s+it)?(?:\s+right)?)"
    r"|you['’]?ve\s+got\s+it(?:\s+right)?"
)
# A few words may stand before a yes: "Callum, yes", "the same one, right".
_LATE = r"(?:[\w'’]+,?\s+){1,6}?(?:yes|aye|indeed|correct|right|exactly)(?=\s*(?:[,.!]|\Z))"
_SIGNS = r"[👍✅👌💯][\U0001F3FB-\U0001F3FF\uFE0F]?"
_YES = re.compile(
    rf"(?:(?:oh|ah|well|ay|aw|hm+|why|ha|haha|sadly|unfortunately),?\s+)?(?:{_SIGNS}"
    rf"|(?:{_YES_WORDS}|{_LONG_YES}|{_THAT_IS}|{_ECHO}|{_EXPERIENCE}|{_JUDGED})"
    r"(?=[\s,.!;:–—-]|\Z))[\s,.!;–—-]*",
    re.IGNORECASE,
)
_LATE_YES = re.compile(
    rf"(?!\W*(?:no|not|never|nah|nope|mostly|partly|sometimes|usually|sort|kind)\b){_LATE}[\s,.!]*",
    re.IGNORECASE,
)
_ADDED_WORDS = build_pattern(
    """
    thanks/thank you/please/that is/still/always/very much so/very/it is/i am/i do/all of it
    /good memory/well remembered/pls/lol/haha/unfortunately/sadly/mate/for now/at the moment/both
    /thx/ta/cheers/hehe/sir/love
    """
)
_ADDED = re.compile(
    rf"(?:(?:{_ADDED_WORDS}|(?:only|just|all)\s+\w+)[\s,.!–—-]*)*[^\w?]*\Z", re.IGNORECASE
)
# These also lead up to something else: "Right, next question".
_WEAK = re.compile(r"(?:right|true|sure|got it|go ahead|please do|obviously)\W*\Z", re.IGNORECASE)
# A yes that goes on like this limits itself, or is the start of something else.
_LIMITED = re.compile(
    build_pattern(
        """
        but/if/when/only if/except/unless/sort/kind/kinda/more/less/mostly/well/not/no/or/and no
        /please/thanks/that/let/do/go/can/could/would/what/how/why/is/are/i'd/though/although
        """
    ),
    re.IGNORECASE,
)
_NO = r"(?:no|nope|nah|not\s+at\s+all|negative|never|not\s+any\s?more)\b"
_NOT = (
    r"(?:i|we|he|she|they|it)(?:\s+(?:really\s+)?"
    r"(?:(?:do|am|is|are|does|have|has|did|was|were|can|will)(?:\s*not|n['’]?t)|cannot|can['’]?t)"
    r"|['’]m\s+not|['’]s\s+not|['’]re\s+not|['’]ve\s+not)(?:\s+(?:seen|read|been|had|tried)"
    r"(?:\s+(?:it|that|them|one|there|that\s+one))?)?"
)
_SOFT = r"(?:sorry|thanks|actually|anymore|any\s+more|unfortunately|at\s+all|yet|either)"
# A no that goes on like this takes something back, or denies nothing.
_HEDGED = (
    r"(?!\s*(?:not\s+really|not\s+exactly|problem|worries|idea|wait|just|only|but|except|i\s+do\b"
    r"|i\s+am\b|i\s+have\b|it['’]s|that['’]s|of\s+course|thank))"
)
_DENIAL = re.compile(
    rf"(?=\S)(?:{_NO}[\s,.!–—-]*){{0,2}}(?:{_NOT})?(?:[\s,]*{_SOFT})*"
    rf"(?:[^\w?]*\Z|\s*[,.!;–—-]+\s*{_HEDGED}(?=\w)|\s+(?=but\b))",
    re.IGNORECASE,
)


def find_denial_end(answer: str) -> int:
    """Return the end of the words that say no at the start of a sentence, 0 if none plainly do."""
    match = _DENIAL.match(answer)
    return match.end() if match else 0


def find_confirmation_end(sentence: str) -> int:
    """Return the end of the words that say yes at the start of a sentence, 0 if none do.

    What follows a mere yes may add to it, but must not limit it or ask for something.
    """
    place = 0
    while match := _YES.match(sentence, place):
        place = match.end()
    if not place and (late := _LATE_YES.match(sentence)):
        place = (
            late.end() if late.end() == len(sentence) or sentence[late.end() - 2] in ",.!" else 0
        )
    if not place:
        return 0
    if _ADDED.fullmatch(sentence, place):
        return len(sentence)
    if sentence.rstrip().endswith("?") or _LIMITED.match(sentence, place):
        return 0
    is_weak = _WEAK.fullmatch(sentence[:place].strip()) is not None
    if is_weak and not is_addition(sentence[place:]):
        return 0
    has_mark = sentence[:place].rstrip()[-1] in ",.!;–—-" or not sentence[place - 1].isascii()
    return place if has_mark or is_addition(sentence[place:]) else 0


_LONGEST_ADDITION = 8
_NO_ADDITION = (
    lists.IMPERATIVES
    | lists.AUXILIARIES
    | lists.FIRST_PERSON
    | lists.PLAIN_VERBS
    | lists.THIRD_VERBS
    | lists.IRREGULAR_PAST
    | lists.QUESTION_WORDS
    | frozenset("thanks thank please cheers ta great good nice ok okay cool sorry".split())
    | lists.PRONOUNS
    | frozenset("but it's he's she's i'm i've that that's there there's you your so let's".split())
)

_ADDITION_STARTS = frozenset(
    """
    and since for every with at in on from to only mostly twice once same the a an both
    """.split()
)


def is_addition(text: str) -> bool:
    """Return True for a few words without a verb that a yes adds: ", since May"."""
    words = [word.strip(",.!;:()").lower().replace("’", "'") for word in text.split()]
    if not words or len(words) > _LONGEST_ADDITION or not set(words).isdisjoint(_NO_ADDITION):
        return False
    return words[0][:1].isdigit() or words[0] in _ADDITION_STARTS
