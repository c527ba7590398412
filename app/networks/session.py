"""Opening a network, and the tokenizer that it shares with others."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# onnxruntime reports its use to its maker unless this is set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from tokenizers import Encoding, Tokenizer

from app.network_files import check_file

WORDS: Final = "words.bin"
TOKENIZER: Final = "tokenizer.json"
ENGLISH_WEIGHTS: Final = "english.npy"
# So many characters tell the language of a text.
_MOST_OF_LANGUAGE: Final = 500


@dataclass(frozen=True, slots=True)
class NetworkSet:
    """Networks in one folder, which share a tokenizer and the vectors of the words.

    `start` and `end` are the tokens around a text. Without a `folder` they are those of the app.
    """

    start: int
    end: int
    folder: Path | None = None

    def load_tokenizer(self) -> Tokenizer:
        """Return the tokenizer, one for all networks of the set. Raises DamagedNetwork."""
        return _read_tokenizer(check_file(TOKENIZER, self.folder))

    def open_session(self, file: str, *, threads: int = 1) -> InferenceSession:
        """Return a session of a network. One run works on `threads` threads. Raises DamagedNetwork.

        With one thread, that is the calling thread.
        """
        path = check_file(file, self.folder)
        check_file(WORDS, self.folder)
        return start_session(path, threads)

    def is_english(self, text: str) -> bool:
        """Return True if the text is likelier English than another language. Raises DamagedNetwork.

        Its pieces have learned weights (training/train_english.py), which sum to more than 0. The
        beginning of a long text decides. A set that knows English alone holds every text for
        English.
        """
        if self.folder is None:
            return True
        tokenizer, weights = _open_weights(self.folder)
        pieces = set(encode_text(tokenizer, text[:_MOST_OF_LANGUAGE]).ids)
        return float(weights[list(pieces)].sum()) > 0


def encode_text(tokenizer: Tokenizer, text: str) -> Encoding:
    """Return the tokens of the text, without those of a start and an end."""
    return tokenizer.encode(make_encodable(text), add_special_tokens=False)


def make_encodable(text: str) -> str:
    """Return the text with question marks for the characters that UTF-8 lacks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of a file. That of many languages takes 90 MB."""
    return Tokenizer.from_file(str(path))


@cache
def _open_weights(folder: Path) -> tuple[Tokenizer, NDArray[np.float32]]:
    tokenizer = _read_tokenizer(check_file(TOKENIZER, folder))
    return tokenizer, np.load(check_file(ENGLISH_WEIGHTS, folder)).astype(np.float32)


ENGLISH: Final = NetworkSet(start=101, end=102)  # [CLS] and [SEP]


def start_session(path: Path, threads: int) -> InferenceSession:
    """Return a session of the network in a file."""
    options = SessionOptions()
    options.intra_op_num_threads = threads
    # A thread that waits for its share of a run leaves its core to others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # With an arena, two threads wait for its lock and are at least a fifth slower; it saves 10 MB.
    options.enable_cpu_mem_arena = False
    # With memory patterns, the session stores a plan for every length of text.
    options.enable_mem_pattern = False
    # The graphs are exported in their fastest form.
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return InferenceSession(path, options, providers=["CPUExecutionProvider"])


class LazyNetwork:
    """A network that is opened with the first text it reads, as many services have none."""

    def __init__(self, file: str, networks: NetworkSet = ENGLISH) -> None:
        self._file = file
        self._networks = networks

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._networks.load_tokenizer()

    @cached_property
    def _session(self) -> InferenceSession:
        return self._networks.open_session(self._file)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of the text. Characters that UTF-8 lacks are question marks."""
        return encode_text(self._tokenizer, text)

    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[np.generic]]
    ) -> list[NDArray[np.float32]]:
        """Return these outputs of the graph."""
        computed: list[Any] = self._session.run(outputs, inputs)
        return computed


def locate_words(encoding: Encoding) -> list[tuple[int, tuple[int, int]]]:
    """Return the place of the first token of each word, and the half-open span of the word."""
    words: dict[int, tuple[int, tuple[int, int]]] = {}
    tokens = zip(encoding.word_ids, encoding.offsets, strict=True)
    for place, (number, (start, end)) in enumerate(tokens):
        assert number is not None  # special tokens alone belong to no word
        first, (begins, _) = words.get(number, (place, (start, end)))
        words[number] = (first, (begins, end))
    return list(words.values())


def locate_tokens(encoding: Encoding, text: str) -> list[tuple[int, tuple[int, int]]]:
    """Return the place of each token that is more than space, and its half-open span without it.

    Of writing without spaces, such as Chinese, the words would be whole sentences. Of tokens that
    share a character, as a space that the tokenizer adds shares the first one, the last counts.
    """
    located: list[tuple[int, tuple[int, int]]] = []
    for place, (start, end) in enumerate(encoding.offsets):
        begins = end - len(text[start:end].lstrip())
        if located and begins < located[-1][1][1]:
            begins = min(begins, located.pop()[1][0])
        if begins < end:
            located.append((place, (begins, end)))
    return located


def weigh_logits(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities that the last axis of the logits gives."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weighed: NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return weighed
