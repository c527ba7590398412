"""`palimpsest demo`: a guided story in the terminal, told by a service that really answers."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import click

from app.commands.client.calling import DEFAULT_URL, ApiKey, Failure, Service
from app.commands.client.printing import clean_text, print_text, style
from app.commands.parameters import Option

if TYPE_CHECKING:
    from palimpsest_client import Client

START_PATIENCE = 120  # seconds
STOP_PATIENCE = 60  # seconds


def demo(
    url: Annotated[
        str | None,
        Option(
            envvar="PALIMPSEST_URL",
            help=f"Address of a running service. Default: {DEFAULT_URL} if it answers, else a "
            "service of the demo's own.",
        ),
    ] = None,
    api_key: ApiKey = None,
    yes: Annotated[
        bool,
        Option("--yes", help="Wait for nobody, and erase the demo's agent at the end."),
    ] = False,
) -> None:
    """Tell a story of changing facts with an agent of its own."""
    waits = not yes and sys.stdin.isatty()
    with _find_service(url) as address:
        agent = f"demo-{uuid4().hex[:8]}"
        with Service(address, agent, api_key).connect() as client:
            story = Story(client, waits=waits)
            story.say(f"The service answers at {address}. This story uses the agent {agent}.")
            _tell_of_writing(story)
            _tell_of_reading(story)
            _offer_to_erase(story, agent, yes=yes)


# --- the service -------------------------------------------------------------------------------


@contextmanager
def _find_service(url: str | None) -> Iterator[str]:
    """Yield the address of the service, of one that answers, or of one made for the demo."""
    if url is not None:
        yield url
    elif _answers(DEFAULT_URL):
        yield DEFAULT_URL
    else:
        with _serve_for_a_while() as address:
            yield address


def _answers(url: str) -> bool:
    from palimpsest_client import Client, PalimpsestError, Retries

    with suppress(PalimpsestError), Client(url, timeout=2, retries=Retries(tries=1)) as client:
        return "encoder" in client.version()
    return False


@contextmanager
def _serve_for_a_while() -> Iterator[str]:
    """Run a service over a Postgres of its own, in a folder that goes with the demo."""
    port = find_free_port()
    address = f"http://127.0.0.1:{port}"
    print_text("No service is running: the demo starts one of its own (about 10 s) …")
    with tempfile.TemporaryDirectory(prefix="palimpsest-demo-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PALIMPSEST_")}
        environment["PALIMPSEST_DATA_DIR"] = folder
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603 - the command is our own
            try:
                _await_service(address, process)
                yield address
            finally:
                process.terminate()
                process.wait(STOP_PATIENCE)


def find_free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_service(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(address):
            return
        time.sleep(0.2)
    raise Failure("the demo's own service did not start; `palimpsest serve` says why.")


# --- telling -----------------------------------------------------------------------------------


@dataclass
class Story:
    """What the chapters share: the client, and how they print. `waits` is for Enter."""

    client: "Client"
    waits: bool

    def open_chapter(self, title: str) -> None:
        if self.waits:
            click.prompt("\n[Enter]", default="", prompt_suffix=" ", show_default=False)
        print_text()
        print_text(title=title)

    def say(self, text: str) -> None:
        print_text(text)

    def call(self, line: str, operation: Callable[..., Any], **sent: Any) -> Any:
        """Show a call and return its answer."""
        shown = json.dumps(sent, ensure_ascii=False) if sent else ""
        print(f"  {style(line, fg='cyan')} {shown}")
        return operation(**sent)

    def show(self, text: str) -> None:
        print(f"  {style('→', fg='green')} {clean_text(text)}")

    def show_hit(self, **at: str) -> None:
        """Search for the home, and show the best hit."""
        params = {"q": "where does the user live?", "limit": 1, **at}
        results = self.call("GET /v1/search", self.client.search_by_get, **params)["results"]
        self.show(results[0]["memory"]["content"] if results else "(nothing)")

    def show_what_holds(self, **at: str) -> None:
        memories = self.call("GET /v1/memories", self.client.list_memories, **at)
        self.show("; ".join(memory["content"] for memory in memories))

    def store(self, **fact: str) -> Any:
        return self.call("POST /v1/memories", self.client.store, **fact)


def _tell_of_writing(story: Story) -> None:
    story.open_chapter("1. A fact changes")
    first = story.store(content="I live in Porto", valid_from="2025-01-01")
    story.show(f"{first['operation']}: it is new.")
    answer = story.store(content="I moved to Lisbon last month")
    since = answer["memory"]["valid_from"][:10]
    story.show(f"{answer['operation']}: {answer['decision']['reasoning']}")
    story.show(f"The words were read: Lisbon holds since {since}, and Porto until then.")

    story.open_chapter("2. What is true now, and what was true then")
    story.show_hit()
    story.show_hit(as_of="2025-06-01")

    story.open_chapter("3. An agent sends what was said; what lasts is stored")
    words = [
        ("user", "Hi! I work at the town library. What goes well with leek?"),
        ("assistant", "Potatoes. So you are vegetarian?"),
        ("user", "Yes, exactly. I would love to live in Rome one day."),
    ]
    messages = [{"role": role, "content": content} for role, content in words]
    captured = story.call(
        "POST /v1/messages", story.client.capture, session_id="demo", messages=messages
    )
    for message in captured["messages"]:
        for fact in message["facts"]:
            story.show(f"a fact: {fact['content']}")
        for part in message["skipped"]:
            story.show(f"no fact: {part['text']} ({part['reason']})")


def _tell_of_reading(story: Story) -> None:
    story.open_chapter("4. A fact for a while covers another and does not end it")
    today = datetime.now(UTC).date()
    end = today + timedelta(days=3)
    stay = story.store(content=f"I'm staying at the Ibis until {end.day} {end:%B %Y}")
    story.show(stay["operation"])
    story.show_what_holds()
    story.show_what_holds(as_of=(end + timedelta(days=1)).isoformat())

    story.open_chapter("5. What the agent puts into its prompt")
    for line in story.call("GET /v1/context", story.client.context)["text"].splitlines():
        story.show(line)

    story.open_chapter("6. Why? Every step is in the log")
    results = story.client.search(query="Lisbon", mode="text", include_superseded=True)["results"]
    memory_id = results[0]["memory"]["id"]
    answer = story.call("GET /v1/memories/ID/why", story.client.why_memory, memory_id=memory_id)
    for event in answer["events"]:
        story.show(event["sentence"])


def _offer_to_erase(story: Story, agent: str, *, yes: bool) -> None:
    story.open_chapter("7. Forgetting")
    if not (yes or (story.waits and click.confirm(f"Erase the agent {agent}?", default=True))):
        story.say(f"The agent {agent} stays: look at it with `palimpsest search --agent {agent}`.")
        return
    answer = story.call("POST /v1/erasures", story.client.erase, agent_id=agent)
    story.show(f"{len(answer['erased'])} memories are erased everywhere, with a receipt.")
