"""What a memory of 35 facts costs: seconds, memory, and the tokens that a prompt gets of it."""

import time
from pathlib import Path
from statistics import fmean

import psutil

from app.domain.tokens import estimate_tokens
from bench.public.consolidation import read_case
from bench.public.memory import Memory, Palimpsest

FACTS, QUESTIONS = 35, 20
AMONG = 5


def examine(memory: Memory, folder: Path | None) -> dict[str, str]:
    """Store 35 facts of a list one by one, and ask questions about them. Raises DataMissing."""
    case, agent = read_case("6k", folder), "cost"
    memory.store("warm", case.facts[FACTS : FACTS + 1])
    started = time.perf_counter()
    for fact in case.facts[:FACTS]:
        memory.store(agent, [fact])
    seconds = time.perf_counter() - started
    questions = [question for question, _ in case.questions[:QUESTIONS]]
    tokens, searches = [], []
    for question in questions:
        started = time.perf_counter()
        found = memory.search(agent, question, AMONG)
        searches.append(time.perf_counter() - started)
        tokens.append(sum(map(estimate_tokens, found)))
    figures = {
        "35 facts, one by one": f"{seconds:.1f} s",
        "a search": f"{fmean(searches) * 1_000:.0f} ms",
        "memory": f"{measure_memory():,.0f} MB",
        "tokens of five results": f"{fmean(tokens):.0f}",
    }
    if isinstance(memory, Palimpsest):
        contexts = [memory.build_context(agent, question) for question in questions]
        figures["tokens of a context"] = f"{fmean(map(estimate_tokens, contexts)):.0f}"
    return figures


def measure_memory() -> float:
    """Return the MB of this process and all that it started, shared pages once."""
    ours = psutil.Process()
    processes = [ours, *ours.children(recursive=True)]
    shares: list[int] = [process.memory_full_info().pss for process in processes]
    return sum(shares) / 2**20
