"""Two texts side by side, with the words marked in which they differ."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from markupsafe import Markup

from app.console.rendering import name_unseen

# Words of each text that are compared and shown; comparing takes the square of their number.
MOST_WORDS = 400
# Words before the first difference that are shown of texts that begin alike for long.
_CONTEXT = 20
_LONGEST = 16_000
# Of texts with less in common, marks would cover nearly all words.
_LEAST_IN_COMMON = 0.5
# A long run without spaces is compared in pieces.
_WORD = re.compile(r"\S{1,40}\s*")
_NOT_COMPARED = Markup(' <span class="quiet">… the rest is not compared</span>')
_SAME_BEFORE = Markup('<span class="quiet">same words before …</span> ')


def mark_difference(
    old: str | None, new: str | None, most: int = MOST_WORDS
) -> tuple[Markup, Markup]:
    """Return both texts for a page: what is gone marked in the old one, what is new in the new.

    Of long texts, `most` words are compared and shown, and the result says what is left out.
    """
    old_words, new_words = _split_words(old), _split_words(new)
    first = _find_first(_fold(old_words), _fold(new_words), most)
    shown = slice(first, first + most)
    olds, news = old_words[shown], new_words[shown]
    marked_olds, marked_news = Markup(""), Markup("")
    matcher = SequenceMatcher(None, _fold(olds), _fold(news), autojunk=False)
    for kind, old_from, old_until, new_from, new_until in matcher.get_opcodes():
        is_same = kind == "equal"
        marked_olds += _mark("del", olds[old_from:old_until], is_same=is_same)
        marked_news += _mark("ins", news[new_from:new_until], is_same=is_same)
    return (
        _show(old, marked_olds, first=first, is_cut=len(old_words) > first + most),
        _show(new, marked_news, first=first, is_cut=len(new_words) > first + most),
    )


def show_alone(text: str | None, most: int = MOST_WORDS) -> Markup:
    """Return a text for a page without marks, cut as `mark_difference` cuts it."""
    return mark_difference(text, text, most)[0]


def are_alike(old: str | None, new: str | None) -> bool:
    """Return True if two texts have half of their words in common, in the same order."""
    olds, news = _fold(_split_words(old)[:MOST_WORDS]), _fold(_split_words(new)[:MOST_WORDS])
    return SequenceMatcher(None, olds, news, autojunk=False).ratio() >= _LEAST_IN_COMMON


def _split_words(text: str | None) -> list[str]:
    """Return the words, each with the space after it, so that they join to the text."""
    return _WORD.findall(name_unseen((text or "")[:_LONGEST]).lstrip())


def _fold(words: Sequence[str]) -> list[str]:
    return [word.casefold().strip(".,;:!? \n\t") for word in words]


def _find_first(old: Sequence[str], new: Sequence[str], most: int) -> int:
    """Return the number of the first word to show: 0 if all fit, or if nothing differs."""
    longest = max(len(old), len(new))
    if longest <= most:
        return 0
    alike = 0
    while alike < min(len(old), len(new)) and old[alike] == new[alike]:
        alike += 1
    return 0 if alike == longest else max(0, alike - _CONTEXT)


def _mark(tag: str, words: Sequence[str], *, is_same: bool) -> Markup:
    text = "".join(words)
    if not words or is_same:
        return Markup("{}").format(text)
    bare = text.rstrip()
    template = Markup(f"<{tag}>{{}}</{tag}>{{}}")  # noqa: S704 - `tag` is ours
    return template.format(bare, text[len(bare) :])


def _show(text: str | None, marked: Markup, *, first: int, is_cut: bool) -> Markup:
    if text is None:
        return Markup('<span class="quiet">erased</span>')
    before = _SAME_BEFORE if first else ""
    after = _NOT_COMPARED if is_cut else ""
    return Markup('{}<bdi class="text">{}</bdi>{}').format(before, marked.rstrip(), after)
