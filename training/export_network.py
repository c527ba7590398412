"""Writes app/networks/judge.onnx, sentences.onnx or parts.onnx from the weights that training leaves.

    python training/export_network.py model.pt judge|sentences|parts [folder]

The graphs take `ids`, int64 (texts, tokens) without padding. That of the parts gives `marks`, float32 (texts, tokens, marks), and `pointers`,
float32 (texts, tokens, tokens). The others take `types` too, as `ids`, and give `logits`, float32 (texts, classes). A text is pooled as the
mean of its first token and the mean of all tokens that it sees. The reader of messages reads a sentence after what was said, which the
types tell apart. The judge reads several texts, and takes besides, as `Batch` of network.py has them: `places`, int64 (1, tokens), `mask`,
float32 (1, 1, tokens, tokens), and `pool`, float32 (texts, tokens).
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from digests import write_digests
from onnx import ModelProto, TensorProto
from quantised_bert import (
    Graph,
    Inputs,
    Shapes,
    Weights,
    add_embeddings,
    add_layers,
    write_network,
)

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
    "sentences": {"ids": (INT, ["texts", "tokens"]), "types": (INT, ["texts", "tokens"])},
    "parts": {"ids": (INT, ["texts", "tokens"])},
}


def build_network(weights: Weights, name: str) -> ModelProto:
    return build_parts_network(weights) if name == "parts" else build_reading_network(weights, name)


def build_parts_network(weights: Weights) -> ModelProto:
    graph = Graph()
    x = add_layers(graph, add_embeddings(graph, weights), weights)
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


def build_reading_network(weights: Weights, name: str) -> ModelProto:
    graph = Graph()
    inputs = INPUTS[name]
    is_judge = name == "judge"
    embeddings = add_embeddings(graph, weights, is_typed=True, is_placed=is_judge)
    x = add_layers(graph, embeddings, weights, mask="mask" if is_judge else "")
    pooled = pool_several(graph, x) if is_judge else pool_one(graph, x)
    hidden = graph.node("Tanh", add_dense(graph, pooled, weights, "dense"))
    logits = add_dense(graph, hidden, weights, "head")
    graph.node("Identity", logits, output="logits")
    outputs: Shapes = {"logits": ["texts", len(weights["head.bias"])]}
    return graph.build_model(f"palimpsest-{name}-int8", inputs=inputs, outputs=outputs)


def pool_several(graph: Graph, x: str) -> str:
    text = graph.constant("text_axis", np.array([0]))
    return graph.node("MatMul", "pool", graph.node("Squeeze", x, text))


def pool_one(graph: Graph, x: str) -> str:
    axis = graph.constant("token_axis", np.array([1]))
    first = graph.node("Gather", x, graph.constant("first", np.array([0])), axis=1)
    first = graph.node("Squeeze", first, axis)
    mean = graph.node("ReduceMean", x, axis, keepdims=0)
    half = graph.constant("half", np.array(0.5, np.float32))
    return graph.node("Mul", graph.node("Add", first, mean), half)


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
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET)
    arguments = parser.parse_args()
    model = build_network(load_weights(arguments.weights), arguments.name)
    write_network(model, arguments.folder / f"{arguments.name}.onnx")
    write_digests(arguments.folder)


if __name__ == "__main__":
    main()
