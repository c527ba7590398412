"""The tools of developers run: benchmarks, scripts, training and its measurements."""

import asyncio
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.extraction.parts import build_parts

ROOT = Path(__file__).parent.parent
FOLDERS = [ROOT / "scripts", ROOT / "training"]
TOOLS = sorted(file.stem for folder in FOLDERS for file in folder.glob("*.py"))
BENCHMARKS = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in (ROOT / "bench").rglob("[a-z]*.py")
)
# Training has an environment of its own.
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
OF_TRAINING = {
    "contrast",
    "dates_of_languages",
    "e5",
    "export_encoder",
    "export_languages",
    "export_network",
    "measure_encoder",
    "network",
    "quantised_bert",
    "train_encoder",
    "train_judge",
    "train_judge_of_languages",
    "train_languages",
    "train_dates",
    "train_dates_of_languages",
    "train_english",
    "train_parts",
    "train_messages",
    "train_messages_of_languages",
    "trainer",
}
TOLD = [
    ("I live in Porto.", {}),
    ("My cat is called Miso.", {}),
    ("I no longer live in Porto, I live in Lisbon now.", {1: "UPDATE"}),
    ("Miso is the name of my cat.", {2: "DUPLICATE"}),
]
SCOPE = {
    "facts": [
        {
            "n": number,
            "text": text,
            "relations": [{"to": n, "relation": relation} for n, relation in relations.items()],
        }
        for number, (text, relations) in enumerate(TOLD, 1)
    ]
}


@pytest.fixture(autouse=True)
def paths_of_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tools find each other as they do when one of them is run, and are forgotten afterwards."""
    for folder in (ROOT, *FOLDERS):
        monkeypatch.syspath_prepend(folder)
    yield
    for name in TOOLS:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "name",
    [
        *BENCHMARKS,
        *(pytest.param(name, marks=needs_torch if name in OF_TRAINING else ()) for name in TOOLS),
    ],
)
def test_each_tool_can_begin(name: str) -> None:
    import_module(name)


def test_the_judge_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    corpus, encoder, measure = map(import_module, ("corpus", "encoder", "measure"))
    steps = list(corpus.walk_scope(SCOPE, encoder.SentenceEncoder()))
    network = measure.LocalNetwork(measure.FairThreads(1))
    asyncio.run(measure.measure_scopes(steps, network, with_curve=True, with_calibration=True))
    printed = capsys.readouterr().out
    assert "3 texts, 1 changes, 1 repetitions" in printed
    assert "signals and judge" in printed
    assert "found 1.000" in printed


@needs_torch
def test_the_judge_can_be_trained_and_exported(tmp_path: Path) -> None:
    import onnxruntime

    names = ("corpus", "export_network", "network", "train_judge")
    corpus, export_network, network, train_judge = map(import_module, names)
    told = ("I live in Porto.", "My cat is called Miso.")
    crowds = [corpus.Crowd("I live in Lisbon now.", told, ("UPDATE", None))] * 20
    judge: Any = network.ReadingNetwork(len(corpus.RELATIONS)).train()
    train_judge.train(judge, lambda _: crowds, tmp_path / "judge.pt")
    model = export_network.build_network(
        export_network.load_weights(tmp_path / "judge.pt"), "judge"
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert [one.name for one in session.get_inputs()] == ["ids", "types", "places", "mask", "pool"]


def test_facts_of_texts_are_found_in_their_words() -> None:
    parts: Any = import_module("parts")
    missed, compounds = [], 0
    for text, facts in parts.read_parts(["parts3"]):
        spans = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
        marked = parts.mark_text(text, spans, facts)
        compounds += len(facts) > 1
        if marked is None:
            missed.append(text)
        elif len(facts) > 1:
            built = [parts.normalise(part.text) for part in build_parts(marked)]
            assert built == [parts.normalise(fact) for fact in facts]
    assert compounds > 200
    assert len(missed) < compounds / 20, missed


def test_what_users_write_is_cut_as_it_is_labelled() -> None:
    messages: Any = import_module("messages")
    for name in ("chat1", "profiles4"):
        for message in messages.read_turns(name):
            hurried = messages.type_hurriedly(message, without_marks=False)
            for piece, typed in zip(message.pieces, hurried.pieces, strict=True):
                words = re.findall(r"\w+", message.text[piece.start : piece.end].replace("'", ""))
                as_typed = re.findall(r"\w+", hurried.text[typed.start : typed.end])
                assert [word.lower() for word in words] == as_typed or "’" in message.text


@needs_torch
def test_the_reader_of_messages_can_be_trained_and_exported(tmp_path: Path) -> None:
    import onnxruntime

    names = ("export_network", "messages", "network", "train_messages")
    export_network, messages, network, train_messages = map(import_module, names)
    pieces = (messages.Piece(0, 9, ("self",)), messages.Piece(11, 20, ("question",)))
    message = messages.Message("Hi!", "I'm vegan, any ideas", pieces)
    reader: Any = network.MessageNetwork().train()
    train_messages.train(reader, lambda _: [message] * 20, tmp_path / "messages.pt")
    weights = export_network.load_weights(tmp_path / "messages.pt")
    model = export_network.build_network(weights, "messages")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert [one.name for one in session.get_outputs()] == ["kinds", "begins"]
