from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.domain.secrets import redact_secrets
from app.domain.talk import CONTEXT_BEGINS, CONTEXT_ENDS, SkipReason
from app.extraction.sentences import split_sentences
from app.networks.session import LazyNetwork
from support.talk import build_turns, list_facts, list_reasons, read_talk

FACTS = [
    "I work at a hospital",
    "I put the bins out on Tuesdays",
    "I like the Guardian",
    "I'm allergic to penicillin",
    "im a night porter in hull",
    "my dog is called Rex",
    "My wife and I are vegetarians",
    "our staging db is Postgres 15",
    "we deploy on Fridays",
    "we decided to go with Stripe for payments",
    "the office wifi password policy changed to 14 characters",
    "The museum is closed until 4 May",
    "Dr Osei has been head of radiology since March",
    "Nadia's allergic to bees",
    "User prefers dark mode",
    "I've been playing the cello since I was eight",
    "I don't eat meat",
    "I can't have dairy",
    "I used to live in Spain",
    "I moved to Graz in September",
    "I was diagnosed with asthma in 2016",
    "I'm flying to Denver on the 3rd",
    "On Sundays I call my grandmother",
    "Both my parents are teachers",
    "Everyone in my team speaks Spanish",
    "I no longer drive after dark",
    "My passport expires in June 2027",
    "It takes me forty minutes to get to work",
    "There's a Lidl next to our house",
    "this repo uses pnpm",
    "We call the dog Pipoca now",
    "I've given up coffee",
    "I came off the omeprazole in May",
    "I've switched over to Linux",
    "The choir is on Mondays now",
    "I left Siemens in March",
    "We got a second dog called Bolota",
    "I look after my father, who has dementia",
    "I'm off dairy",
    "I play the violin",
    "My knee is bad since the fall",
    "I haven't eaten meat since 2010",
    "I can't swim",
    "I'm with Vodafone",
    "Pauline retired",
    "Kim is the new team lead",
    "Wife's from Chile",
    "The place has a small garden",
    "no nuts are allowed in the back room",
    "Born and bred in Leeds",
    "Originally from Ghana",
    "Been vegan for 6 years",
    "Vegetarian",
    "Allergic to cats",
    "Got a dog called Biscuit",
    "Got made redundant in March",
    "Just moved to Leeds",
    "Work as a paramedic",
    "Living in Bristol at the moment",
    "Hate mushrooms",
    "Can't eat gluten",
    "Don't drink",
    "Never learned to drive",
    "No kids",
    "Two kids, both in primary school",
    "My name's Priya",
    "my ankles been dodgy since easter",
    "You can call me Bea",
    "Wednesdays I work from home",
    "I get headaches from red wine",
    "I'm terrible at maths",
    "I hate it when people are late",
    "I believe in God",
    "my hobby is knitting",
    "I went to Towson University",
    "I did my degree in Hull",
    "I had my sciatic nerve removed",
    "We had the gas taken out",
    "I can't feel my foot at all",
    "I've never been on a plane",
    "I liked X-Men as a kid",
    "I loved Firefly",
    "I did like Iron Man",
    "I have seen most of the Bond films",
    "I've read Huck Finn",
    "I read a lot of crime novels",
    "I'm really interested in steam engines",
    "Beauty and the Beast is my wife's favorite",
    "batman is my favorite",
    "Mine is Lion King",
    "I've a bad back",
    "I have trouble sleeping",
    "I've had two operations on my knee",
    "I've been learning Welsh",
    "I see a therapist",
    "I can read Arabic",
    "I understand Polish",
    "I can only meet after six",
    "I'm quite shy",
    "I'm a bit of a night owl",
    "I'm not much of a dancer",
    "My allergies are worst in May",
    "My hands shake because of the medication",
    "My brother won't fly",
    "Our oven doesn't work above 200",
    "My grandparents came from Poland",
    "my roommates a slob",
    "I'm trying to lose weight",
    "It's just the two of us",
    "I've swapped cigarettes for a vape",
    "not a fan of olives",
    "Inês' daughter Clara was born on 30 November",
    "we've been together nine years",
    "I'm having surgery on Monday",
    "My mum is coming to live with us",
    "My Polish is terrible",
    "My first car was a Beetle",
    "Before that I was a teacher",
    "None of us drive",
    "I stopped buying plastic",
    "I learned to knit",
    "My hair is long",
    "I write in Vim and keep my notes on paper",
]


