"""Families of changes in talk, read by signals and the shipped network together.

The pairs were written before the rules: a fact, and what may end or rename it. A near miss may leave
a review, but ends nothing.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.classification.cascade import Cascade
from app.classification.local.judge import LocalJudge
from app.classification.local.network import LocalNetwork
from app.classification.verdict import Candidate
from app.domain.fact import Fact, StoredFact
from app.domain.relation import Classify, Judgment
from app.domain.version import Belief, Memory
from app.networks import FairThreads

NOW = datetime(2026, 6, 1, tzinfo=UTC)
NEIGHBOURS = ("I have a weekly call with my mother on Sundays", "I prefer short answers")

STOPS = [
    ("I take melatonin before bed", "I've weaned myself off melatonin"),
    ("I drink a glass of wine every evening", "I've given up wine"),
    ("I'm on a low-carb diet", "I came off the low-carb diet two weeks ago"),
    ("I have a subscription to the Economist", "I cancelled my Economist subscription"),
    ("I play five-a-side football on Thursdays", "I've packed in the five-a-side football"),
    ("I take the bus to work", "I no longer take the bus to work"),
    ("I use Notion for my notes", "I'm done with Notion"),
    (
        "I have a gym membership at Fitness First",
        "My gym membership has run out and I didn't renew it",
    ),
    ("I do intermittent fasting", "I've stopped doing intermittent fasting"),
    ("I go to a pottery class on Tuesdays", "I don't go to the pottery class any more"),
    ("I'm learning Japanese on Duolingo", "I've abandoned Duolingo"),
    ("I take antihistamines from April to July", "I've tapered off the antihistamines"),
    ("I drink oat milk", "I've gone off oat milk"),
    ("I play squash with Henrik", "I've jacked in squash"),
    ("I take evening classes in Polish", "I gave up the evening classes"),
    ("I eat sugar", "I've cut out sugar"),
    ("I'm using the nicotine patch", "I came off the nicotine patch in February"),
    ("I chair the parents' council", "I stepped down as chair of the parents' council"),
    ("I teach yoga at the community centre", "I no longer teach yoga"),
    ("I take vitamin D, 1000 units a day", "I stopped taking vitamin D"),
]
NO_STOPS = [
    ("I take melatonin before bed", "I came off my bike yesterday"),
    ("I take ibuprofen for my knee", "I've weaned myself off melatonin"),
    ("I drink a glass of wine every evening", "I've given up sugar"),
    ("I play five-a-side football on Thursdays", "My brother quit football"),
    ("I'm on a low-carb diet", "I came off the antibiotics on Monday"),
    ("I have a subscription to the Economist", "I cancelled my gym membership"),
    ("I use Notion for my notes", "I'm done with the Notion import"),
    ("I eat meat", "I've gone off fish"),
    ("I'm taking Sertraline, 50 mg", "I'm thinking of coming off Sertraline"),
    ("I volunteer at the food bank on Saturdays", "I dropped off some clothes at the food bank"),
    ("I go to a pottery class on Tuesdays", "I've finished my first bowl in the pottery class"),
    ("I drink coffee every morning", "I've given up sugar in my coffee"),
    ("I play the violin", "I quit the youth orchestra"),
    ("My wife takes iron tablets", "I came off the iron tablets"),
    ("I run three times a week", "I've stopped running on Fridays"),
    ("I drink oat milk", "I've gone off almond milk"),
    ("I take antihistamines from April to July", "I came off the ladder in April"),
    ("I play squash with Henrik", "I've jacked in tennis"),
    ("I work for the council", "I stepped down as chair of the parents' council"),
    ("I take the tram to work", "I came off the tablets"),
    ("I own a canoe", "I sold the tent last autumn"),
    ("I take vitamin D, 1000 units a day", "I stopped taking vitamin C"),
    ("I teach yoga at the community centre", "I don't teach on Mondays"),
    ("My son vapes", "I've finally stopped vaping"),
    ("I take insulin", "My cat came off insulin"),
    ("I pay for Spotify Premium", "I cancelled the plumber"),
    ("I eat sugar", "I've cut out salt"),
]

TOOLS = [
    ("I write in Word", "I do all my writing in Obsidian these days"),
    ("I sketch with pencils", "I do all my sketching on an iPad now"),
    ("I take notes in Evernote", "I take all my notes in Joplin now"),
    ("I model in Rhino", "Since January I do all my modelling in Blender"),
    ("I cook on gas", "I do all my cooking on induction since we renovated"),
    ("I record in Logic", "These days I do all my recording in Ableton"),
    ("I code in Vim", "I do all my coding in Zed now"),
    ("I draft in SketchUp", "From now on I draft only in Revit"),
    ("I budget in a spreadsheet", "I do all my budgeting in YNAB now"),
    ("I mix in Pro Tools", "I mix everything in Reaper now"),
    ("I design in Sketch", "Since last week I design exclusively in Figma"),
    ("I bake in a gas oven", "I do all my baking in the wood oven now"),
    ("I sketch in Procreate", "I do all my sketching in Fresco these days"),
    ("I plan lessons in Word", "I plan all my lessons in Notion now"),
    ("I track my runs with Strava", "I track all my runs with Garmin now"),
    ("We deploy with Jenkins", "We do all our deploys with Buildkite since May"),
    ("I invoice in FreshBooks", "All my invoicing is in Bexio now"),
    ("I translate in Trados", "I translate exclusively in MemoQ now"),
    ("I render in VRay", "Since spring I render everything in Cycles"),
    ("I compose in Sibelius", "From now on I compose everything in Dorico"),
    ("I read on a Kindle", "I do all my reading on a Kobo now"),
    ("I journal in Day One", "I do all my journaling in Diarium now"),
]
NO_TOOLS = [
    ("I draw in charcoal", "I write all my letters in green ink"),
    ("I write in Word", "I do all my drawings in Illustrator"),
    ("I code in Vim", "I also code in Zed sometimes"),
    ("I write in Python", "I wrote all the tests in Go last week"),
    ("I edit my photos in Lightroom", "I do all my video editing in Resolve"),
    ("I model in Rhino", "My colleague does all her modelling in Blender"),
    ("I cook on gas", "I do all my baking in the wood oven"),
    ("I take notes in Evernote", "I keep all my recipes in Paprika"),
    ("I record in Logic", "I'd like to do all my recording in Ableton"),
    ("I swim in the sea", "I do all my swimming in the morning"),
    ("I read in bed", "I do all my reading in German now"),
    ("I work in Leeds", "I do all my work in silence"),
    ("I paint in oils", "I do all my paintings in the garage"),
    ("I write in the kitchen", "I do all my writing in English"),
    ("I sketch in Rome every summer", "I do all my sketching in a Moleskine"),
    ("I sketch in Procreate", "I do all my painting in Fresco these days"),
    ("I teach in English", "I do all my teaching in Zoom now"),
    ("I invoice in FreshBooks", "My accountant does all his invoicing in Bexio"),
    ("I compose in Sibelius", "I'd love to compose everything in Dorico"),
    ("I translate in Trados", "I did all my translating in Trados last year"),
    ("I read on a Kindle", "I do all my reading on the train"),
    ("I track my runs with Strava", "I track all my meals with Yazio"),
    ("I plan lessons in Word", "I plan all my trips in Notion now"),
]

NEW_ONES = [
    ("My hairdresser is Paula", "My new hairdresser is Sandra"),
    ("My GP is Dr Okafor", "My new GP is Dr Hale"),
    ("My physio is called Ruben", "My new physio is called Marta"),
    ("My phone is a Pixel 6", "My new phone is a Fairphone 5"),
    ("My landlord is Mr Petersen", "My new landlord is Mrs Lindqvist"),
    ("My car is a Fiat Panda", "My new car is a Toyota Yaris"),
    ("My desk is by the window", "My new desk is next to the printer"),
    ("My bank is Monzo", "My new bank is Triodos"),
    ("My line manager is Steve", "My new line manager is Aisha"),
    ("My email is mira@old.example", "My new email is mira@new.example"),
    ("My commute is by train", "My new commute is by bike"),
    ("My piano teacher is Mr Ito", "My new piano teacher is Ms Novak"),
    ("My optician is Mrs Bell", "My new optician is Mr Quist"),
    ("My laptop is a ThinkPad X1", "My new laptop is a Framework 13"),
    ("My supervisor is Prof Keller", "My new supervisor is Prof Adeyemi"),
    ("My insurer is Helvetia", "My new insurer is Mobiliar"),
    ("My tax adviser is Mr Braun", "My new tax adviser is Mrs Vogel"),
    ("My boss is Carla", "My new boss is Ingmar"),
]
NO_NEW_ONES = [
    ("My colleague is Paula", "My new colleague is Sandra"),
    ("My GP is Dr Okafor", "My new dentist is Dr Hale"),
    ("My sister's GP is Dr Okafor", "My new GP is Dr Hale"),
    ("My work phone is a Pixel 6", "My new private phone is a Fairphone 5"),
    ("My friend is called Ana", "My new friend is called Bea"),
    ("My car is a Fiat Panda", "My new bike is a Brompton"),
    ("My favourite book is Middlemarch", "My new book is Piranesi"),
    ("My hairdresser is Paula", "My new hairdresser is expensive"),
    ("My neighbour is Tom", "My new neighbour is loud"),
    ("My dog is called Rex", "My new dog is called Fido"),
    ("My landlord is Mr Petersen", "My new landlord is nice"),
    ("My wife's vet is Dr Ferreira", "My new vet is Dr Mota"),
    ("My bank is Monzo", "My new bank card is blue"),
    ("My piano teacher is Mr Ito", "My new piano is a Yamaha"),
    ("My desk is by the window", "My new desk lamp is from Ikea"),
    ("My student is Jana", "My new student is Lotte"),
    ("My cat is Mo", "My new cat is Pip"),
    ("My laptop is a ThinkPad X1", "My new monitor is a Dell"),
    ("My boss is Carla", "My wife's new boss is Ingmar"),
    ("My optician is Mrs Bell", "My new glasses are blue"),
    ("My supervisor is Prof Keller", "My new office is in Keller Street"),
    ("My aunt is called Vera", "My new neighbour is called Rosa"),
    ("My colleague Jana is from Brno", "My new colleague Lotte is from Utrecht"),
]

RENAMES = [
    (
        "we got a kitten from the shelter, a ginger one called Biscuit",
        "Biscuit goes by Marmalade now",
    ),
    ("My cat is called Misty", "Misty is now called Smokey"),
    ("I run a small studio called Northlight", "We renamed Northlight to Lantern"),
    ("Our product is called Trellis", "Trellis was renamed to Arbor last week"),
    ("I play in a band called The Lanterns", "The Lanterns have been renamed Dim Sun"),
    ("Our goat is named Heidi", "Heidi answers to Clara these days"),
    ("My company's name is Finwise", "Finwise changed its name to Ledgerly"),
    ("I have a parrot by the name of Coco", "Coco is called Kiwi now"),
    ("My allotment group goes by Green Fingers", "Green Fingers has been renamed to Root Cause"),
    ("I adopted a greyhound called Comet in May", "Comet now answers to Pip"),
    ("The repo is called memento", "We renamed the repo to palimpsest"),
    ("The new intern is called Alexander", "Alexander goes by Sasha now"),
    ("My cafe is called Little Bean", "Little Bean is called Kaffa now"),
    ("My son's guinea pig is called Nut", "Nut is now known as Pebble"),
    ("I have two hens, one called Dotty", "Dotty is now known as Queenie"),
    ("My podcast is called Slow Trains", "We renamed Slow Trains to Branch Lines"),
    ("My startup is called Brightly", "Brightly has been renamed Lumo"),
    ("We adopted a mule called Jenny", "Jenny goes by the name of Duchess now"),
    ("My choir is called Vox", "Vox changed its name to Cantus in March"),
    ("My trainer is called Benedikt", "Benedikt goes by Ben these days"),
]
NO_RENAMES = [
    ("My cat is called Misty", "Misty answers to my whistle now"),
    ("My cat is called Misty", "Smokey is called Shadow now"),
    ("Biscuit is afraid of thunder", "Biscuit goes by Marmalade now"),
    ("My brother is called Tom", "My cousin Tom is called Dad now"),
    ("My cat is called Misty", "We might rename Misty to Smokey"),
    ("Our product is called Trellis", "Trellis answers to the board now"),
    ("Our goat is named Heidi", "Heidi is called every morning"),
    ("We have a boat named Sally", "We call Sally on Sundays"),
    ("My colleague is called Elizabeth", "Elizabeth goes by train now"),
    ("I run a small studio called Northlight", "Northlight has been moved to Leith"),
    ("My cat is called Misty", "Misty's kitten is called Smokey now"),
    ("The repo is called memento", "The branch was renamed to main"),
    ("My boss is called Graham", "Graham reports to Nadia now"),
    ("I adopted a greyhound called Comet in May", "Comet sleeps in Pip's basket now"),
    ("I play in a band called The Lanterns", "The Lanterns named their album Dim Sun"),
    ("My podcast is called Slow Trains", "Slow Trains is on Spotify now"),
    ("My startup is called Brightly", "Brightly is called a unicorn now"),
    ("My trainer is called Benedikt", "Benedikt goes by bike now"),
    ("We adopted a mule called Jenny", "Jenny's foal is called Duchess"),
    ("My choir is called Vox", "Vox sings in Cantus Hall now"),
    ("I have two hens, one called Dotty", "Dotty is named after my aunt"),
    ("My sister is called Jenny and our mule is called Jenny", "Jenny goes by Duchess"),
    ("My startup is called Brightly", "We might have renamed Brightly to Lumo"),
]


@pytest.fixture(scope="module")
def cascade() -> Iterator[Cascade]:
    with closing(FairThreads(2)) as threads:
        yield Cascade(LocalJudge(LocalNetwork(threads)), None)


def build_candidate(number: int, text: str, similarity: float) -> Candidate:
    memory_id = UUID(int=number)
    fact = StoredFact.from_fact(Fact(text))
    memory = Memory(memory_id, fact, Belief(memory_id, NOW, NOW), NOW, 1, None)
    return Candidate(memory, similarity)


def judge(cascade: Cascade, stored: str, incoming: str) -> Judgment:
    candidates = [build_candidate(1, stored, 0.6)]
    candidates += [build_candidate(n, text, 0.2) for n, text in enumerate(NEIGHBOURS, 2)]
    read = asyncio.run(cascade.read(Fact(incoming), candidates, Classify.CASCADE))
    verdict = read.local.verdict
    return next(j for j in verdict.judgments if j.memory_id == UUID(int=1))


def changes(judgment: Judgment) -> bool:
    return judgment.relation.effect.changes_stored and not judgment.flag


def share_of_changes(cascade: Cascade, pairs: list[tuple[str, str]]) -> float:
    return sum(changes(judge(cascade, *pair)) for pair in pairs) / len(pairs)


@pytest.mark.parametrize("pairs", [STOPS, TOOLS, NEW_ONES, RENAMES])
def test_a_change_is_read(cascade: Cascade, pairs: list[tuple[str, str]]) -> None:
    assert share_of_changes(cascade, pairs) >= 0.9


@pytest.mark.parametrize(("stored", "incoming"), STOPS + TOOLS + NEW_ONES)
def test_no_change_goes_by_in_silence(cascade: Cascade, stored: str, incoming: str) -> None:
    assert judge(cascade, stored, incoming).relation.effect.ends_stored


@pytest.mark.parametrize("pairs", [NO_STOPS, NO_TOOLS, NO_NEW_ONES, NO_RENAMES])
def test_near_misses_change_hardly_anything(cascade: Cascade, pairs: list[tuple[str, str]]) -> None:
    assert share_of_changes(cascade, pairs) <= 0.15
