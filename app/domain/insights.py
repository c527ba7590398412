"""Words and figures of insights that no database is needed for."""

from enum import StrEnum


class Section(StrEnum):
    """What can be asked of a history."""

    CHURN = "churn"
    FLIP_FLOPS = "flip_flops"
    LIFETIMES = "lifetimes"
    RETIRE_RATES = "retire_rates"
    SIGNALS = "signals"
    STALE_CONSTRAINTS = "stale_constraints"
    CHAIN_LENGTHS = "chain_lengths"


def compute_reliability(right: int, wrong: int) -> float:
    """How far a signal can be trusted, 0 to 1, by the formula of its table of confidences: (right + 1) / (right + wrong + 2)."""
    return (right + 1) / (right + wrong + 2)


def list_reasons_to_doubt(
    *, unaffirmed_days: int | None, contradictions: int, pending: int, rejected: int
) -> list[str]:
    """Why a constraint may not be meant any more, in words. `unaffirmed_days`: None where it was affirmed of late."""
    counted = [
        (unaffirmed_days, "nobody has stored, confirmed or corrected it for {}", "day"),
        (contradictions, "contradicted by {}", "later fact"),
        (pending, "{} that would end it: waiting", "review"),
        (rejected, "{} that would have ended it: rejected", "review"),
    ]
    return [
        sentence.format(_format_count(number, noun)) for number, sentence, noun in counted if number
    ]


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
