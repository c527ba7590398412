"""Training in steps of batches: what the judge and the reader of messages share."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from network import Base, Encoded, ReadingNetwork, pad_texts

BATCH = 2_048  # tokens, padding included
RATE = 2e-4
HEAD_RATE = 5  # times the rate of the encoder
WARM_UP = 0.06  # of all steps
LAST_RATE = 0.02  # of the highest rate
SMOOTHING = 0.02
MASKED = 0.1  # of the words, so that a text is never quite the same twice
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SORTED_TOGETHER = 3_000  # texts that are sorted by length, so that little is padded


ComputeLoss = Callable[[Any, Sequence[Any]], torch.Tensor]


def compute_loss_of_classes(network: ReadingNetwork, encoded: Sequence[Encoded]) -> torch.Tensor:
    """Return the loss of what the network reads in the texts, some of their words hidden."""
    batch = pad_texts(encoded)
    logits = network(replace(batch, ids=mask_words(batch.ids, network.base)))
    return compute_loss(logits.float(), encoded)


def compute_loss(logits: torch.Tensor, encoded: Sequence[Encoded]) -> torch.Tensor:
    """Return how unlikely the network held what each text may be.

    The logits are (texts, weighed, classes). Nothing is learned from texts without classes.
    """
    is_allowed = torch.zeros_like(logits, dtype=torch.bool)
    for row, each in enumerate(encoded):
        for place, classes in enumerate(each.classes):
            is_allowed[row, place, list(classes)] = True
    is_learned = is_allowed.any(-1)
    logs = logits.log_softmax(-1)[is_learned]
    found = logs.masked_fill(~is_allowed[is_learned], float("-inf")).logsumexp(-1)
    return -((1 - SMOOTHING) * found + SMOOTHING * logs.mean(-1)).mean()


def choose_type() -> torch.dtype:
    """Return the type to compute in: bfloat16 is twice as fast as float32, if the processor has it."""
    can = torch.cpu.get_capabilities()
    return torch.bfloat16 if can.get("avx512_bf16") or can.get("amx_bf16") else torch.float32


class Trainer:
    """Steps of AdamW in float32 on a network that computes in the type of `choose_type`."""

    def __init__(
        self, network: torch.nn.Module, compute_loss: ComputeLoss = compute_loss_of_classes
    ) -> None:
        self._compute_loss = compute_loss
        self._network = network.to(choose_type())
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._masters = [p.detach().float().clone() for p in self._parameters]
        names = [name for name, p in network.named_parameters() if p.requires_grad]
        encoder: list[torch.Tensor] = []
        head: list[torch.Tensor] = []
        for name, master in zip(names, self._masters, strict=True):
            (encoder if name.startswith("bert") else head).append(master)
        self._optimizer = torch.optim.AdamW(
            [{"params": encoder}, {"params": head}], weight_decay=WEIGHT_DECAY, fused=True
        )

    def step(self, encoded: Sequence[Encoded], progress: float) -> float:
        """Learn from one batch, at this share of all there is to learn, and return its loss."""
        self._set_rate(progress)
        loss = self._compute_loss(self._network, encoded)
        loss.backward()
        for master, parameter in zip(self._masters, self._parameters, strict=True):
            # What no text of the batch asked for has none, such as where words point.
            master.grad = None if parameter.grad is None else parameter.grad.float()
            parameter.grad = None
        torch.nn.utils.clip_grad_norm_(self._masters, LARGEST_GRADIENT)
        self._optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(self._masters, self._parameters, strict=True):
                parameter.copy_(master)
        return float(loss.detach())

    def _set_rate(self, progress: float) -> None:
        """The rate rises at first, then falls."""
        rate = RATE * min(1.0, progress / WARM_UP) * max(LAST_RATE, 1 - progress)
        encoder, head = self._optimizer.param_groups
        encoder["lr"], head["lr"] = rate, rate * HEAD_RATE

    def collect_weights(self) -> dict[str, torch.Tensor]:
        """Return the weights in float32 by name."""
        weights = {name: value.float() for name, value in self._network.state_dict().items()}
        trained = [name for name, p in self._network.named_parameters() if p.requires_grad]
        weights.update(zip(trained, self._masters, strict=True))
        return weights


def mask_words(ids: torch.Tensor, base: Base) -> torch.Tensor:
    """Hide some of the words. What is left must do."""
    is_hidden = (torch.rand(ids.shape) < MASKED) & (ids > base.hidden)
    return ids.masked_fill(is_hidden, base.hidden)


def make_batches(encoded: Sequence[Encoded], rng: random.Random) -> Iterator[list[Encoded]]:
    """Yield the texts of an epoch in a new order, those of like length together."""
    order = rng.sample(encoded, len(encoded))
    for start in range(0, len(order), SORTED_TOGETHER):
        block = sorted(order[start : start + SORTED_TOGETHER], key=lambda one: len(one.ids))
        batches: list[list[Encoded]] = []
        for one in block:
            if not batches or len(one.ids) * (len(batches[-1]) + 1) > BATCH:
                batches.append([])
            batches[-1].append(one)
        rng.shuffle(batches)
        yield from batches
