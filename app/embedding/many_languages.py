"""The encoder of many languages.

It is the published multilingual-e5-small with 8-bit layers, and a matrix behind it that was learned
from facts and questions in eight languages (training/train_languages.py).
"""

from hashlib import sha256
from typing import Final

from app.embedding.local import EncoderNetwork
from app.network_files import read_digests
from app.networks import find_many_languages
from app.networks.session import TOKENIZER, WORDS

FILE: Final = "encoder.onnx"
PREFIX: Final = "query:"  # stands before every text, as the network was trained
# A text takes .6 of the time on two threads.
THREADS: Final = 2


def name_encoder() -> str:
    """Return the name, which changes with the network, its words and its tokenizer.

    Raises DamagedNetwork, and ModuleNotFoundError without the package.
    """
    digests = read_digests(find_many_languages().folder)
    joined = "".join(digests[name] for name in (FILE, WORDS, TOKENIZER))
    return f"multilingual-e5-small-{sha256(joined.encode()).hexdigest()[:8]}"


def open_network(threads: int) -> EncoderNetwork:
    """Return the encoder of the installed package. A step works on `threads` threads, two at most.

    Raises DamagedNetwork, and ModuleNotFoundError without the package.
    """
    networks = find_many_languages()
    tokenizer = networks.load_tokenizer()
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False).ids
    session = networks.open_session(FILE, threads=min(THREADS, threads))
    return EncoderNetwork(
        name_encoder(), tokenizer, session, [networks.start, *prefix], [networks.end]
    )
