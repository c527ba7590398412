"""When a worker counts something of a large agent anew: for at most a hundredth of its time."""


def build_is_due(counted_at: str, seconds: str, *, known_until: str | None = None) -> str:
    """Return the condition that it is time to count anew.

    `counted_at` and `seconds` are when it was counted last, and how long that took. The agent `a`
    wrote since then, or a day has passed at the time `clock.now`. `known_until` is the last known
    time that was counted, if it is stored: a write under way at `counted_at` comes after it.
    """
    return f"""
        (
            {counted_at} IS NULL OR (
                (
                    a.last_known_at > {known_until or counted_at}
                    OR {counted_at} < clock.now - interval '1 day'
                )
                AND {counted_at} < clock.now - 100 * {seconds} * interval '1 second'
            )
        )
    """
