"""Judges an incoming statement against stored ones by rules: no model, no I/O, no clock.

Every reason is a named signal with a measured reliability. An identity veto comes before all.
"""

from app.classification.signals.judge import has_reason, judge_candidates, prepare_text
from app.classification.signals.relation import SignalJudgment, Statement
from app.classification.signals.renames import rename_text
from app.classification.signals.slots import derive_fact_slot, derive_slot
from app.classification.signals.speech import Speech, find_speech

__all__ = [
    "SignalJudgment",
    "Speech",
    "Statement",
    "derive_fact_slot",
    "derive_slot",
    "find_speech",
    "has_reason",
    "judge_candidates",
    "prepare_text",
    "rename_text",
]
