"""The command line: run the service, maintain its database, and talk to a running service.

Each command names the function that it calls, whose module is imported when the command is.
"""

import sys
from io import TextIOWrapper
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from app.commands.client.calling import Failure
from app.commands.parameters import Group, Row, Rows
from app.commands.program import describe_version

_CLIENT = "app.commands.client."
_MAINTENANCE = "app.commands.maintenance.commands:"

_REVIEWS = Rows(
    "List, show, accept and reject changes that wait for a person.",
    {
        "list": Row(f"{_CLIENT}reviews:list_reviews", "reviews list"),
        "show": Row(f"{_CLIENT}reviews:show", "reviews show 4f2a01"),
        "accept": Row(f"{_CLIENT}reviews:accept", "reviews accept 4f2a01 a"),
        "reject": Row(f"{_CLIENT}reviews:reject", 'reviews reject 4f2a01 --note "Both hold"'),
    },
)
_KEYS = Rows(
    "Issue, list, revoke and rotate keys.",
    {
        "create": Row(
            f"{_MAINTENANCE}create_key", "keys create mira --scope read --scope write --agent mira"
        ),
        "list": Row(f"{_MAINTENANCE}list_keys", "keys list"),
        "revoke": Row(f"{_MAINTENANCE}revoke_key", "keys revoke 0a1b2c3d4e5f6071"),
        "rotate": Row(f"{_MAINTENANCE}rotate_key", "keys rotate 0a1b2c3d4e5f6071 --overlap 600"),
    },
)
_MODEL = Rows(
    "Check the language model of the settings.",
    {"check": Row(f"{_MAINTENANCE}check_model", "model check")},
)
SECTIONS = {
    "Memory": {
        "store": Row(f"{_CLIENT}changing:store", 'store "I moved to Lisbon last month"'),
        "search": Row(f"{_CLIENT}reading:search", 'search "where does the user live"'),
        "list": Row(f"{_CLIENT}reading:list_memories", "list --kind preference"),
        "get": Row(f"{_CLIENT}reading:get", "get 4f2a01"),
        "context": Row(f"{_CLIENT}reading:context", 'context "what to cook" --budget 300'),
        "capture": Row(f"{_CLIENT}captures:capture", "capture talk.jsonl --session monday"),
        "captures": Row(f"{_CLIENT}captures:captures", "captures --state pending"),
        "correct": Row(
            f"{_CLIENT}changing:correct", "correct 4f2a01 --valid-from 2026-03-01 --tag home"
        ),
        "supersede": Row(f"{_CLIENT}changing:supersede", 'supersede 4f2a01 "Has a cat"'),
        "retract": Row(f"{_CLIENT}changing:retract", 'retract 4f2a01 --reason "Sold it"'),
        "link": Row(f"{_CLIENT}changing:link", "link 4f2a01 causes 9b03ce"),
        "links": Row(f"{_CLIENT}reading:links", "links 4f2a01"),
        "erase": Row(f"{_CLIENT}changing:erase", "erase 4f2a01"),
    },
    "Review and undo": {
        "reviews": Row(_REVIEWS),
        "answer": Row(f"{_CLIENT}reviews:answer", "answer 4f2a01 a"),
        "sweep": Row(f"{_CLIENT}sweeps:sweep", "sweep --dry-run"),
        "revert": Row(f"{_CLIENT}changing:revert", "revert 4f2a01"),
        "mode": Row(f"{_CLIENT}changing:mode", "mode shadow --agent mira"),
    },
    "Time and reasons": {
        "history": Row(f"{_CLIENT}reading:history", "history 4f2a01"),
        "why": Row(f"{_CLIENT}reading:why", "why 4f2a01"),
        "log": Row(f"{_CLIENT}reading:log", "log --operation UPDATE --since 2026-03-01"),
        "insights": Row(f"{_CLIENT}insights:insights", "insights --section churn"),
        "end-session": Row(f"{_CLIENT}changing:end_session", "end-session monday"),
        "end-project": Row(f"{_CLIENT}changing:end_project", "end-project apollo"),
    },
    "Agents and keys": {
        "agents": Row(f"{_CLIENT}reading:agents", "agents"),
        "stats": Row(f"{_CLIENT}reading:stats", "stats mira"),
        "hook": Row(f"{_CLIENT}hooks:hook", "hook stop < event.json"),
        "keys": Row(_KEYS),
    },
    "Moving data": {
        "export": Row(f"{_CLIENT}transfer:export_agent", "export mira.ndjson --agent mira"),
        "import": Row(f"{_CLIENT}transfer:import_file", "import memories.json --from mem0"),
    },
    "Service": {
        "serve": Row("app.running:serve", "serve --port 8100"),
        "mcp": Row("app.running:mcp", "mcp --agent mira"),
        "worker": Row("app.running:worker", "worker"),
        "demo": Row(f"{_CLIENT}demo:demo", "demo --yes"),
        "model": Row(_MODEL),
    },
    "Database": {
        "migrate": Row(f"{_MAINTENANCE}migrate", "migrate"),
        "doctor": Row(f"{_MAINTENANCE}doctor", "doctor --repair"),
        "retain": Row(f"{_MAINTENANCE}retain", "retain --dry-run"),
        "vacuum": Row(f"{_MAINTENANCE}vacuum", "vacuum"),
        "reembed": Row(f"{_MAINTENANCE}reembed", "reembed"),
        "distribute": Row(f"{_MAINTENANCE}distribute", "distribute --worker db2:5432"),
    },
}
_EXAMPLES = """Examples:

\b
  palimpsest store "I moved to Lisbon last month"
  palimpsest search "where does the user live" --as-of 2025-06-01
  palimpsest reviews list
  palimpsest COMMAND --help       more about a command, with an example"""


def _print_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    if shell is None:
        return
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None, "the option takes no other shell"
    click.echo(completion(cli, {}, "palimpsest", "_PALIMPSEST_COMPLETE").source())
    ctx.exit()


cli = Group(
    "palimpsest",
    SECTIONS,
    help="The memory service for agents that knows when facts change.",
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--show-completion"],
            type=click.Choice(["bash", "zsh", "fish"]),
            expose_value=False,
            is_eager=True,
            callback=_print_completion,
            help="Print what completes commands in this shell, to be put into its start file.",
        )
    ],
)
click.version_option("", message=describe_version(), help="Print name and version.")(cli)


def main() -> None:
    """Run the command line.

    A failure is one line on standard error. The exit status is then 1, or 2 for a wrong call.
    """
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8")
    if isinstance(sys.stdout, TextIOWrapper):
        # What it cannot show is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(cli(prog_name="palimpsest", standalone_mode=False))
    except NoArgsIsHelpError as request:
        request.show()
        sys.exit(request.exit_code)
    except click.UsageError as problem:
        _exit_with_error(_describe_usage_error(problem), problem.exit_code)
    except click.Abort:
        _exit_with_error("stopped.")
    except Failure as problem:
        _exit_with_error(str(problem))


def _describe_usage_error(problem: click.UsageError) -> str:
    advice = f" See `{problem.ctx.command_path} --help`." if problem.ctx else ""
    message = problem.format_message().rstrip(".")
    if message.startswith("Got unexpected extra argument"):
        advice = f" Put a text of several words in quotes.{advice}"
    return f"{message}{'' if message.endswith('?') else '.'}{advice}"


def _exit_with_error(message: str, status: int = 1) -> NoReturn:
    print(f"palimpsest: {message}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
