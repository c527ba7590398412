"""Sends a day of talk to a running service as messages, and asks what holds at its end and on earlier dates.

    replay_day.py BASE [FOLDER]

FOLDER has `turns.jsonl` and `truth.json` as corpus/speech/README.md describes them. A question is right if the first answers
of the search at its date have one of the right words, and nothing that holds then has a wrong one.
"""

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

DAY = Path(__file__).parent.parent / "corpus" / "speech" / "day"
AT_ONCE = 6


def main() -> None:
    base, folder = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else DAY
    turns = [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
    truth = json.loads((folder / "truth.json").read_text())
    headers = {"X-Agent-Id": f"day-{uuid4().hex[:8]}"}
    with httpx.Client(base_url=base, headers=headers, timeout=120) as client:
        for turn, fact in send_turns(client, turns):
            print(f"{turn}  {fact['operation'] or 'waits':7s} {fact['content']}")
        right = sum([ask(client, question) for question in truth["questions"]])
    print(f"{right} of {len(truth['questions'])} questions are answered rightly.")


def send_turns(
    client: httpx.Client, turns: list[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Send the turns a few at a time, as an agent would, and yield what was read from each."""
    for session, of_session in itertools.groupby(turns, key=lambda turn: turn.pop("session")):
        for messages in split_chunks(list(of_session)):
            body = {"session_id": session, "messages": messages}
            answer = client.post("/v1/messages", json=body)
            answer.raise_for_status()
            for message in answer.json()["messages"]:
                for fact in message["facts"]:
                    yield message["id"], fact


def split_chunks(turns: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, len(turns), AT_ONCE):
        yield turns[first : first + AT_ONCE]


def ask(client: httpx.Client, question: dict[str, Any]) -> bool:
    at = {"as_of": question["as_of"]}
    found = client.get("/v1/search", params={"q": question["query"], "limit": 3, **at}).json()
    answers = [result["memory"]["content"] for result in found["results"]]
    listed = client.get("/v1/memories", params={"limit": 1000, **at}).json()["items"]
    wrong = [m["content"] for m in listed if has_word(m["content"], question["wrong"])]
    is_right = any(has_word(text, question["right"]) for text in answers) and not wrong
    print(f"{'right' if is_right else 'WRONG'}  {question['as_of']}  {question['query']}")
    if not is_right:
        print(f"       answers: {answers}; holds wrongly: {wrong}")
    return is_right


def has_word(text: str, words: list[str]) -> bool:
    return any(word.lower() in text.lower() for word in words)


if __name__ == "__main__":
    main()
