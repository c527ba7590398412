"""Comments that follow a statement: ", doctor's idea, and so far so good".

They are no part of what the statement says, and a judge who reads them beside it errs more often.
"""

import re

from app.extraction.phrases import build_pattern

_LINK = r"(?:(?:and|but|so|though|although|because)\s+)?"
_IDIOMS = build_pattern(
    """
    long story/believe it or not/fingers crossed/touch wood/knock on wood/no regrets/so far so good
    /so far, so good/so far no complaints/no complaints/for my sins/of all things/of all people
    /of all places/would you believe/would you believe it/would you believe that/go figure
    /don't ask/don't laugh/don't judge/don't judge me/thank god/thank goodness/thank heavens
    /god help me/bless him/bless her/bless them/as one does/as you do/you know how it is
    /no surprise there/no surprises there/what can i say/so there/such is life/sad but true
    /true story/lucky me/poor me/silly me/strangely enough/funnily enough/oddly enough
    /to my surprise/to my shame/to my delight/to nobody's surprise/better late than never
    """
)
_ADVICE = r"(?:\w+\s+){0,2}\w+(?:['’]s?)\s+(?:own\s+)?(?:idea|suggestion|advice|orders?|fault)"
_SUPERLATIVE = (
    r"(?:(?:probably|easily|by far)\s+)?(?:the\s+|my\s+)?(?:best|worst|\w+est)\s+\w+"
    r"(?:\s+(?:ever|so far|(?:of|in)\s+(?:the|my|our)\s+\w+|(?:i|we)(?:['’]ve)?\s+ever\s+\w+))"
)
_VERDICT = r"(?:(?:just|only)\s+)?(?:a\s+)?bit\s+of\s+an?\s+.+|(?:what|quite)\s+an?\s+.+"
# Up to what the speaker says of themselves or of somebody else.
_REST = r"(?:(?!\b(?:and|but|so|because)\s+(?:i|we|he|she|they|my|our)\b).)+"
_OTHERS = rf"(?:everyone|everybody|nobody|no\s?one|people|hardly\s+anyone)\s{_REST}"
# "It" is what was done or stated, and says nothing that could stand.
_IT = (
    r"(?:it|that)(?:['’]s|\s+(?:is|was|has\s+been|seems|feels|works|helps|looks|sounds|shows"
    rf"|hurts|does|did)\b)(?!\s+(?:not\s+)?(?:start|begin|end|due|until))(?:\s{_REST}|)"
)
_FEELING = (
    r"i\s+(?:really\s+|absolutely\s+|quite\s+|just\s+)?(?:love|hate|enjoy|adore|dread|regret)"
    r"\s+(?:it|every\s+\w+\s+of\s+it)"
)
_MANNER = (
    r"(?:very\s+|rather\s+)?(?!(?:dai|week|month|year|hour|night|quarter|fortnight|ear|on|main|most"
    r"|usual|exclusive|part|sole|ful|complete|entire|strict|hard|bare|rare|occasional|regular)ly\b)"
    r"[a-z]{2,}ly"
)
_COMMENT = re.compile(
    rf"{_LINK}(?:{_IDIOMS}(?:\s+so\s+far)?|{_ADVICE}|{_SUPERLATIVE}|{_VERDICT}|{_OTHERS}|{_FEELING}"
    rf"|{_MANNER}|(?P<it>{_IT}))\s*",
    re.IGNORECASE,
)
_PRAISE = build_pattern(
    """
    saint/angel/star/legend/gem/treasure/hoot/nightmare/pain/blessing/lifesaver/delight/joy/genius
    /sweetheart/darling/wonderful/lovely/great/brilliant/amazing/awful/terrible/patience/hilarious
    """
)
_PRAISING = re.compile(
    rf",?\s+(?:who|which|that)(?:['’]s|\s+(?:is|are|was|has|have))\s[^,]*?\b{_PRAISE}[^,]*\Z",
    re.IGNORECASE,
)
_COMMA = re.compile(r",\s+")
# "I have a class, it's at nine": here "it" is the class.
_INTRODUCES = re.compile(r"\b(?:an?|another|new)\s+\w", re.IGNORECASE)


def find_comments(text: str) -> int:
    """Return where the comments begin that end a statement; its length if there are none."""
    end = len(text.rstrip())
    while (shorter := _find_last_comment(text, end)) < end:
        end = shorter
    return len(text) if end == len(text.rstrip()) else end


def _find_last_comment(text: str, end: int) -> int:
    if match := _PRAISING.search(text[:end]):
        return match.start()
    for comma in _COMMA.finditer(text, 0, end):
        match = _COMMENT.fullmatch(text, comma.end(), end)
        if match and not (match["it"] and _INTRODUCES.search(text, 0, comma.start())):
            return comma.start()
    return end
