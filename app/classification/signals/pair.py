"""An incoming reading beside a stored one: what they share and where they part."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.classification.signals import lexicon
from app.classification.signals.frame import Frame
from app.classification.signals.frames import find_frames
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Statement
from app.classification.signals.token import CALENDAR, count_common


@dataclass(frozen=True)
class Pair:
    """`new` is the incoming reading, `old` the stored one."""

    new: Reading
    old: Reading
    incoming: Statement
    stored: Statement

    @cached_property
    def shared(self) -> frozenset[str]:
        """Content of both."""
        return self.new.items & self.old.items

    @property
    def akin(self) -> bool:
        """Return True if both share content or give the same attribute, of whatever subject."""
        return bool(self.shared) or bool(
            {f.attribute for f in find_frames(self.new)}
            & {f.attribute for f in find_frames(self.old)}
        )

    @cached_property
    def only_new(self) -> frozenset[str]:
        """Content of the incoming text alone."""
        return self.new.items - self.old.items - lexicon.LIGHT_WORDS

    @cached_property
    def only_old(self) -> frozenset[str]:
        """Content of the stored text alone."""
        return self.old.items - self.new.items - lexicon.LIGHT_WORDS

    @cached_property
    def frame_pairs(self) -> tuple[tuple[Frame, Frame], ...]:
        """Pairs of frames (incoming, stored) about the same attribute of the same subject."""
        return tuple(
            (new, old)
            for new in find_frames(self.new)
            for old in find_frames(self.old)
            if _is_same_attribute(new, old) and self._is_same_subject(new, old)
        )

    def _is_same_subject(self, new: Frame, old: Frame) -> bool:
        if old.is_built and not new.is_built:
            return True
        if new.subject != old.subject:
            return False
        return _names_in_order(self.new, new.subject) == _names_in_order(self.old, old.subject)

    @cached_property
    def same_owner(self) -> bool:
        """Return True if both begin with the same person, or neither with anyone."""
        return self.new.owner == self.old.owner

    @cached_property
    def one_span(self) -> bool:
        """Return True if what differs is one run of at most three items in the same place, not at
        the start.
        """
        new, old = self.new.order, self.old.order
        start = count_common(new, old)
        end = count_common(new[start:][::-1], old[start:][::-1])
        spans = (new[start : len(new) - end], old[start : len(old) - end])
        begins = start > 0 or bool(self.new.owner)
        differ = not set(spans[0]) & set(spans[1])
        return (
            begins
            and differ
            and all(1 <= len(s) <= 3 for s in spans)
            and _is_unbroken(self.new, spans[0])
            and _is_unbroken(self.old, spans[1])
        )

    @cached_property
    def same_order(self) -> bool:
        """Return True if the shared content stands in the same order, so that nobody has changed
        places.
        """
        return [i for i in self.new.order if i in self.shared] == [
            i for i in self.old.order if i in self.shared
        ]


def _is_same_attribute(new: Frame, old: Frame) -> bool:
    """Return True if both give the same attribute; what slips to a later day may have been due or
    planned.
    """
    if new.change and new.attribute == "schedule" and old.is_built:
        thing = old.subject | frozenset(old.attribute[5:].split())
        return new.subject == thing and old.kind in (*CALENDAR, "name", "text")
    if new.change and new.attribute == "schedule" and old.attribute in ("deadline", "release_date"):
        return True
    return new.attribute == old.attribute


def _names_in_order(reading: Reading, subject: frozenset[str]) -> list[str]:
    return [i for i in dict.fromkeys(reading.order) if i in subject and reading.kinds[i] == "name"]


def _is_unbroken(reading: Reading, span: Sequence[str]) -> bool:
    """Return True if the items stand side by side, with at most articles and "of" between them."""
    places = [i for i, t in enumerate(reading.tokens) if t.norm in span]
    between = reading.tokens[places[0] : places[-1] + 1]
    return all(
        t.norm in span or t.norm in lexicon.ARTICLES or t.norm in ("of", "'s", "-", ",")
        for t in between
    )
