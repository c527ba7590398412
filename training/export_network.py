"""Writes app/networks/judge.onnx, messages.onnx, parts.onnx or dates.onnx from the weights that training leaves.

    python training/export_network.py model.pt judge|messages|parts|dates [--many-languages]

With `--many-languages` it writes training/languages/judge.onnx, which `make languages` puts into the package.

The graphs take `ids`, int64 (texts, tokens) without padding. That of the dates gives `roles`, float32 (texts, tokens, roles); that of many
languages gives `marks`, `choices` and `figures`, float32 (texts, tokens, classes), as app/extraction/foreign_dates.py has them. That of the parts gives `marks`, float32 (texts, tokens, marks), and `pointers`,
float32 (texts, tokens, tokens). The others take `types` too, as `ids`. The reader of messages reads a text after what was said, which the
types tell apart, and gives `kinds`, float32 (texts, tokens, kinds), and `begins`, float32 (texts, tokens, 2). The judge reads several texts
and gives `logits`, float32 (texts, classes). It pools a text as the mean of its first token and the mean of all tokens that it sees, and
takes besides, as `Batch` of network.py has them: `places`, int64 (1, tokens), `mask`, float32 (1, 1, tokens, tokens), and `pool`, float32
(texts, tokens).
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from digests import write_digests
from export_languages import FOLDER as LANGUAGES
from export_languages import add_published_words
from onnx import ModelProto, TensorProto
from published_e5 import PublishedE5, read_published
from quantised_bert import (
    Graph,
    Inputs,
    Linear,
    Shapes,
    Weights,
    add_embeddings,
    add_layers,
    add_linear,
    add_linear_by_token,
    add_words,
    write_network,
)

# Trained in two sittings, the judge of many languages is less sure than the English one. This makes the thresholds of that one right for
# it: with it about .7 % of the texts of sixteen held-out writers end something wrongly.
SHARPNESS = np.float32(1.05)
TARGET = Path(__file__).parents[1] / "app" / "networks"
INT, FLOAT = TensorProto.INT64, TensorProto.FLOAT
INPUTS: dict[str, Inputs] = {
    "judge": {
        "ids": (INT, [1, "tokens"]),
        "types": (INT, [1, "tokens"]),
        "places": (INT, [1, "tokens"]),
        "mask": (FLOAT, [1, 1, "tokens", "tokens"]),
        "pool": (FLOAT, ["texts", "tokens"]),
    },
    "messages": {"ids": (INT, ["texts", "tokens"]), "types": (INT, ["texts", "tokens"])},
    "parts": {"ids": (INT, ["texts", "tokens"])},
    "dates": {"ids": (INT, ["texts", "tokens"])},
}


def build_network(weights: Weights, name: str, published: PublishedE5 | None = None) -> ModelProto:
    """Return the graph. The words are those of `published`, or of MiniLM, as `weights` have them."""
    build = {
        "judge": build_judge,
        "messages": build_message_network,
        "parts": build_parts_network,
        "dates": build_dates_network,
    }
    graph = Graph()
    if published is None:
        return build[name](graph, add_words(graph, weights), weights, add_linear)
    words = add_published_words(graph, published)
    if name == "judge":
        weights = sharpen(weights)
    if name == "dates":
        return build_dates_of_languages(graph, words, weights)
    return build[name](graph, words, weights, add_linear_by_token)


def sharpen(weights: Weights) -> Weights:
    """Return the weights of a judge whose probabilities are raised to the power of `SHARPNESS`."""
    sharpened = {name: SHARPNESS * weights[name] for name in ("head.weight", "head.bias")}
    return {**weights, **sharpened}


def build_dates_network(graph: Graph, words: str, weights: Weights, linear: Linear) -> ModelProto:
    embeddings = add_embeddings(graph, words, weights)
    x = add_layers(graph, embeddings, weights, linear=linear)
    graph.node("Identity", add_token_layer(graph, x, weights, "roles"), output="roles")
    outputs: Shapes = {"roles": ["texts", "tokens", len(weights["roles.bias"])]}
    return graph.build_model("palimpsest-dates-int8", inputs=INPUTS["dates"], outputs=outputs)


def build_dates_of_languages(graph: Graph, words: str, weights: Weights) -> ModelProto:
    embeddings = add_embeddings(graph, words, weights)
    x = add_layers(graph, embeddings, weights, linear=add_linear_by_token)
    names = ("marks", "choices", "figures")
    for name in names:
        graph.node("Identity", add_token_layer(graph, x, weights, name), output=name)
    outputs: Shapes = {name: ["texts", "tokens", len(weights[f"{name}.bias"])] for name in names}
    return graph.build_model(
        "palimpsest-dates-of-languages-int8", inputs=INPUTS["dates"], outputs=outputs
    )


def build_parts_network(graph: Graph, words: str, weights: Weights, _: Linear) -> ModelProto:
    embeddings = add_embeddings(graph, words, weights)
    x = add_layers(graph, embeddings, weights, linear=add_linear_by_token)
    graph.node("Identity", add_token_layer(graph, x, weights, "marks"), output="marks")
    pointing = add_token_layer(graph, x, weights, "pointing")
    pointed = add_token_layer(graph, x, weights, "pointed")
    turned = graph.node("Transpose", pointed, perm=[0, 2, 1])
    graph.node("MatMul", pointing, turned, output="pointers")
    outputs: Shapes = {
        "marks": ["texts", "tokens", len(weights["marks.bias"])],
        "pointers": ["texts", "tokens", "tokens"],
    }
    return graph.build_model("palimpsest-parts-int8", inputs=INPUTS["parts"], outputs=outputs)


def build_message_network(graph: Graph, words: str, weights: Weights, linear: Linear) -> ModelProto:
    embeddings = add_embeddings(graph, words, weights, is_typed=True)
    x = add_layers(graph, embeddings, weights, linear=linear)
    graph.node("Identity", add_token_layer(graph, x, weights, "kinds"), output="kinds")
    graph.node("Identity", add_token_layer(graph, x, weights, "begins"), output="begins")
    outputs: Shapes = {
        "kinds": ["texts", "tokens", len(weights["kinds.bias"])],
        "begins": ["texts", "tokens", len(weights["begins.bias"])],
    }
    return graph.build_model("palimpsest-messages-int8", inputs=INPUTS["messages"], outputs=outputs)


def build_judge(graph: Graph, words: str, weights: Weights, linear: Linear) -> ModelProto:
    embeddings = add_embeddings(graph, words, weights, is_typed=True, is_placed=True)
    x = add_layers(graph, embeddings, weights, linear=linear, mask="mask")
    text = graph.constant("text_axis", np.array([0]))
    pooled = graph.node("MatMul", "pool", graph.node("Squeeze", x, text))
    hidden = graph.node("Tanh", add_dense(graph, pooled, weights, "dense"))
    graph.node("Identity", add_dense(graph, hidden, weights, "head"), output="logits")
    outputs: Shapes = {"logits": ["texts", len(weights["head.bias"])]}
    return graph.build_model("palimpsest-judge-int8", inputs=INPUTS["judge"], outputs=outputs)


def add_dense(graph: Graph, x: str, weights: Weights, name: str) -> str:
    """A layer in float32: it is small, and the last one decides."""
    return graph.node(
        "Gemm",
        x,
        graph.constant(f"{name}.weight", weights[f"{name}.weight"]),
        graph.constant(f"{name}.bias", weights[f"{name}.bias"]),
        transB=1,
    )


def add_token_layer(graph: Graph, x: str, weights: Weights, name: str) -> str:
    """A layer in float32 over the vectors of all tokens."""
    weight = graph.constant(f"{name}.weight", weights[f"{name}.weight"].T)
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.node("Add", graph.node("MatMul", x, weight), bias)


def load_weights(file: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a checkpoint by the names of the published encoder."""
    state = torch.load(file, map_location="cpu")
    return {name.removeprefix("bert."): tensor.float().numpy() for name, tensor in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a trained network.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("name", choices=INPUTS)
    parser.add_argument("--many-languages", action="store_true")
    arguments = parser.parse_args()
    published = read_published() if arguments.many_languages else None
    model = build_network(load_weights(arguments.weights), arguments.name, published)
    folder = LANGUAGES if arguments.many_languages else TARGET
    write_network(model, folder / f"{arguments.name}.onnx")
    if folder == TARGET:
        write_digests(folder)


if __name__ == "__main__":
    main()
