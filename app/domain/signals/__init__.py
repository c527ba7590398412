"""How an incoming statement relates to stored ones, told by rules alone: no model, no I/O, no clock.

Every reason is a named signal with a measured reliability; an identity veto stands before them all.
"""

from app.domain.signals.judge import judge
from app.domain.signals.prepare import prepare
from app.domain.signals.relation import Judgment, Slot, Statement
from app.domain.signals.slots import derive, derive_slot

__all__ = ["Judgment", "Slot", "Statement", "derive", "derive_slot", "judge", "prepare"]
