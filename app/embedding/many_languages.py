"""The encoder of many languages, which the package palimpsest-languages carries.

It is the published multilingual-e5-small with 8-bit layers, and a matrix behind it that was learned
from facts and questions in eight languages (training/train_languages.py).
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from app.embedding.local import EncoderNetwork
from app.networks import start_session

PACKAGE: Final = "palimpsest_languages"
NAME: Final = "multilingual-e5-small-memory-1"
START, END = 0, 2  # the numbers of <s> and </s>
PREFIX: Final = "query:"  # stands before every text, as the network was trained
# A text takes .6 of the time on two threads.
THREADS: Final = 2


def open_network() -> EncoderNetwork:
    """Return the network of the installed package. Raises ModuleNotFoundError without it."""
    folder = Path(str(files(PACKAGE)))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False).ids
    session = start_session(folder / "encoder.onnx", threads=THREADS)
    return EncoderNetwork(NAME, tokenizer, session, [START, *prefix], [END])
