"""The encoder of many languages, which the package palimpsest-languages carries.

It is the published multilingual-e5-small with 8-bit layers, and a matrix behind it that was learned
from facts and questions in eight languages (training/train_languages.py).
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from app.embedding.local import EncoderNetwork
from app.network_files import check_file, read_digests
from app.networks import start_session

PACKAGE: Final = "palimpsest_languages"
NETWORK: Final = "encoder.onnx"
START: Final = 0  # <s>
END: Final = 2  # </s>
PREFIX: Final = "query:"  # stands before every text, as the network was trained
# A text takes .6 of the time on two threads.
THREADS: Final = 2


def name_encoder() -> str:
    """Return the name, which changes with the network.

    Raises DamagedNetwork, and ModuleNotFoundError without the package.
    """
    return f"multilingual-e5-small-{read_digests(_locate_package())[NETWORK][:8]}"


def open_network(threads: int) -> EncoderNetwork:
    """Return the network of the installed package. A step works on `threads` threads, two at most.

    Raises DamagedNetwork, and ModuleNotFoundError without the package.
    """
    folder = _locate_package()
    tokenizer = Tokenizer.from_file(str(check_file("tokenizer.json", folder)))
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False).ids
    session = start_session(check_file(NETWORK, folder), threads=min(THREADS, threads))
    return EncoderNetwork(name_encoder(), tokenizer, session, [START, *prefix], [END])


def _locate_package() -> Path:
    return Path(str(files(PACKAGE)))
