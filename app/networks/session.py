"""Opening a shipped network, and the tokenizer that all of them share."""

import os
from typing import Final

# onnxruntime reports its use to its maker unless this is set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from tokenizers import Tokenizer

from app.network_files import check_file

START_TOKEN: Final = 101  # [CLS]
END_TOKEN: Final = 102  # [SEP]
WORDS: Final = "words.bin"  # the vectors of the words, which all networks share


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer. Raises DamagedNetwork."""
    return Tokenizer.from_file(str(check_file("tokenizer.json")))


def open_session(file: str) -> InferenceSession:
    """Return a session of a network of this folder. It runs on the calling thread.

    Raises DamagedNetwork.
    """
    path = check_file(file)
    check_file(WORDS)
    options = SessionOptions()
    options.intra_op_num_threads = 1
    # With an arena, two threads wait for its lock and are at least a fifth slower; it saves 10 MB.
    options.enable_cpu_mem_arena = False
    # With memory patterns, the session stores a plan for every length of text.
    options.enable_mem_pattern = False
    # The graphs are exported in their fastest form.
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return InferenceSession(path, options, providers=["CPUExecutionProvider"])
