"""What each tool asks of the service, and its answer as short text and as fields."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from palimpsest_client import AsyncClient, NotFound, PalimpsestError

NO_REVIEW = UUID(int=0)


class Answer(NamedTuple):
    """The text for the model, and the fields for a program."""

    text: str
    fields: dict[str, Any]


Arguments = dict[str, Any]
SEARCH_DEFAULTS: Arguments = {"limit": 8, "focus": True, "include": ["turns"]}
# What was said is longer than a fact, and may not be so.
MOST_TURNS = 3
LONGEST_TURN = 300
CONTEXT_DEFAULTS: Arguments = {"budget_tokens": 800}
# What problems advise in the words of HTTP, in those of the tools.
_ADVICE = (
    ("Look its id up with GET /v1/memories or POST /v1/search.", "memory_search finds ids."),
    ("GET /v1/log lists them.", "Each change answers with its log_id."),
    ("GET /v1/reviews lists them.", "memory_context ends with those that are open."),
    (", or send cascade=true to undo them with it.", "."),
)
Call = Callable[[AsyncClient, Arguments], Awaitable[Answer]]


def advise_in_tools(detail: str) -> str:
    """Return the detail of a problem with the advice that a caller of tools can follow."""
    for of_http, of_tools in _ADVICE:
        detail = detail.replace(of_http, of_tools)
    return detail


async def store(client: AsyncClient, arguments: Arguments) -> Answer:
    answer: dict[str, Any] = {**await client.store(**arguments)}
    written = _list_written(answer)
    ended = answer["superseded"]
    operation = written["operation"]
    fields = {
        **written,
        "superseded": ended,
        "merged": operation == "UPDATE" and not ended,
        "question": answer.get("question"),
        "known_at": answer["known_at"],
        "redacted": answer["redacted"],
    }
    lines = [_describe_write(fields, "stored")]
    if answer["redacted"]:
        lines.append(f"Secrets taken out before it was stored: {answer['redacted']}.")
    lines += [f"Replaces: {memory['content'] or memory['id']}" for memory in ended]
    lines += [hint["sentence"] for hint in answer["hints"]]
    if answer.get("question"):
        lines.append(answer["question"])
    return Answer("\n".join(lines), fields)


async def search(client: AsyncClient, arguments: Arguments) -> Answer:
    answer = await client.search(**(SEARCH_DEFAULTS | arguments))
    hits: list[dict[str, Any]] = []
    for result in answer["results"]:
        hit = _shorten(result["memory"])
        hit |= {"score": result["score"], "in_question": bool(result["in_question"])}
        hits.append(hit)
    turns = answer["turns"][:MOST_TURNS]
    lines = list(map(_write_line, hits)) or [await _explain_nothing(client, arguments)]
    if window := answer["window"]:
        start, end = window["start"], window["end"]
        lines.append(f'"{window["text"]}" was read as {start or "ever"} to {end or "now"}.')
    for turn in turns:
        turn["content"] = " ".join(turn["content"].split())[:LONGEST_TURN]
        lines.append(f"Said on {turn['said_at'][:10]} by {turn['role']}: {turn['content']}")
    times = {"as_of": answer["as_of"], "known_at": answer["known_at"]}
    return Answer("\n".join(lines), {"results": hits, "turns": turns, **times})


async def _explain_nothing(client: AsyncClient, arguments: Arguments) -> str:
    """Return when the earliest that is known begins, if a search looked before it."""
    nothing = "Nothing is known about it."
    if not {"as_of", "known_at"} & arguments.keys():
        return nothing
    ever = SEARCH_DEFAULTS | arguments | {"include_superseded": True}
    ever |= {"as_of": None, "known_at": None}
    memories = [result["memory"] for result in (await client.search(**ever))["results"]]
    if not memories:
        return nothing
    begins = {
        "as_of": f"true from {min(memory['valid_from'] or '' for memory in memories)[:10]}",
        "known_at": f"known from {min(memory['created_at'] for memory in memories)[:10]}",
    }
    earliest = " and ".join(words for name, words in begins.items() if name in arguments)
    return f"{nothing[:-1]} then: the earliest is {earliest}."


async def compose_context(client: AsyncClient, arguments: Arguments) -> Answer:
    answer: dict[str, Any] = {**await client.context(**(CONTEXT_DEFAULTS | arguments))}
    fields = _pick(answer, "text", "tokens", "left_out")
    fields["questions"] = [_pick(each, "handle", "line", "letters") for each in answer["questions"]]
    nothing = "Nothing held then." if "as_of" in arguments else "Nothing is known yet."
    return Answer(answer["text"] or nothing, fields)


async def show_history(client: AsyncClient, arguments: Arguments) -> Answer:
    memory_id = arguments["memory_id"]
    page = await client.history(memory_id).page()
    versions = [_shorten(version) for version in page["versions"]]
    joints = page.get("joints", [])
    names = ("id", "operation", "reasoning", "created_at")
    fields: dict[str, Any] = {
        "current": page.get("current"),
        "versions": versions,
        "joints": joints,
        "operations": [_pick(operation, *names) for operation in page["operations"]],
    }
    lines = []
    superseded = {joint["by"]: joint["superseded"] for joint in joints}
    for version in versions:
        line = _write_line(version)
        if replaced := superseded.get(version["id"]):
            line += f" (in place of [{replaced}])"
        lines.append(line)
    if arguments.get("why"):
        why = await client.why_memory(memory_id)
        fields["why"] = [event["sentence"] for event in why["events"]]
        lines += fields["why"]
    return Answer("\n".join(lines), fields)


async def retract(client: AsyncClient, arguments: Arguments) -> Answer:
    written = _list_written(await client.retract(**arguments))
    return Answer(_describe_write(written, "retracted"), written)


async def undo(client: AsyncClient, arguments: Arguments) -> Answer:
    answer = await client.revert(arguments["log_id"])
    written = _list_written(answer)
    fields = written | {"reverted": answer["reverted"]}
    return Answer(_describe_write(written, f"undone: {len(answer['reverted'])} change(s)"), fields)


async def capture(client: AsyncClient, arguments: Arguments) -> Answer:
    answer = await client.capture(arguments.get("session_id"), arguments["messages"])
    facts = []
    for message in answer["messages"]:
        for fact in message.get("facts") or []:
            facts.append(_pick(fact, "content", "memory_id", "operation"))
    fields = _pick(answer, "capture_id", "session_id", "state")
    lines = [f"{len(answer['messages'])} messages, {answer['state']}; {len(facts)} facts so far."]
    lines += [f"- {fact['content']}" for fact in facts]
    return Answer("\n".join(lines), fields | {"facts": facts})


async def review(client: AsyncClient, arguments: Arguments) -> Answer:
    if "decision" in arguments:
        return await _decide(client, arguments)
    page = await client.list_reviews(status="pending", limit=20).page()
    waiting = [_shorten_review(item) for item in page["items"]]
    text = "\n".join(f"- [{item['review_id']}] {item['sentence']}" for item in waiting)
    return Answer(text or "Nothing waits.", {"waiting": waiting})


async def answer_questions(client: AsyncClient, arguments: Arguments) -> Answer:
    answers: Any = [answer for each in arguments["answers"] for answer in _read_answers(each)]
    answered = await client.answer_reviews(answers)
    results: list[dict[str, Any]] = []
    lines = []
    for each in answered["results"]:
        question = each["question"]
        result: Mapping[str, Any] = each["result"]
        if "detail" in result:
            problem = advise_in_tools(result["detail"])
            results.append({"question": question, "problem": problem})
            lines.append(f"{question}: {problem}")
            continue
        fields = _pick(result, "operation", "log_id", "superseded")
        results.append({"question": question, "problem": None} | fields)
        ended = [memory["content"] or memory["id"] for memory in result["superseded"]]
        done = f"ended: {'; '.join(ended)}" if ended else "nothing ended"
        lines.append(f"{question}: {result['operation']}, {done}. log_id={result['log_id']}")
    return Answer("\n".join(lines), {"results": results})


def _read_answers(sent: Any) -> list[dict[str, Any]]:
    """Return the answers in "4f2a01 a b", or in {"4f2a01": ["a", "b"]}, as models write it too."""
    if isinstance(sent, dict):
        return [{"question": name, "choice": letters} for name, letters in sent.items()]
    question, *letters = re.findall(r"\w+", str(sent).lower()) or [""]
    return [{"question": question, "choice": [each for each in letters if each != "none"]}]


async def _decide(client: AsyncClient, arguments: Arguments) -> Answer:
    if "review_id" not in arguments:
        raise ValueError("A decision needs review_id.")
    review_id, note = arguments["review_id"], arguments.get("note")
    answer: Mapping[str, Any]
    if arguments["decision"] == "accept":
        memories = await _find_chosen(client, review_id, arguments.get("memories"))
        answer = await client.accept(review_id, note=note, memories=memories)
    else:
        answer = await client.reject(review_id, note=note)
    written = _list_written(answer)
    fields = written | {"decided": arguments["decision"]}
    return Answer(_describe_write(written, f"{arguments['decision']}ed"), fields)


async def _find_chosen(
    client: AsyncClient, review_id: str, chosen: list[str] | None
) -> list[str] | None:
    """Return the ids of the candidates that are named by their letters or ids."""
    if not chosen:
        return None
    candidates = (await client.get_review(review_id))["candidates"]
    ids = {each["letter"]: each["memory_id"] for each in candidates}
    return [ids.get(name.strip("() ").lower(), name) for name in chosen]


def _shorten_review(review: Mapping[str, Any]) -> dict[str, Any]:
    candidates = [_pick(each, "letter", "memory_id", "content") for each in review["candidates"]]
    return {"review_id": review["id"], "sentence": review["sentence"], "candidates": candidates}


async def may_review(client: AsyncClient) -> bool:
    """Return True if the key of the client may decide reviews."""
    try:
        await client.reject(NO_REVIEW)
    except NotFound:
        return True
    except PalimpsestError:
        return False
    return False


CALLS: Mapping[str, Call] = {
    "memory_store": store,
    "memory_search": search,
    "memory_context": compose_context,
    "memory_history": show_history,
    "memory_retract": retract,
    "memory_undo": undo,
    "memory_capture": capture,
    "memory_answer": answer_questions,
    "memory_review": review,
}


def _list_written(answer: Mapping[str, Any]) -> dict[str, Any]:
    memory = answer.get("memory") or {}
    return _pick(answer, "operation", "log_id", "review_id") | {"memory_id": memory.get("id")}


def _describe_write(written: Mapping[str, Any], done: str) -> str:
    if written["operation"] == "NOOP":
        return f"NOOP: known already as memory_id={written['memory_id']}. Nothing was written."
    if written["operation"] is None:
        return f"It waits for a person: review_id={written['review_id']}."
    ids = [f"{name}={written[name]}" for name in ("memory_id", "log_id") if written[name]]
    waits = ""
    if written["review_id"] and not written.get("question"):
        waits = f" A change waits for a person: {written['review_id']}."
    return f"{written['operation']}, {done}: {', '.join(ids)}.{waits}"


def _shorten(memory: Mapping[str, Any]) -> dict[str, Any]:
    fields = _pick(memory, "id", "content", "valid_from", "valid_until", "status")
    return fields | {"stale": bool(memory.get("stale_because"))}


def _pick(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values.get(name) for name in names}


def _write_line(memory: Mapping[str, Any]) -> str:
    since = str(memory["valid_from"] or "")[:10]
    until = str(memory["valid_until"] or "now")[:10]
    mark = "" if memory["status"] == "current" else f" ({memory['status']})"
    stale = " (stale: what it rests on has ended)" if memory["stale"] else ""
    question = " (in question)" if memory.get("in_question") else ""
    return f"- [{memory['id']}] {since} to {until}: {memory['content']}{mark}{stale}{question}"
