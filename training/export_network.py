"""Writes app/networks/judge.onnx, messages.onnx, parts.onnx or dates.onnx from the weights that training leaves.

    python training/export_network.py model.pt judge|messages|parts|dates [folder]

The graphs take `ids`, int64 (texts, tokens) without padding. That of the dates gives `roles`, float32 (texts, tokens, roles). That of the parts gives `marks`, float32 (texts, tokens, marks), and `pointers`,
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
from onnx import ModelProto, TensorProto
from quantised_bert import (
    Graph,
    Inputs,
    Shapes,
    Weights,
    add_embeddings,
    add_layers,
    add_linear,
    add_linear_by_token,
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
    "messages": {"ids": (INT, ["texts", "tokens"]), "types": (INT, ["texts", "tokens"])},
    "parts": {"ids": (INT, ["texts", "tokens"])},
    "dates": {"ids": (INT, ["texts", "tokens"])},
}


def build_network(weights: Weights, name: str) -> ModelProto:
    build = {
        "judge": build_judge,
        "messages": build_message_network,
        "parts": build_parts_network,
        "dates": build_dates_network,
    }
    return build[name](weights)


def build_dates_network(weights: Weights) -> ModelProto:
    graph = Graph()
    embeddings = add_embeddings(graph, weights)
    x = add_layers(graph, embeddings, weights, linear=add_linear)
    graph.node("Identity", add_token_layer(graph, x, weights, "roles"), output="roles")
    outputs: Shapes = {"roles": ["texts", "tokens", len(weights["roles.bias"])]}
    return graph.build_model("palimpsest-dates-int8", inputs=INPUTS["dates"], outputs=outputs)


def build_parts_network(weights: Weights) -> ModelProto:
    graph = Graph()
    embeddings = add_embeddings(graph, weights)
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


def build_message_network(weights: Weights) -> ModelProto:
    graph = Graph()
    embeddings = add_embeddings(graph, weights, is_typed=True)
    x = add_layers(graph, embeddings, weights, linear=add_linear)
    graph.node("Identity", add_token_layer(graph, x, weights, "kinds"), output="kinds")
    graph.node("Identity", add_token_layer(graph, x, weights, "begins"), output="begins")
    outputs: Shapes = {
        "kinds": ["texts", "tokens", len(weights["kinds.bias"])],
        "begins": ["texts", "tokens", len(weights["begins.bias"])],
    }
    return graph.build_model("palimpsest-messages-int8", inputs=INPUTS["messages"], outputs=outputs)


def build_judge(weights: Weights) -> ModelProto:
    graph = Graph()
    embeddings = add_embeddings(graph, weights, is_typed=True, is_placed=True)
    x = add_layers(graph, embeddings, weights, linear=add_linear, mask="mask")
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
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET)
    arguments = parser.parse_args()
    model = build_network(load_weights(arguments.weights), arguments.name)
    write_network(model, arguments.folder / f"{arguments.name}.onnx")
    write_digests(arguments.folder)


if __name__ == "__main__":
    main()
