"""BERT as an ONNX graph with 8-bit weights, built by hand.

The graph is built rather than traced, because two things matter that tracing and onnxruntime's `quantize_dynamic` do not give:

- Activations may be quantised per token: vectors of the encoder are nearer to the original (Spearman of random pairs .998 against .994), and
  parts are cut as before. The judge and the reader of messages are as right with one scale per text, and an eighth faster.
- Weights are quantised per output channel at a scale that no processor saturates at, see `quantise_channels`.

Texts are given one at a time, without padding.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

HEADS, DIMENSIONS, WINDOW = 12, 384, 256
LAYER_NORM_EPSILON = 1e-12
# The vectors of the words, which all networks share: their codes, then their scales.
WORDS = "words.bin"
SHARED = ("words.codes", "words.scales")
CONTRIB = "com.microsoft"  # onnxruntime's own operators

Floats = NDArray[np.float32]
Weights = Mapping[str, Floats]
Inputs = Mapping[str, tuple[int, Sequence[int | str]]]  # their types and shapes by name
Shapes = Mapping[str, Sequence[int | str]]
Linear = Callable[["Graph", str, str, Floats], str]


class Graph:
    """ONNX nodes and constants in the order they were added.

    Every method that adds something returns the name of the value it added.
    """

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        """Adds a constant once; the same name again means the same value."""
        self._constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add_constant(self, tensor: TensorProto) -> None:
        """Adds a constant of a type that numpy lacks, under its own name."""
        self._constants[tensor.name] = tensor

    def node(
        self,
        operator: str,
        *inputs: str,
        output: str = "",
        domain: str = "",
        **attributes: float | Sequence[int],
    ) -> str:
        return self.nodes(
            operator,
            *inputs,
            outputs=[output or f"{operator}_{len(self._nodes)}"],
            domain=domain,
            **attributes,
        )[0]

    def nodes(
        self,
        operator: str,
        *inputs: str,
        outputs: list[str],
        domain: str = "",
        **attributes: float | Sequence[int],
    ) -> list[str]:
        """Adds one node with several outputs, returned in order."""
        self._nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs

    def build_model(self, name: str, *, inputs: Inputs, outputs: Shapes) -> ModelProto:
        """Return the checked model. Its outputs are float32."""
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(each, *given) for each, given in inputs.items()],
            [
                helper.make_tensor_value_info(each, TensorProto.FLOAT, shape)
                for each, shape in outputs.items()
            ],
            list(self._constants.values()),
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)],
            ir_version=9,
        )
        checker.check_model(model)
        return model


def write_words(model: ModelProto, folder: Path) -> None:
    """Write the vectors of the words, which are those of the published encoder."""
    constants = {constant.name: constant.raw_data for constant in model.graph.initializer}
    (folder / WORDS).write_bytes(b"".join(constants[name] for name in SHARED))


def write_network(model: ModelProto, target: Path) -> None:
    """Write a network that takes the vectors of the words from the file beside it.

    Training rounds these vectors, and changes nothing else in them.
    """
    constants = {constant.name: constant for constant in model.graph.initializer}
    offset = 0
    for constant in map(constants.__getitem__, SHARED):
        length = len(constant.raw_data)
        constant.ClearField("raw_data")
        constant.data_location = TensorProto.EXTERNAL
        for key, value in (("location", WORDS), ("offset", offset), ("length", length)):
            constant.external_data.add(key=key, value=str(value))
        offset += length
    target.write_bytes(model.SerializeToString(deterministic=True))


def quantise_rows(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Symmetric 8-bit codes of each row, and the (rows, 1) scales that give `weight ≈ codes * scales`."""
    scales = np.abs(weight).max(axis=1, keepdims=True) / np.float32(127)
    return np.rint(weight / scales).astype(np.int8), scales


