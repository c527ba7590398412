"""Finds the parts of a turn that are not somebody's own prose: code, tables, logs, quoted lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.talk import CONTEXT_BEGINS, CONTEXT_ENDS, LEFT_OUT, SkipReason


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a turn, half-open; `reason` is None for prose."""

    start: int
    end: int
    reason: SkipReason | None


def find_blocks(content: str) -> Iterator[Block]:
    """Yield the blocks of a turn in their order. A block of prose is one line or a wrapped one."""
    place = 0
    while (begins := content.find(CONTEXT_BEGINS, place)) >= 0:
        yield from _find_fenced(content, place, begins)
        ends = content.find(CONTEXT_ENDS, begins)
        place = len(content) if ends < 0 else ends + len(CONTEXT_ENDS)
        yield Block(begins, place, SkipReason.REPEATED_CONTEXT)
    yield from _find_fenced(content, place, len(content))


_FENCE = re.compile(r"(```|^[ \t]*~~~)", re.MULTILINE)


def _find_fenced(content: str, start: int, end: int) -> Iterator[Block]:
    """Yield blocks, where a fence without its end reaches to the end of the turn."""
    place = start
    while opening := _FENCE.search(content, place, end):
        yield from _find_lines(content, place, opening.start())
        mark = opening[1].strip()
        closing = content.find(mark, opening.end(), end)
        place = end if closing < 0 else closing + len(mark)
        yield Block(opening.start(), place, SkipReason.CODE)
    yield from _find_lines(content, place, end)


_LINE = re.compile(r"[^\n]+")


def _find_lines(content: str, start: int, end: int) -> Iterator[Block]:
    """Yield one block for neighbouring lines of the same kind that is not prose."""
    block: Block | None = None
    for match in _LINE.finditer(content, start, end):
        line = match[0]
        if not line.strip():
            continue
        reason = find_line_reason(line)
        if block and _belongs_together(content, block, line, reason):
            block = Block(block.start, match.end(), reason)
            continue
        if block:
            yield block
        block = Block(match.start(), match.end(), reason)
    if block:
        yield block


# A line of prose that is so long and ends without a mark was wrapped by an editor.
_WRAPPED_FROM = 60


def _belongs_together(content: str, block: Block, line: str, reason: SkipReason | None) -> bool:
    if reason is not None:
        return reason is block.reason
    last_start = content.rfind("\n", block.start, block.end) + 1
    last = content[max(last_start, block.start) : block.end].rstrip()
    is_open = len(last) >= _WRAPPED_FROM and last[-1] not in ".!?:;"
    return block.reason is None and is_open and line.lstrip()[:1].islower()


_QUOTED = re.compile(r"\s*(?:>(?!>>)|&gt;)")
_TABLE = re.compile(
    r"\s*\|.*\||[^|\n]+\|[^|\n]+\|[^|\n]+|[^\t\n]+\t[^\t\n]+\t.*|\s*[-+=|]{4,}\s*"
    r"|[^\s,][^,.!?]{0,30}(?:,[^\s,][^,.!?]{0,30}){2,}"
    r"|[^;\n]{1,40};[^\s;][^;\n]{0,40}(?:;[^\s;]?[^;\n]{0,40})+"
)
_LOG = re.compile(
    r"""
    \s* (?:
      \[? \d{4}-\d\d-\d\d [T\ ] \d\d:\d\d
      | \[? \d\d:\d\d:\d\d
      | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)?\ ?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)
          \ +\d{1,2}\ \d\d:\d\d:\d\d
      | \[? (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|CRITICAL|SEVERE)\b [\]:\s]
      | Traceback\ \(most | File\ "[^"]+",\ line\ \d | at\ [\w.$<>]+\( | npm\ ERR! | Caused\ by:
      | (?:[A-Za-z_][\w.]*)?(?:Error|Exception|Warning)\b (?::|\ \[|$)
      | error(?:\[\w+\])?: | fatal: | warning:
      | panic: | E\ {2,}\w | FAILED\ \S+:: | Segmentation\ fault | \S+:\ command\ not\ found
      | \d{1,3}(?:\.\d{1,3}){3}\ -\ | exit(?:ed)?\ (?:status|code)\b
    )
    """,
    re.VERBOSE,
)
_CODE = re.compile(
    r"""
    \s*+ (?:
      (?:def|class)\ \w+.*: \s*$
      | (?:import|from)\ [\w.]+ (?:\ import\ .*|\ as\ \w+)? ;? \s*$
      | (?:const|let|var)\ [\w{\[] .*=
      | (?:public|private|protected|static|export|async)\ \w+ .*[({;=]
      | (?:function|func|fn|package|interface|struct|enum|type)\ \w+ .*[({]
      | \#include | \#!/ | @\w+\(? .*\)? \s*$
      | (?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE|ALTER|DROP)\ \S+.*
      | (?:FROM|WHERE|JOIN|GROUP\ BY|ORDER\ BY)\ \S+.*
      | (?:if|for|while|switch|catch)\ ?\( .* [){] \s*$ | (?:for\ \w+\ in|elif|if|while)\ .*: \s*$
      | (?:else|try|finally)\ ?[:{] | return\b .*; | print\(|console\.
      | </?\w[^>]*> | [{}\[\]()]+[;,]? \s*$ | //\ | /\* | \*/ | --\ \w
      | \$\ \S | >>>\ | \.\.\.\ {1,4}\S
      | (?:sudo|npm|npx|pnpm|pip3?|kubectl|chmod|cargo|apt-get|cd|curl)
          \ [a-z./~-]\S*(?:\ +\S+)* \s*$
      | git\ (?:clone|push|pull|commit|checkout|rebase|merge|add|status|log|diff|reset)\b .*
      | (?:docker|yarn|brew|go|uv|poetry)
          \ (?:run|build|add|install|exec|ps|compose|get|sync|test)\b .*
      | [\w.\[\]"'-]+ \s* (?:=|:=|\+=) \s* \S .*
      | "?[\w-]+"?: \s* [\[{] .*
      | [\w.\[\]]+ \s* == \s* \S+ .*
      | "[\w-]+": \s* \S .* | [\w-]+: \s* (?:"[^"]*"|true|false|null),? \s*$
      | [\w.]+\([^)]*\) [;:]? \s*$
      | .* (?:;|\{|\}|\);|=>|&&|\|\||->) \s*$
    )
    """,
    re.VERBOSE,
)
_INDENTED = re.compile(r"(?:\t| {4,})(?![-*•\d])\S")


def find_line_reason(line: str) -> SkipReason | None:
    """Return why a line is no prose, None if it is."""
    if line.startswith(LEFT_OUT):
        return SkipReason.LEFT_OUT
    if _QUOTED.match(line):
        return SkipReason.QUOTATION
    if _LOG.match(line):
        return SkipReason.LOG
    if _TABLE.fullmatch(line):
        return SkipReason.TABLE
    is_code = _CODE.match(line) or _INDENTED.match(line)
    return SkipReason.CODE if is_code and not _ends_in_prose(line) else None


def _ends_in_prose(line: str) -> bool:
    """Return True for a sentence that begins with a tag: "<div>hello</div> is what I get."."""
    rest = line.rpartition(">")[2].strip()
    return line.startswith("<") and rest.endswith((".", "!", "?")) and rest.count(" ") > 1
