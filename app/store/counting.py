"""When a worker counts something of a large agent anew: for at most a hundredth of its time."""


def build_is_due(counted_at: str, seconds: str) -> str:
    """Return the condition that it is time to count anew.

    `counted_at` and `seconds` are when it was counted last, and how long that took. The agent `a`
    wrote since then, or a day has passed at the time `clock.now`.
    """
    return f"""
        (
            {counted_at} IS NULL OR (
                (a.last_known_at > {counted_at} OR {counted_at} < clock.now - interval '1 day')
                AND {counted_at} < clock.now - 100 * {seconds} * interval '1 second'
            )
        )
    """