def quantise_channels(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Codes and scales as `quantise_rows`, with scales wide enough that no processor saturates.

    On x86 without VNNI onnxruntime multiplies with `vpmaddubsw`, which adds two neighbouring products, unsigned by signed, in 16 bits.
    Neighbouring codes of one sign that sum to 128 at most keep 255 * 128 below that limit: vectors were the same on AVX2 as with VNNI.
    """
    neighbours = weight.reshape(len(weight), -1, 2)
    sums = np.maximum(np.maximum(neighbours, 0).sum(axis=2), -np.minimum(neighbours, 0).sum(axis=2))
    widest = np.maximum(np.abs(weight).max(axis=1), sums.max(axis=1))
    scales = (widest / np.float32(127))[
        :, None
    ]  # 127, as rounding may add half a code to each neighbour
    return np.rint(weight / scales).astype(np.int8), scales


def add_linear(graph: Graph, x: str, name: str, weight: Floats) -> str:
    """`x @ weight.T` in 8 bits, without the bias, which the next operator adds."""
    codes, scales = quantise_channels(weight)
    weights = (
        graph.constant(f"{name}.codes", codes.T),
        graph.constant(f"{name}.scales", scales[:, 0]),
    )
    return graph.node("DynamicQuantizeMatMul", x, *weights, domain=CONTRIB)


def add_linear_by_token(graph: Graph, x: str, name: str, weight: Floats) -> str:
    """The same, with each token scaled by its largest magnitude.

    No token is all zeros at these places, so that is never a division by zero.
    """
    codes, scales = quantise_channels(weight)
    step = graph.constant("activation_step", np.array(1 / 127, np.float32))
    zero = graph.constant("activation_zero", np.array(128, np.uint8))
    magnitude = graph.node(
        "ReduceMax", graph.node("Abs", x), graph.constant("last_axis", np.array([-1])), keepdims=1
    )
    quantised = graph.node("QuantizeLinear", graph.node("Div", x, magnitude), step, zero)
    weights = (
        graph.constant(f"{name}.codes", codes.T),
        step,
        graph.constant(f"{name}.scales", scales[:, 0]),
        zero,
    )
    return graph.node(
        "Mul", graph.node("MatMulIntegerToFloat", quantised, *weights, domain=CONTRIB), magnitude
    )


def add_words(graph: Graph, weights: Weights) -> str:
    """The vectors of the words in 8 bits, looked up: (texts, tokens, 384)."""
    codes, scales = quantise_rows(weights["embeddings.word_embeddings.weight"])
    looked_up = graph.node(
        "Cast",
        graph.node("Gather", graph.constant("words.codes", codes), "ids"),
        to=TensorProto.FLOAT,
    )
    scaled = graph.node("Gather", graph.constant("words.scales", scales), "ids")
    return graph.node("Mul", looked_up, scaled)


def add_embeddings(
    graph: Graph,
    words: str,
    weights: Weights,
    *,
    is_typed: bool = False,
    is_placed: bool = False,
    window: int = WINDOW,
) -> str:
    """Word plus position plus token type, normalised: (texts, tokens, 384).

    The types are the input `types` if the graph is typed, else always the first. The positions are the input `places` if it is placed,
    else they count up, to `window` at most.
    """
    types = weights["embeddings.token_type_embeddings.weight"]
    table = weights["embeddings.position_embeddings.weight"][:window] + types[0]
    positions = graph.constant("positions", table)
    if is_placed:
        placed = graph.node("Gather", positions, "places")
    else:
        tokens = graph.node("Shape", "ids", start=1, end=2)
        placed = graph.node("Slice", positions, graph.constant("start", np.array([0])), tokens)
    total = graph.node("Add", words, placed)
    if is_typed:
        # The table of positions holds the first type, so only the difference is added.
        differences = graph.constant("types.differences", types - types[0])
        total = graph.node("Add", total, graph.node("Gather", differences, "types"))
    return add_layer_norm(graph, total, weights, "embeddings.LayerNorm")


def add_layer_norm(graph: Graph, x: str, weights: Weights, name: str) -> str:
    # SkipLayerNormalization would fold the additions before it, but its CPU kernel takes four times as long as the three operators.
    parameters = [
        graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")
    ]
    return graph.node("LayerNormalization", x, *parameters, epsilon=LAYER_NORM_EPSILON)


def add_residual(graph: Graph, update: str, x: str, weights: Weights, name: str) -> str:
    """The end of both halves of a layer: bias, residual connection, layer norm."""
    biased = graph.node(
        "Add", update, graph.constant(f"{name}.dense.bias", weights[f"{name}.dense.bias"])
    )
    return add_layer_norm(graph, graph.node("Add", biased, x), weights, f"{name}.LayerNorm")


def add_attention(
    graph: Graph, x: str, weights: Weights, layer: str, linear: Linear, mask: str
) -> str:
    projections = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    joined = linear(
        graph,
        x,
        f"{layer}.qkv",
        np.concatenate([weights[f"{part}.weight"] for part in projections]),
    )
    bias = graph.constant(
        f"{layer}.qkv.bias", np.concatenate([weights[f"{part}.bias"] for part in projections])
    )
    query, key, value = graph.nodes("Split", joined, outputs=projections, axis=2, num_outputs=3)
    seen = ("", mask) if mask else ()
    attended = graph.node(
        "MultiHeadAttention", query, key, value, bias, *seen, domain=CONTRIB, num_heads=HEADS
    )
    output = f"{layer}.attention.output"
    return add_residual(
        graph,
        linear(graph, attended, output, weights[f"{output}.dense.weight"]),
        x,
        weights,
        output,
    )


def add_feed_forward(graph: Graph, x: str, weights: Weights, layer: str, linear: Linear) -> str:
    wide = f"{layer}.intermediate"
    bias = graph.constant(f"{wide}.bias", weights[f"{wide}.dense.bias"])
    hidden = graph.node(
        "BiasGelu",
        linear(graph, x, wide, weights[f"{wide}.dense.weight"]),
        bias,
        domain=CONTRIB,
    )
    output = f"{layer}.output"
    return add_residual(
        graph,
        linear(graph, hidden, output, weights[f"{output}.dense.weight"]),
        x,
        weights,
        output,
    )


def add_layers(graph: Graph, x: str, weights: Weights, *, linear: Linear, mask: str = "") -> str:
    """All layers of the encoder over the embeddings: (texts, tokens, 384).

    `mask` is the input that is added to the attention, if there is one.
    """
    layers = sum(name.endswith("intermediate.dense.weight") for name in weights)
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        x = add_attention(graph, x, weights, layer, linear, mask)
        x = add_feed_forward(graph, x, weights, layer, linear)
    return x
