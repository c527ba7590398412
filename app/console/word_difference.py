"""Two texts side by side, with the words marked in which they differ."""

import re
from difflib import SequenceMatcher

from markupsafe import Markup

from app.console.rendering import name_unseen

# Words of each text that are compared and shown; comparing takes the square of their number.
MOST_WORDS = 400
_WORD = re.compile(r"\S+")


def mark_difference(old: str | None, new: str | None) -> tuple[Markup, Markup]:
    """Return both texts for a page: what is gone marked in the old one, what is new in the new."""
    old_words, new_words = _list_words(old), _list_words(new)
    matcher = SequenceMatcher(None, _fold(old_words), _fold(new_words), autojunk=False)
    olds, news = [], []
    for kind, old_from, old_until, new_from, new_until in matcher.get_opcodes():
        is_same = kind == "equal"
        olds.append(_mark("del", old_words[old_from:old_until], is_same=is_same))
        news.append(_mark("ins", new_words[new_from:new_until], is_same=is_same))
    return _join(olds, old), _join(news, new)


def _list_words(text: str | None) -> list[str]:
    words = [match[0] for match in _WORD.finditer((text or "")[:16_000])]
    shown = [name_unseen(word[:200]) for word in words[:MOST_WORDS]]
    return [*shown, "…"] if len(words) > MOST_WORDS else shown


def _fold(words: list[str]) -> list[str]:
    return [word.casefold().strip(".,;:!?") for word in words]


def _mark(tag: str, words: list[str], *, is_same: bool) -> Markup:
    if not words or is_same:
        return Markup(" ").join(words)
    return Markup(f"<{tag}>{{}}</{tag}>").format(" ".join(words))  # noqa: S704 - `tag` is ours


def _join(parts: list[Markup], text: str | None) -> Markup:
    if text is None:
        return Markup('<span class="quiet">erased</span>')
    return Markup('<bdi class="text">{}</bdi>').format(Markup(" ").join(filter(None, parts)))