def test_lasting_statements_are_facts_in_their_own_words() -> None:
    """A network reads them, so that a few of them may be missed."""
    found = [text for text in FACTS if list_facts(text) == [text] == list_facts(f"{text}.")]
    assert len(found) >= 0.85 * len(FACTS), set(FACTS) - set(found)


SKIPPED = [
    "I head there is a doctor in the show",
    "I about ran out of milk",
    "I put crisps into my sandwich",
    "I don't have all day",
    "My understanding is that they moved",
    "Personally I like the second act",
    "I like some of the other songs",
    "I had one of those as a kid",
    "I love to go from pub to pub one day",
    "What time is it in Tokyo?",
    "how do i reset it",
    "any tips",
    "I wish I could sing",
    "I'd love to live in Rome one day",
    "I want to rename the column",
    "If I moved to Oslo I'd need a car",
    "I might move to Spain",
    "Maybe I should get a dog",
    "My boss said 'I hate Mondays'",
    "> I live in Rome",
    "Thanks so much!",
    "yes please",
    "Write me a poem",
    "I need a recipe for twelve people",
    "Remind me to call Tom",
    "I'm stuck on this bug",
    "I haven't seen Black Panther",
    "I personally never read Dune",
    "I really enjoyed chatting with you",
    "I ran it again",
    "I just pushed the change",
    "I'm so tired today",
    "I think you're right",
    "I have one more question",
    "I'm getting a 403 when I call it",
    "My code doesn't compile",
    "My phone is about to die",
    "The build fails on CI",
    "The second option looks better",
    "Python is a great language",
    "Paris is the capital of France",
    "I have half a pumpkin and a tin of chickpeas",
    "I have one slide with numbers",
    "I have three eggs and some flour",
    "We have five days in total",
    "I've got swimming tomorrow",
    "I've got a sack staring at me",
    "I have a cold",
    "We're bitter",
    "I'm just a pessimist",
    "I'm not an expert",
    "I've given up",
    "I lost my keys",
    "I left the oven on",
    "I stand corrected",
    "I speak from experience",
    "Ahh, that one's on me",
    "My character Jon lives in Oslo",
    "Germany has sixteen states",
    "The Eiffel Tower is in Paris",
    "Coffee contains caffeine",
    "Greetings from both dogs, one of them under protest",
    "It's raining again",
    "Still nothing",
    "Got the same error",
    "Love the idea",
    "Love that",
    "Working on it",
    "Been trying for an hour",
    "Can't open the file",
    "Never heard of it",
    "Don't worry",
    "I loved the ending",
    "I loved it",
    "I have seen the error",
    "I love things like that",
    "I'm interested in the second one",
    "I respect the birds for their stamina",
    "Life was different years ago",
    "Sony did not take the rights in 1998",
    "George is creative but needs others",
    "we had the first one in 1977",
    "I have trouble with this function",
    "I've had a look",
    "I see a white screen",
    "I can read it now",
    "I'm a bit lost",
    "I'm in the settings",
    "I'm the same",
    "I keep the file open",
    "We use the formula above",
    "We have an hour",
    "I'm trying to fix it",
    "I came across this error",
    "big fan of that idea",
    "I've got a 404",
    "I worked on it all day",
    "I'm having lunch",
    "the actor died last year",
    "the sequel comes out in May",
    "None of them work",
    "I stopped the server",
    "I started getting errors",
    "I replaced the first line with yours",
    "Call me tomorrow",
    "Two more",
    "Have fun",
    "My sister's wedding",
    "I had a good time",
    "I'm good with that",
    "I've never been there",
    "I was born to a job like that",
    "I use to play",
    "I do He spends a ton of money on wine",
    "I don't how with so many free versions",
    "I like Boseman as Black Panther",
    "Rams and Chiefs are my current picks for the final",
    "He lives with us",
    "I play chess with her every Friday",
]


