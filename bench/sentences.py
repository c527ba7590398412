"""Sentences as agents store them, made from templates: distinct, in one fixed order."""

import random
from itertools import product

_WHO = [
    "The user", "The team", "Dana", "The backend service", "The customer", "Ravi", "The release process", "The data pipeline", "Mina",
    "The ops group",
]  # fmt: skip
_WHAT = [
    "prefers {thing} over {other} for {purpose}",
    "moved {purpose} from {other} to {thing}",
    "decided to use {thing} for {purpose} because {other} was too slow",
    "must not replace {other} by {thing} for {purpose}",
    "asked whether {thing} replaces {other} in {purpose}",
    "reported that {purpose} breaks when {thing} meets {other}",
]
_THINGS = [
    "Postgres", "SQLite", "Redis", "Kafka", "Vim", "Emacs", "Terraform", "Ansible", "Rust", "Go", "Python", "TypeScript", "gRPC",
    "GraphQL", "Docker", "Podman", "Nginx", "Caddy", "Grafana", "Slack", "Linear", "Figma", "a paper notebook", "the old spreadsheet",
]  # fmt: skip
_PURPOSES = [
    "storing invoices", "the billing export", "writing tests", "nightly backups", "code review", "the search page", "travel planning",
    "on-call alerts", "the mobile app", "customer onboarding", "log analysis", "weekly reports", "the recipe collection", "image uploads",
    "user sign-in", "the CI build",
]  # fmt: skip


def sentences(count: int) -> list[str]:
    """The first `count` of a shuffled, fixed series of distinct sentences."""
    triples = [(thing, other) for thing, other in product(_THINGS, _THINGS) if thing != other]
    combinations = list(product(_WHO, _WHAT, triples, _PURPOSES))
    chosen = random.Random(7).sample(combinations, count)
    return [
        f"{who} {what.format(thing=pair[0], other=pair[1], purpose=purpose)}."
        for who, what, pair, purpose in chosen
    ]


def questions(count: int) -> list[str]:
    """Distinct questions about the same things."""
    combinations = list(
        product(
            _THINGS,
            _PURPOSES,
            ["What is {} used for in {}?", "Who chose {} for {}?", "Is {} allowed for {}?"],
        )
    )
    chosen = random.Random(11).sample(combinations, count)
    return [form.format(thing, purpose) for thing, purpose, form in chosen]
