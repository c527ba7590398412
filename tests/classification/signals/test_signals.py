"""One table per reason: what fires, and the near misses at which it must not."""

import pytest

from app.classification.signals import SignalJudgment, Statement, judge_candidates
from app.domain.relation import Relation

FIRES = [
    ("changed_attribute", "I moved to Lisbon last month.", "I live in Porto."),
    ("single_valued", "The thesis is now due on May 20.", "The thesis is due on May 6."),
    ("changed_attribute", "meeting moved to Thursday", "meeting on Tuesday"),
    ("changed_attribute", "Moved to Lisbon", "Based in Porto"),
    ("changed_attribute", "I moved to day shifts", "I usually work nights"),
    ("changed_attribute", "I've switched over to days", "I mostly work the night shift"),
    ("single_valued", "Ben is on the late shift now", "Ben works the early shift"),
    ("explicit_change", "Left Acme for Globex", "Works at Acme"),
    (
        "named_attribute",
        "The owner of the checkout service is Dana.",
        "The owner of the checkout service is Felix.",
    ),
    (
        "cued_attribute",
        "Odoo 17.0 still sees patches till 31 December 2026.",
        "Odoo 17.0 is patched for the last time on 2026-10-31.",
    ),
    (
        "identifier_version",
        "Patch 8.0.39 is out for MySQL 8.0.",
        "MySQL 8.0 stands at patch 8.0.36.",
    ),
    (
        "upgrade",
        "We upgraded the cluster to Kubernetes 1.31.",
        "The cluster runs Kubernetes 1.29.",
    ),
    ("antonym", "Email notifications are disabled.", "Email notifications are enabled."),
    ("antonym", "Dark mode is off.", "Dark mode is on."),
    ("exclusive_value", "I'm vegan now.", "I'm vegetarian."),
    ("negation", "The API does not support pagination.", "The API supports pagination."),
    ("negation", "The API supports pagination.", "The API does not support pagination."),
    ("explicit_change", "I switched from vim to emacs.", "I use vim for everything."),
    ("explicit_change", "We replaced Redis with Valkey for caching.", "We use Redis for caching."),
    ("contrast", "Indent with spaces, not tabs.", "Indent with tabs."),
    ("correction", "Actually, the meeting is in Studio B.", "The meeting is in Studio A."),
    ("retraction", "I stopped drinking coffee.", "I drink coffee every morning."),
    ("retraction", "Forget that I am allergic to peanuts.", "I am allergic to peanuts."),
    ("retraction", "Forget my favorite color.", "My favorite color is teal."),
    (
        "retraction_of_attribute",
        "Disregard the due date of the essay.",
        "The essay is due on May 6.",
    ),
    (
        "retraction_of_entity",
        "Forget Kirby 4.0: it is no longer listed.",
        "Kirby 4.0 was released on November 28, 2023.",
    ),
    ("same_text", "alice lives in berlin", "Alice lives in Berlin."),
    ("same_value", "I'm based in Porto.", "I live in Porto."),
    ("same_content", "I do not eat pork.", "I don't eat pork."),
    (
        "same_content_turned",
        "The bridge was designed by Eva Hult.",
        "Eva Hult designed the bridge.",
    ),
]

KEEPS = [
    ("another person of the family", "My sister lives in Barcelona.", "I live in Madrid."),
    ("another name", "Anna Schmidt lives in Bonn.", "Anna Keller lives in Kassel."),
    (
        "another release line",
        "Rocky Linux 9 was released in July 2022.",
        "Rocky Linux 8 was released in June 2021.",
    ),
    ("another room", "Room 205 is reserved for Ann.", "Room 204 is reserved for Bob."),
    (
        "an identifier in the middle",
        "The kernel in Rocky Linux 9 is 5.14.",
        "The kernel in Rocky Linux 8 is 4.18.",
    ),
    (
        "an identifier at the end",
        "The latency budget is 40 ms for node-b.",
        "The latency budget is 60 ms for node-a.",
    ),
    ("a plan", "I might move to Toronto next year.", "I live in Vancouver."),
    ("a question", "Does Maria live in Lima?", "Maria lives in Quito."),
    ("the past", "I used to live in Geneva.", "I live in Zurich."),
    ("a second hobby", "Ben plays the guitar.", "Ben plays the piano."),
    ("a second cat", "My cat is named Jerry.", "My cat is named Tom."),
    ("another meeting", "I have a meeting on Thursday.", "I have a meeting on Tuesday."),
    ("what only somebody says", "Bob says the office is in Leiden.", "The office is in Utrecht."),
    ("a change to come", "I will move to Turin.", "I live in Padua."),
    ("a condition", "If I get the job, I live in Turin.", "I live in Padua."),
    ("a second visit", "I visited Prague in 2023.", "I visited Prague in 2019."),
    (
        "a special case denied",
        "The API does not support pagination for archived records.",
        "The API supports pagination.",
    ),
    (
        "a weak denial",
        "Not all our customers use the mobile app.",
        "Our customers use the mobile app.",
    ),
    ("another attribute", "The conference starts on 4 May.", "The conference ends on 6 May."),
    ("a change of something else", "I changed the tires on my car.", "I have a car."),
    ("what left is a thing", "I left my umbrella at the office.", "I have an umbrella."),
    ("travel is no move", "I'm flying from Berlin to Rome on Friday.", "I live in Berlin."),
    ("roles swapped", "Carla introduced Simon to Petra.", "Simon introduced Carla to Petra."),
    (
        "the end date, not the launch date",
        "Scrap the end date of Project Falcon.",
        "The launch date of Project Falcon is 3 March.",
    ),
    ("a day is no shift", "I'm on day 3 of the course.", "I work nights."),
    ("a shift of the past", "I worked days in my twenties.", "I work nights."),
    ("both shifts", "I work days and nights.", "I work nights."),
    (
        "two offices of one person",
        "Karl Maier is chair of the housing committee.",
        "Karl Maier is treasurer of the rowing club.",
    ),
]


def judged(new: str, old: str) -> SignalJudgment:
    (judgment,) = judge_candidates(Statement(new), [Statement(old)])
    return judgment


@pytest.mark.parametrize(("name", "new", "old"), FIRES)
def test_a_reason_fires_by_name_and_is_acted_on(name: str, new: str, old: str) -> None:
    judgment = judged(new, old)
    assert name in [f.name for f in judgment.findings]
    assert not judgment.flag


@pytest.mark.parametrize(("why", "new", "old"), KEEPS)
def test_what_only_looks_like_a_change_ends_nothing(why: str, new: str, old: str) -> None:
    judgment = judged(new, old)
    assert not judgment.relation.effect.ends_stored or judgment.flag or judgment.confidence < 0.7, (
        why
    )


FLAGS = [
    ("loose_attribute", "My goal is to learn Italian.", "My goal is to run a marathon."),
]


@pytest.mark.parametrize(("name", "new", "old"), FLAGS)
def test_what_is_plausible_but_unproven_is_flagged(name: str, new: str, old: str) -> None:
    judgment = judged(new, old)
    assert name in [f.name for f in judgment.findings]
    assert judgment.flag


def test_a_birthplace_is_flagged_and_not_believed() -> None:
    judgment = judged("Regina was born in Madrid.", "Regina was born in Buenos Aires.")
    assert judgment.relation is Relation.CONTRADICTION
    assert judgment.flag


def test_time_alone_is_no_reason_but_is_told_as_support() -> None:
    assert "now" in judged("The rent is now 1,250 euros.", "The rent is 1,100 euros.").reasoning
    assert not judged("I now play chess.", "I play tennis.").relation.effect.ends_stored
