"""Writes the networks of many languages and their tokenizer into the package palimpsest-memory-languages: `make languages`.

The judge and the readers of messages and of dates are files of this repository; their words are those of the encoder. The graph of the encoder takes `ids`, int64 (texts, tokens) without padding, and gives `vectors`, float32 (texts, 384), rows of unit length: the published
multilingual-e5-small with 8-bit layers and its words in 4 bits, the mean over the tokens, and what `train_languages.py` learned: its upper
layers, another middle, and a matrix. The same weights give the same bytes.
"""

import shutil
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from digests import write_digests
from onnx import ModelProto, TensorProto, helper
from published_e5 import BLOCK, WORD_VECTORS, ZERO_CODE, Floats, PublishedE5, read_published
from quantised_bert import (
    CONTRIB,
    DIMENSIONS,
    Graph,
    Shapes,
    add_embeddings,
    add_layers,
    add_linear_by_token,
    write_network,
    write_words,
)
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

FOLDER = Path(__file__).parent / "languages"
PACKAGE = FOLDER / "palimpsest_languages"
LEARNED = FOLDER / "learned.npz"
TRAINED = ("judge.onnx", "messages.onnx", "dates.onnx", "english.npy")
UNKNOWN = 3  # the number of <unk>
SCRIPTS = ("LATIN", "CJK", "HIRAGANA", "KATAKANA")
PLACES = 512  # positions of the published encoder
OTHERS = 20_000  # pieces of other scripts


def choose_pieces(published: PublishedE5) -> list[int]:
    """Return the numbers of the pieces that are taken: 159,000 of 250,000, which halves the memory of the tokenizer.

    They are all pieces in Latin, Chinese and Japanese letters, digits and marks, all single characters, and the likeliest others.
    """
    pieces = published.pieces[:-1]  # the last one is <mask>
    chosen = {
        number
        for number, (text, _) in enumerate(pieces)
        if len(text) == 1 or all(map(_is_of_first_class, text))
    }
    others = [number for number in range(len(pieces)) if number not in chosen]
    others.sort(key=lambda number: -pieces[number][1])
    return sorted(chosen.union(others[:OTHERS]))


def _is_of_first_class(character: str) -> bool:
    name = unicodedata.name(character, "")
    return not character.isalpha() or any(script in name for script in SCRIPTS)


def build_encoder(published: PublishedE5, learned: Mapping[str, Any]) -> ModelProto:
    """Return the whole graph.

    Learned are `middle` (384) and `matrix` (384, 384): a vector is ((mean - middle) @ matrix), and the upper layers.
    """
    graph, weights = Graph(), published.read_weights() | read_layers(learned)
    words = add_published_words(graph, published)
    embeddings = add_embeddings(graph, words, weights, window=PLACES)
    x = add_layers(graph, embeddings, weights, linear=add_linear_by_token)
    mean = graph.node("ReduceMean", x, graph.constant("token_axis", np.array([1])), keepdims=0)
    unit = graph.node("LpNormalization", mean, axis=1, p=2)
    moved = graph.node("Sub", unit, graph.constant("middle", learned["middle"]))
    turned = graph.node("MatMul", moved, graph.constant("matrix", learned["matrix"]))
    graph.node("LpNormalization", turned, output="vectors", axis=1, p=2)
    inputs = {"ids": (TensorProto.INT64, ["texts", "tokens"])}
    outputs: Shapes = {"vectors": ["texts", DIMENSIONS]}
    return graph.build_model("multilingual-e5-small-int8", inputs=inputs, outputs=outputs)


def read_layers(learned: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the weights of the learned layers by the names of the published checkpoint."""
    weights = {name: value for name, value in learned.items() if name.startswith("encoder.")}
    layers: dict[str, Floats] = {}
    for name, value in weights.items():
        full = name.removesuffix(".codes")
        if full != name:
            layers[full] = value * weights[f"{full}.scales"]
        elif not name.endswith(".scales"):
            layers[name] = value
    return layers


def add_published_words(graph: Graph, published: PublishedE5) -> str:
    """The vectors of the words in 4 bits, looked up: (texts, tokens, 384)."""
    chosen = choose_pieces(published)
    codes, scales = published.read_codes(WORD_VECTORS, published.sizes[4], DIMENSIONS)
    codes, scales = codes[chosen], scales[chosen]
    signed = (codes - ZERO_CODE) & 15
    packed = signed[:, ::2] | signed[:, 1::2] << 4
    graph.add_constant(
        helper.make_tensor("words.codes", TensorProto.INT4, codes.shape, packed.tobytes(), raw=True)
    )
    looked_up = graph.node(
        "GatherBlockQuantized",
        "words.codes",
        "ids",
        graph.constant("words.scales", scales),
        domain=CONTRIB,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    return graph.node("Cast", looked_up, to=TensorProto.FLOAT)


def build_tokenizer(published: PublishedE5) -> Tokenizer:
    """The published tokenizer: pieces of the likeliest split, without truncation and padding."""
    pieces = [published.pieces[number] for number in choose_pieces(published)]
    tokenizer = Tokenizer(models.Unigram(pieces, UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def main() -> None:
    published = read_published()
    model = build_encoder(published, np.load(LEARNED))
    write_words(model, PACKAGE)
    write_network(model, PACKAGE / "encoder.onnx")
    for name in TRAINED:
        shutil.copy(FOLDER / name, PACKAGE)
    tokenizer = build_tokenizer(published).to_str()
    (PACKAGE / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    write_digests(PACKAGE)
    for file in sorted(PACKAGE.iterdir()):
        print(file.stat().st_size, file.name)


if __name__ == "__main__":
    main()
