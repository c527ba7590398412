"""Teaches the upper layers of a published sentence encoder what belongs together.

A text is drawn to one of its answers, and away from what other texts of the step belong to and from
others of its own world. What the lower layers make of a text does not change, so it is made once.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from questions import Asked
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, normalize
from transformers import BertModel

TEMPERATURE = 0.05
OTHERS = 3  # texts of its own world that a text is told from in a step
RATE = 1e-4
WARM_UP = 50  # steps
# Times the squared distance of cosines from those of before, so that they keep their meaning.
KEEPS = 1.0
KEPT = 64  # texts of a step whose cosines are kept
LONGEST = 120  # tokens
TAUGHT = 64  # tokens of a text that are learned from
BATCH = 2_000  # tokens, padding included
TOLD_EVERY = 25

Turn = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Lesson:
    """Texts to learn from, of which each step draws `count`."""

    asked: Sequence[Asked]
    count: int


class Texts:
    """Texts by what the lower layers make of their tokens, and their vectors by the upper ones."""

    def __init__(
        self,
        bert: BertModel,
        tokenizer: Tokenizer,
        before: Sequence[int],
        after: Sequence[int],
        *,
        upper: int,
    ) -> None:
        self._bert = bert.eval().requires_grad_(False)
        layers = list(bert.encoder.layer)
        self._lower, self.upper = layers[:-upper], torch.nn.ModuleList(layers[-upper:])
        self._tokenizer, self._before, self._after = tokenizer, before, after
        self._hidden: dict[str, NDArray[np.float16]] = {}

    def add(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._hidden]
        ids = {text: self._number(text) for text in new}
        for batch in _batch(new, lambda text: len(ids[text])):
            tokens = [ids[text] for text in batch]
            padded = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)
            seen = _mask(tokens)
            with torch.no_grad():
                hidden = self._bert.embeddings(padded)
                hidden = _run(self._lower, hidden, seen)
            for text, states, one in zip(batch, hidden, tokens, strict=True):
                self._hidden[text] = states[: len(one)].half().numpy()

    def _number(self, text: str) -> torch.Tensor:
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids[:LONGEST]
        return torch.tensor([*self._before, *ids, *self._after])

    def encode(self, texts: Sequence[str], *, most: int = LONGEST + 8) -> torch.Tensor:
        """Return the vectors of the texts, of unit length: (texts, 384)."""
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        vectors, order = [], []
        for batch in _batch(list(places), lambda text: min(most, len(self._hidden[text]))):
            states = [torch.from_numpy(self._hidden[text][:most]).float() for text in batch]
            seen = _mask(states)
            padded = torch.nn.utils.rnn.pad_sequence(states, batch_first=True)
            hidden = _run(self.upper, padded, seen)
            vectors.append((hidden * seen[..., None]).sum(1) / seen.sum(1, keepdim=True))
            order += [places[text] for text in batch]
        rows = torch.empty(len(order), dtype=torch.long)
        rows[torch.tensor(order)] = torch.arange(len(order))
        return normalize(torch.cat(vectors), dim=-1)[rows][[places[text] for text in texts]]


def _batch(texts: Sequence[str], measure: Callable[[str], int]) -> list[list[str]]:
    """Return the texts in batches of like length, so that little is padded."""
    batches: list[list[str]] = [[]]
    for text in sorted(texts, key=measure):
        if batches[-1] and measure(text) * (len(batches[-1]) + 1) > BATCH:
            batches.append([])
        batches[-1].append(text)
    return batches


def _mask(states: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return 1 for tokens and 0 for padding: (texts, tokens)."""
    return torch.nn.utils.rnn.pad_sequence(
        [torch.ones(len(one)) for one in states], batch_first=True
    )


