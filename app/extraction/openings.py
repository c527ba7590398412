"""Words at the ends of a sentence that are no part of what it states."""

import re
import unicodedata
from dataclasses import dataclass

_SEPARATOR = r"(?:\s*[,:;!.…–—-]+\s+|\s+)"
_STOP = r"\s*[,:;!.…–—-]+\s+"

# The speaker asks for the statement to be noted.
_NOTE = re.compile(
    rf"""
    (?: (?:please|pls|can\ you|could\ you|also|and|oh\ and|ok|so)[,\ ]+ (?:please\ )? ){{0,3}}
    (?:
      (?: remember|note|keep\ in\ mind|bear\ in\ mind|(?:don['’]?t|do\ not|never)\ forget
        | make\ a\ (?:mental\ )?note|take\ note|be\ aware|store|save|log|record|memori[sz]e|mind
      ) (?:\ (?:this|it|down|the\ following|for\ (?:later|next\ time|the\ future)))* (?: \s+that\b{_SEPARATOR} | \s*:\s* | \s*[–—-]\s+ )
      | (?: you\ should\ (?:also\ )?(?:know|remember) | i\ should\ (?:mention|add|say) | i\ (?:forgot|meant)\ to\ (?:mention|say|add)
        | (?:it['’]?s\ )? worth\ (?:knowing|noting|mentioning) | (?:just\ )?(?:so|so\ that)\ you(?:['’]re\ aware|\ know)
        | (?:just\ )?(?:for\ you\ to\ know|letting\ you\ know) | (?:you\ )?might\ be\ (?:useful|helpful)\ to\ know
      ) (?:\s+that\b{_SEPARATOR} | {_SEPARATOR})
      | (?: fyi | f\.y\.i\. | for\ your\ information | for\ the\ record | for\ (?:future\ )?reference | for\ context | for\ background
        | context | background | reminder | note\ to\ self | quick\ note | side\ note | heads[\ -]up | ps | p\.s\. | nb | n\.b\. | jsyk
        | just\ fyi | one\ (?:more\ )?(?:thing|note)\ to\ (?:remember|note) | important | correction
      ) (?:\s+that\b\s+ | {_SEPARATOR})
      | remember,\s+ | note\s+that\s+ | remember\s+(?=(?:i|we|my|our|i'm|i’m)\b)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Words that carry on a conversation. With a mark behind them they are never part of a statement.
_FILLER = re.compile(
    rf"""
    (?: (?:so|well|oh|ah|hmm+|um+|uh|ok|okay|k|alright|right|yeah|yes|yep|yup|ya|aye|alas|och|no|nope|nah|also|plus|anyway|anyways|btw|by\ the\ way
      |basically|honestly|tbh|to\ be\ (?:honest|fair|clear|precise)|in\ fact|as\ (?:i\ )?(?:said|mentioned)(?:\ (?:before|earlier|above))?|like\ i\ said|fwiw
      |for\ what\ it['’]?s\ worth|unfortunately|fortunately|luckily|sadly|thankfully|hey(?:\ there)?|hi(?:\ (?:there|all|everyone))?|hello(?:\ there)?
      |cool|great|nice|perfect|awesome|thanks(?:\ (?:a\ lot|so\ much|for\ (?:the|your)\ \w+|again))?|thank\ you(?:\ (?:so|very)\ much)?|thx|ty|cheers|sorry
      |lol|haha+|me|ugh|wow|yeh|wait|hang\ on|one\ (?:more|other)\ thing|another\ thing|first(?:ly)?|second(?:ly)?|finally|lastly|also|besides|random\ fact|fun\ fact
      |quick\ (?:question|one)|just\ checking|morning|good\ (?:morning|evening|afternoon)|exactly|correct|that['’]?s\ (?:right|correct)|absolutely|indeed|true|sure|of\ course
      |and|but|now|see|look|listen|you\ (?:see|know)|i\ mean|update|edit|long\ story\ short|in\ (?:general|short)|good\ (?:point|idea|question)|fair\ (?:enough|point)|makes\ sense|got\ it
      ) {_STOP}
    | (?: so|and|but|also|oh|well|btw|yeah|yes|plus|anyway|ok|okay|basically|by\ the\ way|tbh|because|haha+|lol|me,|since|as\ for|cos|cuz|though|yeh|which\ is\ because|then|hi|hey|hello|thanks|ah )\s+
      (?=(?:i|i['’](?:m|ve|ll)|im|ive|my|our|theres|hes|shes|its|we|we['’](?:re|ve)|he|she|they|it['’]?s|there['’]?s|remember|note|the|please|fyi|just|and|but|also)\b)
    | (?: and|but|also|plus|btw|by\ the\ way|alas,?|och|aye|else )\s+ (?=\w+\s+\w)
    | (?: the\ thing\ is|(?:it\ )?turns\ out|(?:the\ )?fun\ fact\ is|the\ reason\ is|i\ can\ confirm|as\ you\ (?:know|may\ know)|you\ know)(?:\ that\b|,)?\s+
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:[-*•–]|\d{1,2}[.)]|[a-z]\))\s+|[\"'“‘(]+(?=\S)|#+\s+")
# What may follow a statement, looked for in its last characters.
_TAIL_LENGTH = 48
_TAIL_WORDS = re.compile(
    r"[\s,;:.!–—-](?:btw|by the way|fyi|thanks|thank you|thx|cheers|please|pls|lol|haha|tbh|though|tho"
    r"|anyway|just so you know|jsyk|if that (?:helps|matters)|ok|okay|if (?:that|it)['’]?s"
    r" (?:relevant|useful|important)|for (?:your information|context|reference|the record)|mate|lmao"
    r"|rn|x|xx|xo|[:;=]-?[)(DPp/]|<3|xD)\Z",
    re.IGNORECASE,
)
_TAIL_MARKS = " \t.!;,:–—-"


def _find_end(text: str, start: int) -> int:
    """Return where the statement ends, before marks, emoji, "thanks" and the like."""
    end = len(text)
    while end > start:
        shorter = start + len(text[start:end].rstrip(_TAIL_MARKS))
        while shorter > start and _is_emoji(text[shorter - 1]):
            shorter -= 1
        if match := _TAIL_WORDS.search(text, max(start, shorter - _TAIL_LENGTH), shorter):
            shorter = match.start()
        if shorter == end:
            return end
        end = shorter
    return end


def _is_emoji(character: str) -> bool:
    return ord(character) > 0x2000 and unicodedata.category(character) in {"So", "Sk", "Mn", "Cf"}


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a statement begins and ends in its sentence, and whether it is to be remembered."""

    start: int
    end: int
    is_note: bool


def strip_openings(text: str) -> Opening:
    """Return the place of the text without list marks, fillers, and "remember that"."""
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
            break
    return Opening(place, _find_end(text, place), is_note)


# These stay in the text, for they tell that something else was thought before.
_CORRECTION = re.compile(r"(?:actually|correction|sorry|scratch that|i misspoke)\s*[,:–—-]?\s+", re.IGNORECASE)


def measure_correction(text: str) -> int:
    """Return the length of the words at the start that mark a correction, 0 if there are none."""
    match = _CORRECTION.match(text)
    return match.end() if match else 0
