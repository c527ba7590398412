"""Opening a shipped network, and the tokenizer that all of them share."""

import os
from pathlib import Path
from typing import Final

# onnxruntime reports its use to its maker unless this is set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from tokenizers import Tokenizer

FOLDER: Final = Path(__file__).parent
START_TOKEN: Final = 101  # [CLS]
END_TOKEN: Final = 102  # [SEP]


def load_tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(FOLDER / "tokenizer.json"))


def open_session(file: str) -> InferenceSession:
    """Return a session of a network of this folder. It runs on the calling thread."""
    options = SessionOptions()
    options.intra_op_num_threads = 1
    # With an arena, two threads wait for its lock and are at least a fifth slower; it saves 10 MB.
    options.enable_cpu_mem_arena = False
    # With memory patterns, the session stores a plan for every length of text.
    options.enable_mem_pattern = False
    # The graphs are exported in their fastest form.
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return InferenceSession(FOLDER / file, options, providers=["CPUExecutionProvider"])
