"""Finding the answer in a model's text: JSON, read strictly first and leniently second."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

MAX_SHOWN = 40
MAX_MENDED = 50_000
MAX_DEPTH = 20
# A search ends when its failures have cost so much: the characters that were looked at in vain, and
# a charge for each failure.
MAX_COST = 300_000
CHARGE = 1_000

# A value begins, or a model's thinking ends.
_MARK = re.compile(r"[{\[]|</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# A text or comment that is not closed goes on to the end, so that none is searched twice.
_TOKEN = re.compile(
    r"""
      (?P<text>"(?:[^"\\]|\\.?)*(?:"|\Z)|'(?:[^'\\]|\\.?|'(?!\s*[,:}\]]))*(?:'|\Z))
    | (?P<comment>//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<bare>[\w.+-]+%?)
    | (?P<open>[{\[])
    | (?P<close>[}\]])
    | (?P<space>\s+)
    | .
    """,
    re.DOTALL | re.VERBOSE,
)
_QUOTED = re.compile(r'\\(.)|"', re.DOTALL)
_COLON = re.compile(r"\s*:")
_NUMBERED = re.compile(r"\D*(\d{1,9})", re.ASCII)
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_PYTHON = {"None": "null", "True": "true", "False": "false"}
_CONFIDENCES = {"high": 0.9, "medium": 0.6, "low": 0.3}


class UnreadableAnswer(ValueError):
    """The text holds no answer; the message says why, as a sentence."""


def build_object_schema(**properties: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with these fields, all required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def find_answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the last object of the text that has the list of the schema, as a list.

    Thinking, prose and fences are ignored. The list may stand alone, and its entries may be one
    object by number, or stand alone too. What is within the entries is not checked. Raise
    UnreadableAnswer if there is no answer.
    """
    name, field = next(
        (name, field)
        for name, field in schema["properties"].items()
        if field.get("type") == "array"
    )
    properties = field["items"]["properties"]
    number = next(each for each in properties if properties[each].get("type") == "integer")
    values, is_whole = _find_values(text)
    answers = [answer for value in values for answer in _find_objects(value, name)]
    answer = answers[-1] if answers else {}
    if is_whole and not answers:
        answer = {name: _find_bare_entries(values, number)}
    entries = _list_entries(answer.get(name), number)
    if entries is None:
        raise UnreadableAnswer(f"The model's text holds no complete JSON object with {name}.")
    return {**answer, name: entries}


def show_value(value: Any) -> str:
    """Return a value of an answer as a short text on one line."""
    if value is None or isinstance(value, bool | int | float | str):
        shown = ascii(value)
        return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 1] + "…"
    return "a list" if isinstance(value, list) else "an object"


# --- its values -----------------------------------------------------------------------------------


def parse_number(value: Any) -> int | None:
    """Return a whole number, written as 3, 3.0 or "3"; None for anything else."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if type(value) is int else None  # True would count as 1


def parse_confidence(value: Any) -> float | None:
    """Return a probability, written as 0.9, "0.9", 90, "90%" or "high"; else None.

    A number from 1 to 10 may be of any scale, so it is none.
    """
    number = _parse_share(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if 10 < number <= 100:
        number /= 100
    return float(number) if 0 <= number <= 1 else None  # NaN lies between no two numbers


def _parse_share(text: str) -> float | None:
    word = text.strip().lower()
    if word in _CONFIDENCES:
        return _CONFIDENCES[word]
    try:
        return float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        return None


# --- its place ------------------------------------------------------------------------------------


def _find_values(text: str) -> tuple[list[Any], bool]:
    """Return the outermost objects and lists, and whether nothing else begins with a bracket.

    What stands in the model's thinking is a draft, unless nothing follows it. A tag within a text
    of the answer ends no thinking.
    """
    values: list[Any] = []
    drafts: list[Any] = []
    place = end_of_thinking = failed = cost = 0
    while cost < MAX_COST and (mark := _MARK.search(text, place)):
        place = mark.end()
        if mark.group() not in "{[":
            drafts, values, end_of_thinking = values, [], place
            continue
        try:
            value, place = _parse_value(text, mark.start())
            values.append(value)
        except _NoValue as failure:
            failed = place
            cost += CHARGE + failure.characters
    is_whole = failed <= end_of_thinking
    return (values if text[end_of_thinking:].strip() else drafts), is_whole


def _find_objects(value: Any, name: str, depth: int = 3) -> Iterator[dict[str, Any]]:
    """Yield the objects that have the field, also from within lists and other objects."""
    if isinstance(value, dict) and name in value:
        yield value
    elif isinstance(value, dict | list) and depth:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _find_objects(each, name, depth - 1)


def _find_bare_entries(values: Sequence[Any], number: str) -> Any:
    """Return entries that stand without their object: all that stand alone, or the last list."""
    single = [value for value in values if isinstance(value, dict) and number in value]
    if single:
        return single
    for value in reversed(values):
        entries = _list_entries(value, number)
        if entries is not None and all(isinstance(entry, dict) for entry in entries):
            return entries if value != {} else None
    return None


def _list_entries(value: Any, number: str) -> list[Any] | None:
    """Return a list, one entry, or an object of entries by number, as a list of entries."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if number in value:
        return [value]
    entries = []
    for key, entry in value.items():
        numbered = _NUMBERED.fullmatch(key)
        if numbered is None or not isinstance(entry, dict):
            return None
        entries.append({number: numbered.group(1), **entry})
    return entries


# --- its JSON -------------------------------------------------------------------------------------


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return no fields if a name occurs twice: nobody can say which of the two values counts."""
    value = dict(pairs)
    return value if len(value) == len(pairs) else {}


_STRICT = json.JSONDecoder(object_pairs_hook=_build_object)
_LENIENT = json.JSONDecoder(object_pairs_hook=_build_object, strict=False)


class _NoValue(ValueError):
    """There is no value among so many characters."""

    def __init__(self, characters: int) -> None:
        super().__init__(characters)
        self.characters = characters


def _parse_value(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins there, and its end. Raise _NoValue if there is none."""
    try:
        return _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        mended, end = _mend_value(text, start)
    try:
        return _LENIENT.decode(mended), end
    except ValueError:
        raise _NoValue(end - start) from None


def _mend_value(text: str, start: int) -> tuple[str, int]:
    """Return an object or list as JSON, and its end. Raise _NoValue if it does not end.

    Mended are comments, commas at the end, single quotes, Python's constants, and names and
    percentages without quotes.
    """
    mended: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start, start + MAX_MENDED):
        kind, word = token.lastgroup, token.group()
        depth += (kind == "open") - (kind == "close")
        if kind == "close" and mended[-1] == ",":
            mended.pop()
        if kind == "text":
            mended.append(f'"{_QUOTED.sub(_mend_escape, word[1:-1])}"')
        elif kind == "bare":
            is_name = _COLON.match(text, token.end()) is not None
            is_text = is_name or word.endswith("%")
            mended.append(json.dumps(word) if is_text else _PYTHON.get(word, word))
        elif kind not in ("space", "comment"):
            mended.append(word)
        if not 0 < depth <= MAX_DEPTH:
            break
    if depth:
        raise _NoValue(token.end() - start)
    return "".join(mended), token.end()


def _mend_escape(match: re.Match[str]) -> str:
    """Return what JSON writes for a quote within single quotes, or for an escape."""
    escaped = match.group(1)
    if escaped is None:
        return '\\"'
    return match.group() if escaped in '"\\/bfnrtu' else str(escaped)
