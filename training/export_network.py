"""Writes app/networks/judge.onnx or app/networks/sentences.onnx from the weights that training leaves.

    python training/export_network.py model.pt judge|sentences [folder]

The graph takes `ids` and `types`, int64 (texts, tokens) without padding, of two texts, which the types tell apart. It gives `logits`,
float32 (texts, classes). They are pooled as the mean of the first token and the mean of all tokens.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from digests import write_digests
from onnx import ModelProto
from quantised_bert import Graph, Weights, add_embeddings, add_layers

TARGET = Path(__file__).parents[1] / "app" / "networks"
NAMES = ("judge", "sentences")


def build_network(weights: Weights, name: str) -> ModelProto:
    graph = Graph()
    x = add_layers(graph, add_embeddings(graph, weights, typed=True), weights)
    axis = graph.constant("token_axis", np.array([1]))
    first = graph.node("Gather", x, graph.constant("first", np.array([0])), axis=1)
    first = graph.node("Squeeze", first, axis)
    mean = graph.node("ReduceMean", x, axis, keepdims=0)
    half = graph.constant("half", np.array(0.5, np.float32))
    pooled = graph.node("Mul", graph.node("Add", first, mean), half)
    hidden = graph.node("Tanh", add_dense(graph, pooled, weights, "dense"))
    logits = add_dense(graph, hidden, weights, "head")
    graph.node("Identity", logits, output="logits")
    columns = len(weights["head.bias"])
    return graph.build_model(
        f"palimpsest-{name}-int8", inputs=["ids", "types"], output="logits", columns=columns
    )


def add_dense(graph: Graph, x: str, weights: Weights, name: str) -> str:
    """A layer in float32: it is small, and the last one decides."""
    return graph.node(
        "Gemm",
        x,
        graph.constant(f"{name}.weight", weights[f"{name}.weight"]),
        graph.constant(f"{name}.bias", weights[f"{name}.bias"]),
        transB=1,
    )


def load_weights(file: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a checkpoint by the names of the published encoder."""
    state = torch.load(file, map_location="cpu")
    return {name.removeprefix("bert."): tensor.float().numpy() for name, tensor in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a trained network.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET)
    arguments = parser.parse_args()
    model = build_network(load_weights(arguments.weights), arguments.name)
    target = arguments.folder / f"{arguments.name}.onnx"
    target.write_bytes(model.SerializeToString(deterministic=True))
    write_digests(arguments.folder)


if __name__ == "__main__":
    main()
