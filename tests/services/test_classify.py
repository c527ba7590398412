"""The facts of one batch among themselves."""

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np

from app.domain.fact import StoredFact
from app.domain.version import Belief, Memory
from app.services.classify import NEAR_IN_BATCH, BatchNeighbours

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def some_memory(number: int) -> Memory:
    return Memory(uuid4(), StoredFact(f"Fact {number}"), Belief(uuid4(), NOW, NOW), NOW, 1, None)


def test_each_meets_the_nearest_of_those_before_it_however_the_batch_is_cut() -> None:
    vectors = np.random.default_rng(7).standard_normal((60, 8)).astype(np.float32)
    memories = [some_memory(number) for number in range(60)]
    for cut in (1, 7, 25, 60):
        mates, met = BatchNeighbours(), []
        for start in range(0, 60, cut):
            met += mates.add_and_compare(
                memories[start : start + cut], list(vectors[start : start + cut])
            )
        for place, near in enumerate(met):
            similar = vectors[:place] @ vectors[place]
            nearest = np.argsort(-similar)[:NEAR_IN_BATCH]
            assert [hit.memory for hit in near] == [memories[i] for i in nearest]
            assert np.allclose([hit.scores["vector"] for hit in near], similar[nearest], atol=1e-5)
