"""Cuts a sentence where one part can stand and another cannot: "I'm vegan, so what can I cook?"."""

import re

_SUBJECT = (
    r"(?:i|im|ive|i['’](?:m|ve|d|ll)|we|we['’](?:re|ve|d|ll)|my|our|he|she|they|it|(?:he|she|they|it)['’]\w+|there|there['’]s"
    r"|the|this|that|that['’]s|you|you['’]\w+)"
)
_ASKS = (
    r"(?:can|could|would|will|should|do|does|did|is|are|am|was|what|what['’]s|which|how|where|when|who|why|any|please|pls|let['’]?s"
    r"|help|give|write|tell|show|suggest|recommend|make|keep|don['’]t|explain|thanks|thank|anything|got)"
)
_LINK = r"(?:and\ so|and\ then|so\ that|and|but|so|because|bc|cuz|cos|although|though|while|whereas|plus|or|then|which\ means|which\ is\ why|yet|except|hence|therefore)"
# In talk without marks a question follows a statement.
_RUN_ON = r"(?:(?:how|what|where|when|why)\ (?:do|can|should|is|are|would)\ (?:i|we|the|it|you|a)|(?:can|could|would)\ you|any\ (?:ideas|tips|good|advice|suggestions)|is\ (?:it|there|that)\ (?:ok|any|a|safe|normal|bad|possible)|if\ (?:i|we|he|she|it)\ \w+\ .{0,60}\b(?:would|i['’]?d|we['’]?d)\b)"
_BOUNDARY = re.compile(
    rf"""
    (?P<gap>
      \s*[;:]\s+ | \s+[-–—]{{1,2}}\s+ | [—–] | \s*[.…]{{2,}}\s+ | \s*[!?.]\s+
      | ,?\s+(?P<link>{_LINK})\s+ (?={_SUBJECT}\b | {_ASKS}\b)
      | ,?\s+(?P<name_link>and|but|so|because|while|whereas)\s+ (?=(?-i:[A-Z])\w+\ (?:is|was|has|lives|works|will)\b)
      | ,\s+ (?P<since>since|as)\s+ (?={_SUBJECT}\b)
      | ,\s+ (?={_SUBJECT}\b | {_ASKS}\b | if\b)
      | (?<!know)(?<!idea)(?<!out)(?<!sure)(?<!and)(?<!or)\s+ (?={_RUN_ON})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPENING_SUBORDINATE = re.compile(
    rf"(?:since|as|because|given(?:\ that)?|seeing\ as|considering(?:\ that)?|although|though|while)\s+(?={_SUBJECT}\b)",
    re.IGNORECASE,
)


def cut_clauses(text: str) -> list[tuple[int, int, str]]:
    """Return the clauses of a sentence: their half-open places, and the link before each.

    The link is in lower case, "" for the first clause and between clauses that a mark divides.
    """
    clauses: list[tuple[int, int, str]] = []
    start = 0
    link = ""
    if match := _OPENING_SUBORDINATE.match(text):
        start = match.end()
        link = "since"
    for match in _BOUNDARY.finditer(text, start):
        if not _is_clause(text[start : match.start()]):
            continue
        clauses.append((start, match.start(), link))
        start = match.end()
        link = (match["link"] or match["name_link"] or match["since"] or "").lower()
    clauses.append((start, len(text), link))
    return clauses


# A part without a verb belongs to the next: "my wife and I live …".
_VERB = re.compile(
    r"(?:['’](?:m|re|ve|ll|d|s)|\b(?:am|is|are|was|were|be|been|have|has|had|do|does|did|can|could|will|would|should|must|might|may|im|ive|\w{2,}(?:ed|es|ing)"
    r"|love|like|live|work|use|hate|prefer|take|need|want|went|got|eat|drink|drive|speak|play|study|go|run|own|keep|know|think|started|bought|sold|left|quit|met|lives|works|uses|likes|loves|hates|runs|takes"
    r"|plays|needs|wants|speaks|goes|eats|drinks|keeps|gets|get|make|makes|made|deploy|deploys|say|says|said|told|pay|pays|cook|cooks|teach|teaches|starts|start|moved|comes|come|turns|sleep|sleeps|became|grew|broke|lost|gave|took|chose|ran|don['’]t|can['’]t|allergic|thanks|thank|hi|hello|hey|ok|okay|yes|no|remember|wear|wears|write|writes|read|reads|travel|travels|help|helps|give|tell|show|find|found|saw|see|feel|feels|felt|leave|leaves|walk|walks|rent|rents|share|shares|ship|ships|meet|meets|host|hosts|store|stores|switch|call|calls))\b",
    re.IGNORECASE,
)


def _is_clause(text: str) -> bool:
    return _VERB.search(text) is not None
