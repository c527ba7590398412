"""The lower layers of the published multilingual-e5-small, to be trained for many languages."""

from functools import cache

import numpy as np
import torch
from export_languages import build_tokenizer, choose_pieces
from network import DIMENSIONS, Base, drop_channels
from published_e5 import WORD_VECTORS, PublishedE5, read_published
from quantised_bert import HEADS, LAYER_NORM_EPSILON
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from app.networks import locate_tokens

LAYERS = 8  # of 12; the upper ones make vectors of whole texts
# Are not trained, so that other languages than those of the corpus stay where they are.
FROZEN = 2


@cache
def read_e5() -> PublishedE5:
    return read_published()


def build_e5(layers: int = LAYERS) -> BertModel:
    """Return so many of the lower layers. Their words keep their vectors, as those of the encoder."""
    published = read_e5()
    weights = published.read_weights()
    chosen = choose_pieces(published)
    _, _, _, wide, words, places, types = published.sizes
    weights["embeddings.word_embeddings.weight"] = published.read_matrix(
        WORD_VECTORS, words, DIMENSIONS
    )[chosen]
    bert = BertModel(
        BertConfig(
            vocab_size=len(chosen),
            hidden_size=DIMENSIONS,
            num_hidden_layers=layers,
            num_attention_heads=HEADS,
            intermediate_size=wide,
            max_position_embeddings=places,
            type_vocab_size=types,
            layer_norm_eps=LAYER_NORM_EPSILON,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",  # on a CPU faster than the fused kernels
        ),
        add_pooling_layer=False,
    )
    with torch.no_grad():
        for name, value in bert.named_parameters():
            value.copy_(torch.from_numpy(np.array(weights[name])))
    for frozen in (bert.embeddings, *bert.encoder.layer[:FROZEN]):
        frozen.requires_grad_(False)
    # The published encoder knows one type.
    bert.embeddings.token_type_embeddings.requires_grad_(True)
    drop_channels(bert)
    return bert


def load_e5_tokenizer() -> Tokenizer:
    return build_tokenizer(read_e5())


E5 = Base(
    start=0,
    end=2,
    hidden=3,
    build_encoder=build_e5,
    load_tokenizer=load_e5_tokenizer,
    locate=locate_tokens,
)
