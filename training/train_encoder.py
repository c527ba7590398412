"""Teaches the sentence encoder memory: `make encoder`.

The upper half of the published all-MiniLM-L6-v2 learns what answers a question (of facts, and of
messages), and what a fact ends or repeats. The rest stays as published. Writers whose names end in
2, 5 or 8 are held out, and those of `corpus.HELD_OUT`. Then `export_encoder.py` writes the network.
"""

import argparse
import random
from pathlib import Path

import torch
from contrast import Lesson, Texts, list_texts, measure, teach
from export_encoder import build_tokenizer
from network import MINILM, SOURCE
from questions import (
    ASKED,
    HELD_OUT_ASKED,
    draw_pairs_of_families,
    list_worlds,
    pair_scopes,
    read_english_questions,
    read_worlds,
)
from transformers import BertModel

from corpus import HELD_OUT, list_writers, read_scopes

SEED = 1
UPPER = 3  # of 6 layers
STEPS = 500
SCOPES = 500
SCOPE_PAIRS = 4_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the sentence encoder memory.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build"))
    folder: Path = parser.parse_args().folder
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    asked = list(read_english_questions(ASKED))
    asked += [
        one for file in list_worlds("english", is_held_out=False) for one in read_worlds(file)
    ]
    talk = [one for file in list_worlds("talks", is_held_out=False) for one in read_worlds(file)]
    writers = [writer for writer in list_writers() if writer not in HELD_OUT]
    scopes = list(pair_scopes(rng.sample(read_scopes(writers), SCOPES)))
    lessons = [
        Lesson(asked, 20),
        Lesson(talk, 10),
        Lesson(rng.sample(scopes, min(SCOPE_PAIRS, len(scopes))), 12),
        Lesson(draw_pairs_of_families(rng), 6),
    ]
    held_out = {"questions to scopes": list(read_english_questions(HELD_OUT_ASKED))}
    for kind in ("english", "talks"):
        for file in list_worlds(kind, is_held_out=True):
            held_out[file.stem] = list(read_worlds(file))
    bert = BertModel.from_pretrained(SOURCE, add_pooling_layer=False, attn_implementation="eager")
    texts = Texts(bert, build_tokenizer(), [MINILM.start], [MINILM.end], upper=UPPER)
    for each in (*(lesson.asked for lesson in lessons), *held_out.values()):
        texts.add(list_texts(each))
    for name, each in held_out.items():
        print(f"{name}, before: right first and among three {measure(texts, each)}", flush=True)
    teach(texts, lessons, STEPS)
    for name, each in held_out.items():
        print(f"{name}: right first and among three {measure(texts, each)}", flush=True)
    folder.mkdir(exist_ok=True)
    torch.save(bert.state_dict(), folder / "encoder.pt")


if __name__ == "__main__":
    main()
