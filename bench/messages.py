"""How many turns a second become facts by rules: `python -m bench.messages`, over a database of its own."""

import json
import random
import tempfile
import time
from pathlib import Path

from app.store import schema
from app.store.embedded import embedded_postgres
from bench.client import Client
from bench.servers import SERVICE, serving

CALLS = 50
TURNS = 40

_NAMES = ("Anna", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun")
_TOWNS = ("Lisbon", "Porto", "Faro", "Braga", "Evora", "Aveiro", "Coimbra", "Sintra")
_SAYINGS = (
    "Hello! How are you today?",
    "My sister {name} lives in {town}.",
    "I work at office {number} in {town} and my colleague is called {name}.",
    "Could you write me a short mail to {name}?",
    "I'd love to see {town} one day.",
    "Thanks, that was helpful!",
    "If it rains in {town}, we stay at home.",
    "My locker has the number {number}.",
)


def measure() -> None:
    """Print the turns a second of one caller who posts short calls, one after the other."""
    pick = random.Random(7)
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        schema.migrate_database(url)
        with serving(SERVICE, PALIMPSEST_DATABASE_URL=url) as port:
            client = Client(port)
            _post(client, pick, 0)
            started = time.perf_counter()
            facts = sum(_post(client, pick, number) for number in range(1, CALLS + 1))
            seconds = time.perf_counter() - started
    turns = CALLS * TURNS
    print(f"{turns} turns, {facts} facts, {seconds:.1f} s: {turns / seconds:.0f} turns/s")


def _post(client: Client, pick: random.Random, number: int) -> int:
    """Post the messages of one call, and return how many facts were read."""
    messages = []
    for place in range(TURNS):
        role = "assistant" if place % 2 else "user"
        text = pick.choice(_SAYINGS).format(
            name=pick.choice(_NAMES), town=pick.choice(_TOWNS), number=pick.randrange(10_000)
        )
        messages.append({"id": f"{number}-{place}", "role": role, "content": text})
    body = {"session_id": f"session-{number}", "messages": messages}
    answer = json.loads(client.post("/v1/messages", body))
    return sum(len(message["facts"]) for message in answer["messages"])


if __name__ == "__main__":
    measure()
