"""Opening a shipped network, and the tokenizer that all of them share."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# onnxruntime reports its use to its maker unless this is set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from tokenizers import Encoding, Tokenizer

from app.network_files import check_file

START_TOKEN: Final = 101  # [CLS]
END_TOKEN: Final = 102  # [SEP]
WORDS: Final = "words.bin"  # the vectors of the words, which all networks share


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer. Raises DamagedNetwork."""
    return Tokenizer.from_file(str(check_file("tokenizer.json")))


def open_session(file: str, *, threads: int = 1) -> InferenceSession:
    """Return a session of a network of this folder. Raises DamagedNetwork."""
    path = check_file(file)
    check_file(WORDS)
    return start_session(path, threads=threads)


def start_session(path: Path, *, threads: int = 1) -> InferenceSession:
    """Return a session of the network in a file. One run works on `threads` threads.

    With one, that is the calling thread.
    """
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
    """A shipped network that is opened with the first text it reads, as many services have none."""

    def __init__(self, file: str) -> None:
        self._file = file

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer()

    @cached_property
    def _session(self) -> InferenceSession:
        return open_session(self._file)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of the text. Characters that UTF-8 lacks are question marks."""
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer.encode(encodable, add_special_tokens=False)

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


def weigh_logits(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities that the last axis of the logits gives."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weighed: NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return weighed