def test_what_does_not_last_is_mostly_skipped() -> None:
    kept = [text for text in SKIPPED if list_facts(text)]
    assert len(kept) <= 0.25 * len(SKIPPED), kept


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("FYI, the demo is on Tuesday", "the demo is on Tuesday"),
        ("btw i live in leeds lol", "i live in leeds"),
        ("Just so you know, I'm left-handed.", "I'm left-handed"),
        ("Please remember that Karin is off sick", "Karin is off sick"),
        ("Keep in mind: our budget is 2,000 euros", "our budget is 2,000 euros"),
        ("Oh and I'm a vegan :)", "I'm a vegan"),
        ("- I like tea", "I like tea"),
        ("1. My sister lives in Kent", "My sister lives in Kent"),
        ("Yes I'm a vegan :)", "I'm a vegan"),
        ("And the big news: on Saturday we adopted a dog", "on Saturday we adopted a dog"),
        ("Better double it, my partner teaches physics", "my partner teaches physics"),
        ("Ohh, our office is in Leeds", "our office is in Leeds"),
        ("From now on always sign with Mira", "always sign with Mira"),
        ("Thanks! I'm Dutch, by the way", "I'm Dutch"),
    ],
)
def test_what_leads_up_to_a_statement_is_no_part_of_it(text: str, fact: str) -> None:
    assert list_facts(text) == [fact]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in Leeds, so can you recommend a gym?", ["I live in Leeds"]),
        ("Can you suggest a starter, because my brother is coeliac", ["my brother is coeliac"]),
        ("i play left back for parkside how do i get faster", ["i play left back for parkside"]),
        ("I'm Brazilian and I tried the first recipe", ["I'm Brazilian"]),
        ("My wife and I live in Kent", ["My wife and I live in Kent"]),
    ],
)
def test_a_part_that_can_stand_is_separated(text: str, facts: list[str]) -> None:
    assert list_facts(text) == facts


def test_an_assistant_a_tool_and_a_system_state_nothing() -> None:
    lines = ["assistant: I live in Oslo.", "tool: I live in Rome.", "system: I live in Ulm."]
    assert list_facts(*lines) == []
    assert list_reasons(*lines) == [
        SkipReason.ASSISTANT,
        SkipReason.OTHER_ROLE,
        SkipReason.OTHER_ROLE,
    ]


def test_what_a_context_handed_out_is_not_read_again() -> None:
    handed_out = ("I live in Porto.", "Anna is a vet")
    assert list_facts("I live in Porto", handed_out=handed_out) == []
    assert list_facts("btw, i live in PORTO!", handed_out=handed_out) == []
    assert list_reasons("I live in porto.", handed_out=handed_out) == [SkipReason.REPEATED_CONTEXT]
    assert list_facts("My sister Anna lives here. She is a vet.", handed_out=handed_out) == [
        "My sister Anna lives here"
    ]
    assert list_facts("I live in Porto, what shall I see?", handed_out=handed_out) == []
    assert list_facts("I live in Lisbon", handed_out=handed_out) == ["I live in Lisbon"]


def test_a_confirmed_memory_of_the_context_is_not_read_again() -> None:
    talk = ["assistant: So you live in Porto?", "Yes."]
    assert list_facts(*talk) == ["I live in Porto"]
    assert list_facts(*talk, handed_out=("I live in Porto",)) == []


def test_a_marked_context_is_skipped_whole() -> None:
    context = f"{CONTEXT_BEGINS}\nI live in Porto.\n{CONTEXT_ENDS}"
    assert list_facts(f"{context}\nI moved to Lisbon last month.") == [
        "I moved to Lisbon last month"
    ]
    assert list_reasons(context) == [SkipReason.REPEATED_CONTEXT]


def test_a_marked_context_without_its_end_reaches_to_the_end_of_the_turn() -> None:
    turn = f"I like tea.\n{CONTEXT_BEGINS}\nI live in Porto.\nI moved to Lisbon last month."
    assert list_facts(turn, "I'm a nurse.") == ["I like tea", "I'm a nurse"]


SENTENCES = st.sampled_from([*FACTS, *SKIPPED, "ok", "x = 1", "| a | b | c |", "hi", "😀", "…"])


