"""PrecisionMemBench: 35 beliefs, and which of them, and no others, a query should bring.

A belief is told as its wrappers for other systems tell it: name, other names, content and why it
matters, in one text. Its scopes are agents of their own, as its wrappers filter by scope. Pinned
beliefs are left out of answers, which is what its runner does. Cases that assert which beliefs are
relevant are counted; scopes, budgets and open questions of its runner are not a memory's.
"""

from pathlib import Path
from statistics import fmean
from typing import Any

from bench.public.data import BELIEFS, read_file
from bench.public.memory import Memory, Palimpsest

LIMIT = 20  # as its runner asks


def render_belief(belief: Any) -> str:
    parts = [belief["canonical_name"], *belief["aliases"], belief["content"]]
    return " ".join([*parts, belief["why_it_matters"]])


def examine(memory: Memory, folder: Path | None) -> dict[str, str]:
    """Return the mean precision and recall of the answers, and how many are just right, by name."""
    beliefs = read_file(BELIEFS, "beliefs.seed.json", folder)
    texts = {belief["_id"]: render_belief(belief) for belief in beliefs}
    pinned = {texts[belief["_id"]] for belief in beliefs if belief["pinned"]}
    scopes: dict[str, list[str]] = {}
    for belief in beliefs:
        for scope in belief["scope"]:
            agent = f"precision-{belief['user_id']}-{scope}".replace(":", "-")
            scopes.setdefault(agent, []).append(texts[belief["_id"]])
    for agent, told in scopes.items():
        memory.store(agent, told)
    precision, recall, exact = [], [], 0
    cases = 0
    for case in read_file(BELIEFS, "retrieval.cases.json", folder):
        wanted = case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")
        if not wanted or not case["query"].strip():
            continue
        cases += 1
        agent = f"precision-{case.get('userId', 'test-user')}-{case['scope'][0]}".replace(":", "-")
        found = set(_search(memory, agent, case["query"])) - pinned
        right = {texts[belief] for belief in wanted}
        precision.append(len(found & right) / len(found) if found else 0.0)
        recall.append(len(found & right) / len(right))
        exact += found == right
    return {
        "precision": f"{fmean(precision):.2f}",
        "recall": f"{fmean(recall):.2f}",
        "just right": f"{exact} of {cases}",
    }


def _search(memory: Memory, agent: str, query: str) -> list[str]:
    if isinstance(memory, Palimpsest):
        return memory.search_with_floor(agent, query, LIMIT)
    return memory.search(agent, query, LIMIT)
