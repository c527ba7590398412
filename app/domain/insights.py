"""Words and figures of insights that need no database."""

from enum import StrEnum


class Section(StrEnum):
    """A part of the insights into a history."""

    CHURN = "churn"
    FLIP_FLOPS = "flip_flops"
    LIFETIMES = "lifetimes"
    RETIRE_RATES = "retire_rates"
    SIGNALS = "signals"
    STALE_CONSTRAINTS = "stale_constraints"
    CHAIN_LENGTHS = "chain_lengths"


def compute_reliability(right: int, wrong: int) -> float:
    """Return how far a signal can be trusted, 0 to 1: (right + 1) / (right + wrong + 2).

    The table of signal confidences uses the same formula.
    """
    return (right + 1) / (right + wrong + 2)


def list_reasons_to_doubt(
    *,
    unaffirmed_days: int | None,
    contradictions: int,
    pending: int,
    rejected: int,
) -> list[str]:
    """Return sentences that say why a constraint may not be meant any more.

    `unaffirmed_days` is None if the constraint was affirmed of late.
    """
    reasons: list[str] = []
    if unaffirmed_days:
        days = _format_count(unaffirmed_days, "day")
        reasons.append(f"nobody has stored, confirmed or corrected it for {days}")
    if contradictions:
        reasons.append(f"contradicted by {_format_count(contradictions, 'later fact')}")
    if pending:
        reasons.append(f"{_format_count(pending, 'review')} that would end it: waiting")
    if rejected:
        reasons.append(f"{_format_count(rejected, 'review')} that would have ended it: rejected")
    return reasons


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