@given(st.lists(st.lists(SENTENCES, max_size=5).map(". ".join), max_size=4))
def test_quotes_lie_in_their_turns_and_no_sentence_is_lost(contents: list[str]) -> None:
    turns = build_turns(*contents)
    extraction = read_talk(*contents)
    quotes = [one.quotes[0] for one in extraction.statements]
    quotes += [one.quote for one in extraction.skipped]
    for place, turn in enumerate(turns):
        own = sorted((q.start, q.end) for q in quotes if q.turn == place)
        assert all(0 <= start < end <= len(turn.content) for start, end in own)
        assert all(one[1] <= other[0] for one, other in pairwise(own))
        for start, end in split_sentences(turn.content, 0, len(turn.content)):
            assert any(first < end and start < last for first, last in own)


@settings(deadline=None)  # a busy machine may take its time
@given(st.lists(SENTENCES.filter(lambda text: "He" not in text), max_size=6).map(". ".join))
def test_a_statement_without_a_pronoun_is_verbatim(content: str) -> None:
    for statement in read_talk(content).statements:
        quote = statement.quotes[0]
        assert statement.text == content[quote.start : quote.end]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_read_without_an_error(content: str) -> None:
    assert len(read_talk(f"user: {content}", "assistant: So you like tea?", content).skipped) >= 0


HOSTILE = [
    "'a ",
    '"a ',
    "so so ",
    "Translate ",
    "yes, ",
    "no! ",
    "a. ",
    "I, i, ",
    "and i ",
    "'a ",
    '"a b c d e ',
    "!? ",
    "yes ",
    "remember that ",
    "if i go ",
    "My Bob ",
    "```",
    "|a",
    "a;b;c",
    "note: ",
    "x.y(z) ",
    "\t",
    CONTEXT_BEGINS,
]


@pytest.fixture
def repeated_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the network once over windows that are alike, of which a text of repeated words has hundreds."""
    run = LazyNetwork.run
    computed: dict[tuple[Any, ...], list[NDArray[np.float32]]] = {}

    def run_once(
        network: LazyNetwork, outputs: Sequence[str], inputs: Mapping[str, NDArray[np.generic]]
    ) -> list[NDArray[np.float32]]:
        key = (network, *outputs, *(window.tobytes() for window in inputs.values()))
        if key not in computed:
            computed[key] = run(network, outputs, inputs)
        return computed[key]

    monkeypatch.setattr(LazyNetwork, "run", run_once)


@pytest.mark.usefixtures("repeated_windows")
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_turns_of_sixteen_thousand_characters_are_read(unit: str) -> None:
    """Were one of the patterns quadratic, this would take minutes."""
    content = (unit * (16_000 // len(unit) + 1))[:16_000]
    read_talk(f"user: {content}", f"assistant: {content}", "yes")


def test_a_sentence_without_its_secret_is_no_fact() -> None:
    said = "I live in Porto. My key is sk-test-51HxQ2eZvKYlo2C8f7Gq9RtL0pWmN3bUaJ."
    kept, _ = redact_secrets(said)
    assert list_facts(kept) == ["I live in Porto"]
    assert list_reasons(kept) == [SkipReason.REDACTED]


def test_a_fact_that_points_back_is_kept_with_what_it_points_to() -> None:
    text = "Give me a dinner idea without nuts please, I'm allergic to all of them"
    assert list_facts(text) == [text]
    whole = f"Can you help me? {text}"
    extraction = read_talk(whole)
    assert [one.text for one in extraction.statements] == [text]
    [skipped] = extraction.skipped
    assert whole[skipped.quote.start : skipped.quote.end].strip() == "Can you help me?"


@pytest.mark.parametrize(
    "quoted",
    [
        "The caterer wrote: 'Our client last year had 120 guests.' How much is that per head?",
        'Is this fine? "My sister Ada will sign for the parcel."',
        "> Our manager Bo is on leave, sorry.\nShould I answer?",
    ],
)
def test_a_pronoun_stands_for_nobody_of_a_quotation(quoted: str) -> None:
    talk = (quoted, "She lives in Glasgow.")
    assert all("Glasgow" not in fact for fact in list_facts(*talk))
    assert SkipReason.UNCLEAR_PRONOUN in list_reasons(*talk)
