"""Training in steps of batches: what the judge and the reader of messages share."""

import random
from collections.abc import Iterator, Sequence

import torch
from network import MASK, Encoded, ReadingNetwork, pad_texts

BATCH = 64
RATE = 2e-4
HEAD_RATE = 5  # times the rate of the encoder
WARM_UP = 0.06  # of all steps
LAST_RATE = 0.02  # of the highest rate
SMOOTHING = 0.02
MASKED = 0.1  # of the words, so that a text is never quite the same twice
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SORTED_TOGETHER = 50  # batches whose texts are sorted by length, so that little is padded

Classes = tuple[int, ...]  # what a text may be


class Trainer:
    """Steps of AdamW in float32 on a network that computes in bfloat16, which is twice as fast."""

    def __init__(self, network: ReadingNetwork, steps: int) -> None:
        self._network = network.to(torch.bfloat16)
        self._steps = steps
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._masters = [p.detach().float().clone() for p in self._parameters]
        names = [name for name, p in network.named_parameters() if p.requires_grad]
        encoder: list[torch.Tensor] = []
        head: list[torch.Tensor] = []
        for name, master in zip(names, self._masters, strict=True):
            (encoder if name.startswith("bert") else head).append(master)
        self._optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": RATE}, {"params": head, "lr": RATE * HEAD_RATE}],
            weight_decay=WEIGHT_DECAY,
            fused=True,
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._scale_rate)

    def _scale_rate(self, step: int) -> float:
        rising = (step + 1) / (self._steps * WARM_UP)
        falling = max(LAST_RATE, 1 - step / self._steps)
        return min(1.0, rising) * falling

    def step(self, encoded: Sequence[Encoded], classes: Sequence[Classes]) -> float:
        """Learn from one batch, of which each text is one of its classes, and return its loss."""
        ids, types, mask = pad_texts(encoded)
        logits = self._network(mask_words(ids), types, mask)
        loss = compute_loss(logits.float(), classes)
        loss.backward()
        for master, parameter in zip(self._masters, self._parameters, strict=True):
            master.grad = parameter.grad.float()
            parameter.grad = None
        torch.nn.utils.clip_grad_norm_(self._masters, LARGEST_GRADIENT)
        self._optimizer.step()
        self._schedule.step()
        with torch.no_grad():
            for master, parameter in zip(self._masters, self._parameters, strict=True):
                parameter.copy_(master)
        return float(loss.detach())

    def collect_weights(self) -> dict[str, torch.Tensor]:
        """Return the weights in float32 by name."""
        weights = {name: value.float() for name, value in self._network.state_dict().items()}
        trained = [name for name, p in self._network.named_parameters() if p.requires_grad]
        weights.update(zip(trained, self._masters, strict=True))
        return weights


def compute_loss(logits: torch.Tensor, classes: Sequence[Classes]) -> torch.Tensor:
    """Return how unlikely what each text may be was held. The logits are (texts, classes)."""
    logs = logits.log_softmax(-1)
    is_allowed = torch.zeros_like(logs, dtype=torch.bool)
    for row, allowed in enumerate(classes):
        is_allowed[row, list(allowed)] = True
    found = logs.masked_fill(~is_allowed, float("-inf")).logsumexp(-1)
    return -((1 - SMOOTHING) * found + SMOOTHING * logs.mean(-1)).mean()


def mask_words(ids: torch.Tensor) -> torch.Tensor:
    """Hide some of the words. What is left must do."""
    is_hidden = (torch.rand(ids.shape) < MASKED) & (ids > MASK)
    return ids.masked_fill(is_hidden, MASK)


def make_batches(
    encoded: Sequence[Encoded], classes: Sequence[Classes], rng: random.Random
) -> Iterator[tuple[list[Encoded], list[Classes]]]:
    """Yield the texts of an epoch and their classes, in a new order."""
    order = list(range(len(encoded)))
    rng.shuffle(order)
    for start in range(0, len(order), BATCH * SORTED_TOGETHER):
        block = sorted(
            order[start : start + BATCH * SORTED_TOGETHER], key=lambda place: len(encoded[place][0])
        )
        batches = [block[at : at + BATCH] for at in range(0, len(block), BATCH)]
        rng.shuffle(batches)
        for batch in batches:
            yield [encoded[place] for place in batch], [classes[place] for place in batch]