def _run(layers: Any, hidden: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    unseen = (1 - seen)[:, None, None] * -10_000.0
    for layer in layers:
        made = layer(hidden, attention_mask=unseen)
        hidden = made[0] if isinstance(made, tuple) else made
    return hidden


def teach(
    texts: Texts,
    lessons: Sequence[Lesson],
    steps: int,
    turn: Turn = lambda vectors: vectors,
    parameters: Sequence[torch.Tensor] = (),
) -> None:
    """Let the upper layers learn, and `parameters`, by which vectors are turned behind them."""
    rng = random.Random(1)
    texts.upper.requires_grad_(True)
    before = _read_vectors(texts, lessons, turn)
    layers = list(texts.upper.parameters())
    groups: list[dict[str, Any]] = [{"params": layers}]
    if parameters:
        groups.append({"params": list(parameters), "lr": 5 * RATE, "weight_decay": 0.0})
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)
    falling = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM_UP) * (1 - step / steps)
    )
    for step in range(1, steps + 1):
        drawn = [one for lesson in lessons for one in rng.sample(lesson.asked, lesson.count)]
        loss = _compute_loss(texts, drawn, before, turn, rng)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(layers, 1.0)
        optimizer.step()
        falling.step()
        if step % TOLD_EVERY == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    texts.upper.requires_grad_(False)


def _read_vectors(texts: Texts, lessons: Sequence[Lesson], turn: Turn) -> dict[str, torch.Tensor]:
    """Return the vectors of the queries and answers as they are now."""
    named = dict.fromkeys(
        text for lesson in lessons for one in lesson.asked for text in (one.query, *one.answers)
    )
    with torch.no_grad():
        return dict(zip(named, turn(texts.encode(list(named))), strict=True))


def _compute_loss(
    texts: Texts,
    drawn: Sequence[Asked],
    before: dict[str, torch.Tensor],
    turn: Turn,
    rng: random.Random,
) -> torch.Tensor:
    answers = [rng.choice(one.answers) for one in drawn]
    others = [
        other for one in drawn for other in rng.sample(one.others, min(OTHERS, len(one.others)))
    ]
    named = list(dict.fromkeys([*answers, *others]))
    queries = [one.query for one in drawn]
    vectors = turn(texts.encode([*queries, *named], most=TAUGHT))
    ours, theirs = vectors[: len(queries)], vectors[len(queries) :]
    likeness = ours @ theirs.T / TEMPERATURE
    for row, (one, answer) in enumerate(zip(drawn, answers, strict=True)):
        for column, text in enumerate(named):
            if text != answer and (text in one.answers or text == one.query):
                likeness[row, column] = -10_000.0
    right = torch.tensor([named.index(answer) for answer in answers])
    return cross_entropy(likeness, right) + KEEPS * _compute_drift(
        [*queries, *answers], torch.cat([ours, theirs[right]]), before, rng
    )


def _compute_drift(
    texts: Sequence[str], vectors: torch.Tensor, before: dict[str, torch.Tensor], rng: random.Random
) -> torch.Tensor:
    """Return how far cosines between some of the texts are from what they were."""
    kept = rng.sample(range(len(texts)), min(KEPT, len(texts)))
    old = torch.stack([before[texts[place]] for place in kept])
    return (vectors[kept] @ vectors[kept].T - old @ old.T).square().mean()


def measure(
    texts: Texts, asked: Sequence[Asked], turn: Turn = lambda vectors: vectors
) -> tuple[float, float]:
    """Return the shares of questions that have a right text first, and among three."""
    named = list(dict.fromkeys(t for one in asked for t in (one.query, *one.answers, *one.others)))
    with torch.no_grad():
        vectors = dict(zip(named, turn(texts.encode(named)), strict=True))
    first = among = 0
    for one in asked:
        held = [*one.answers, *one.others]
        scores = torch.stack([vectors[text] for text in held]) @ vectors[one.query]
        best = torch.argsort(-scores)[:3].tolist()
        right = [place < len(one.answers) for place in best]
        first += right[0]
        among += any(right)
    return first / len(asked), among / len(asked)


def list_texts(asked: Sequence[Asked]) -> list[str]:
    return [text for one in asked for text in (one.query, *one.answers, *one.others)]
