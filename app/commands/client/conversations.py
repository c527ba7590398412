"""How far the conversations of coding agents were sent, in a file each.

A hook that was interrupted, or that found no service, leaves its turns to the next hook. The files
hold positions in transcripts, and the turns themselves only if they are in no transcript.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from app.commands.client.transcripts import Turn, read_turns

if TYPE_CHECKING:
    from palimpsest_client import Client

# What is sent of a transcript that was long before its first hook, in bytes.
MOST_BYTES: Final = 512 * 1024
# What one call may hold; the service takes more.
MOST_TURNS: Final = 60
MOST_CHARACTERS: Final = 60_000
A_WEEK: Final = 7 * 86_400  # seconds


@dataclass
class Conversation:
    """A conversation that a host leads.

    Attributes:
        sent: Bytes of the transcript whose turns were sent.
        begun_at: When its first hook was called, if that was before a prompt. Earlier turns were
            copied from the conversation that it continues, or are older than the hooks.
        waiting: Turns that are in no transcript and were not sent yet.
    """

    session: str
    transcript: str | None
    sent: int
    begun_at: str | None = None
    waiting: list[Turn] = field(default_factory=list)

    def send_turns(self, client: "Client", store: "Conversations") -> list[str]:
        """Send what was not sent yet, and remember after each call how far it is.

        Return why single turns were refused. Raises OSError if the transcript cannot be read.
        """
        refusals: list[str] = []
        batch: dict[str, Turn] = {}  # by id, which a call has once
        sent: set[str] = set()
        position = self.sent
        for turns, end in self._read_new_turns():
            for turn in turns:
                length = sum(len(one["content"]) for one in batch.values()) + len(turn["content"])
                if batch and (len(batch) == MOST_TURNS or length > MOST_CHARACTERS):
                    refusals += _capture(client, self.session, [*batch.values()])
                    sent.update(batch)
                    batch = {}
                    self._note_progress(store, position, sent)
                batch[turn["id"]] = turn
            position = end
        refusals += _capture(client, self.session, [*batch.values()])
        if self.waiting or self.sent != position:
            self._note_progress(store, position, sent.union(batch))
        return refusals

    def _note_progress(self, store: "Conversations", position: int, sent: AbstractSet[str]) -> None:
        """Remember how far it was sent. Another hook may have left turns in the meantime."""
        latest = store.find(self.session)
        waiting = latest.waiting if latest else self.waiting
        self.sent, self.waiting = position, [turn for turn in waiting if turn["id"] not in sent]
        store.save(self)

    def _read_new_turns(self) -> Iterator[tuple[list[Turn], int]]:
        yield self.waiting, self.sent
        if self.transcript:
            start = self.sent
            if start > os.path.getsize(self.transcript):  # it was written anew
                start = find_start(self.transcript)
            for turns, end in read_turns(Path(self.transcript), self.session, start):
                yield [turn for turn in turns if not self._is_copied(turn)], end

    def _is_copied(self, turn: Turn) -> bool:
        try:
            begun_at = datetime.fromisoformat(self.begun_at or "")
            is_copied = datetime.fromisoformat(turn["at"]) < begun_at
        except (KeyError, ValueError, TypeError):
            return False
        if not is_copied:
            self.begun_at = None  # all copies come first, and clocks may go back
        return is_copied


def find_start(transcript: str) -> int:
    """Return the position from which a transcript is sent that no hook has seen before."""
    return max(0, os.path.getsize(transcript) - MOST_BYTES) if os.path.exists(transcript) else 0


class Conversations:
    """The conversations whose turns go to one agent of one service."""

    def __init__(self, url: str, agent: str) -> None:
        digest = hashlib.sha256(f"{url}\n{agent}".encode("utf-8", "surrogatepass"))
        state = platformdirs.user_state_path("palimpsest")
        self._folder = state / "hooks" / digest.hexdigest()[:16]

    def find(self, session: str) -> Conversation | None:
        """Return what is known of a conversation; None if no hook has seen it."""
        return _read_file(self._get_path(session))

    def list_others(self, session: str) -> Iterator[Conversation]:
        """Yield the other conversations of which not all was sent."""
        own = self._get_path(session)
        for path in self._folder.glob("*.json"):
            conversation = None if path == own else _read_file(path)
            if conversation is not None and self._is_behind(conversation, path):
                yield conversation

    def _is_behind(self, conversation: Conversation, path: Path) -> bool:
        try:
            size = os.path.getsize(conversation.transcript or os.devnull)
        except (OSError, ValueError):  # the latter for no path at all
            # It may not be written yet. Hosts delete their transcripts after some weeks.
            size, conversation.transcript = 0, None
            with suppress(OSError):
                if not conversation.waiting and time.time() - path.stat().st_mtime > A_WEEK:
                    path.unlink()
        return bool(conversation.waiting) or size > conversation.sent

    def save(self, conversation: Conversation) -> None:
        """Remember how far a conversation was sent.

        Where nothing can be written, the next hook sends turns again, and none is stored twice,
        because each has an id of its own.
        """
        path = self._get_path(conversation.session)
        with suppress(OSError):
            if not (conversation.transcript or conversation.waiting):
                path.unlink(missing_ok=True)
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(asdict(conversation), file)
            part.replace(path)

    def _get_path(self, session: str) -> Path:
        digest = hashlib.sha256(session.encode("utf-8", "surrogatepass"))
        return self._folder / f"{digest.hexdigest()[:32]}.json"


def _read_file(path: Path) -> Conversation | None:
    try:
        return Conversation(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _capture(client: "Client", session: str, turns: list[Turn]) -> list[str]:
    """Send turns, one by one if the service refuses them together. Return why it refused some."""
    from palimpsest_client import Invalid

    if not turns:
        return []
    try:
        client.capture(session, turns)
    except Invalid as problem:
        if len(turns) == 1:
            return [problem.detail]
        return [reason for turn in turns for reason in _capture(client, session, [turn])]
    return []
