"""Commands made of functions: their parameters say what the command line takes."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pkgutil import resolve_name
from typing import Any, get_args, get_origin

import click


@dataclass(frozen=True)
class Argument:
    """A word of the command line, told by its place."""

    metavar: str | None = None
    help: str | None = None
    type: click.ParamType[Any] | None = None


class Option:
    """A value of the command line, told by a name; without names, by that of the parameter."""

    def __init__(self, *names: str, **attributes: Any) -> None:
        """Take the attributes of `click.Option`, and `min` and `max` of a whole number."""
        bounds = {name: attributes.pop(name) for name in ("min", "max") if name in attributes}
        if bounds:
            attributes["type"] = click.IntRange(**bounds)
        self.names = names
        self.attributes = attributes


def build_command(
    function: Callable[..., Any], name: str, example: str | None = None
) -> click.Command:
    """Return a command that calls the function.

    Each parameter is annotated with an Argument or an Option. Its type is one of `str`, `int`,
    `float`, `bool` and enumerations of texts, or a list of one; `None` stands for a missing value.
    """
    parameters = inspect.signature(function).parameters.values()
    epilog = f"Example:\n\n\b\n  palimpsest {example}" if example else None
    return click.Command(
        name,
        callback=function,
        params=[_build_parameter(parameter) for parameter in parameters],
        help=inspect.cleandoc(function.__doc__ or ""),
        epilog=epilog,
    )


def _build_parameter(parameter: inspect.Parameter) -> click.Parameter:
    annotation, described = get_args(parameter.annotation)
    kind, is_list = _read_type(annotation)
    is_required = parameter.default is inspect.Parameter.empty
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    shared = {
        "type": _choose_type(kind),
        "required": is_required,
        "callback": _convert_to(kind, is_list=is_list),
    }
    if not (is_required or is_list):
        shared["default"] = default
    if isinstance(described, Argument):
        count = -1 if is_list else 1
        attributes = {"metavar": described.metavar, "help": described.help, "nargs": count}
        shared["type"] = described.type or shared["type"]
        return click.Argument([parameter.name], **shared | attributes)
    names = described.names or (f"--{parameter.name.replace('_', '-')}",)
    if kind is bool:
        shared |= {"is_flag": True, "type": None}
        if default:
            names = (f"{names[0]}/--no-{names[0][2:]}",)
    shared |= {
        "multiple": is_list,
        "show_envvar": True,
        "show_default": bool(shared.get("default")),
    }
    return click.Option([parameter.name, *names], **shared | described.attributes)


def _read_type(annotation: Any) -> tuple[Any, bool]:
    """Return the type of a single value, and whether there may be several."""
    options = [option for option in get_args(annotation) if option is not type(None)]
    if get_origin(annotation) is list:
        return options[0], True
    return _read_type(options[0]) if options else (annotation, False)


def _choose_type(kind: Any) -> Any:
    is_choice = isinstance(kind, type) and issubclass(kind, Enum)
    return click.Choice([str(each.value) for each in kind]) if is_choice else kind


def _convert_to(kind: Any, *, is_list: bool) -> Callable[..., Any]:
    is_choice = isinstance(kind, type) and issubclass(kind, Enum)

    def convert(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        if is_list:
            return [kind(each) if is_choice else each for each in value] or None
        return kind(value) if is_choice and value is not None else value

    return convert


@dataclass(frozen=True)
class Row:
    """A command in a list: `module:function`, or the commands below it, and an example."""

    source: "str | Rows"
    example: str | None = None


@dataclass(frozen=True)
class Rows:
    """A group of commands, with a sentence about them."""

    help: str
    commands: "dict[str, Row]"


class Group(click.Group):
    """Commands whose modules are imported when they are called, listed by subject."""

    def __init__(self, name: str, sections: dict[str, dict[str, Row]], **attributes: Any) -> None:
        super().__init__(name, no_args_is_help=True, **attributes)
        self._sections = sections
        self._rows = {name: row for rows in sections.values() for name, row in rows.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self._rows.get(cmd_name)
        if row is None:
            return None
        if isinstance(row.source, Rows):
            rows = row.source
            return Group(cmd_name, {"Commands": rows.commands}, help=rows.help)
        return build_command(resolve_name(row.source), cmd_name, row.example)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, self._summarize(ctx, name)) for name in rows])

    def _summarize(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        return (command.help or "").partition("\n")[0]


def list_choices(values: Sequence[str]) -> str:
    """Return the values in words: `a, b or c`."""
    return f"{', '.join(values[:-1])} or {values[-1]}"
