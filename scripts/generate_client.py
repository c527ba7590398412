"""Write from openapi/openapi.json what `clients/python` has for each operation and schema.

Its methods are plain code with names, types and descriptions, so that an editor shows them. They
are written twice, once for each kind of client, and only here from one description.
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "openapi" / "openapi.json"
TARGET = ROOT / "clients" / "python" / "palimpsest_client"

Schema = Mapping[str, Any]

# Reads that a body is sent to.
READS_BY_POST = {"search"}
# Callers give these nearly always; None leaves them out.
POSITIONAL = {("capture", "session_id")}
# Lists whose items are not under `items`.
ITEMS = {"history": "versions"}
# Streams of lines; the client has methods of its own for these.
EXPORT, IMPORT = "export", "import_history"
# The client itself knows them.
OF_THE_CLIENT = {"X-Agent-Id", "Palimpsest-Position"}
# For streams of events, which the client does not read: it waits for pages of them.
OF_STREAMS = {"Last-Event-ID"}
NAMES = {"Idempotency-Key": "idempotency_key", "If-Match": "if_match"}
# Of these the client knows more than the document, or less is enough.
DESCRIPTIONS = {
    "idempotency_key": "Names the call, so that it is executed once however often it is sent. "
    "Default: a new one, the same for every try.",
    "cursor": "Begin at the page that this `next_cursor` of another one names.",
    "limit": "How many items a page has.",
    "view": "`full`: every field, also those that are null. `brief`: what an agent acts on, "
    "without empty fields; cast the answer to its `Brief…` type.",
}
# Fields that may be null, but never are where a program uses them: a store answers with its memory,
# unless the agent is frozen or the words only take something back.
ALWAYS_THERE = {("StoreAnswer", "memory")}
# The service takes some parameters under a second name too, for callers by hand.
ALIAS = "Another name for "
OTHER_NAME = re.compile(r" Also taken as `\w+`\.")
# A time of a request.
TIME_FORMAT = "date-or-time"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method, and where its value is sent: path, query, header or body."""

    name: str
    place: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True)
class Operation:
    """An operation of the service, as a method of the client."""

    name: str
    method: str
    route: str
    description: str
    parameters: list[Parameter]
    has_body: bool
    answer: str
    item: str | None  # of a list that is answered in pages

    @property
    def is_paged(self) -> bool:
        return self.item is not None

    @property
    def is_read(self) -> bool:
        return self.method == "GET" or self.name in READS_BY_POST

    @property
    def keeps_null(self) -> bool:
        """Whether null empties a field, where a field left out stays as it is."""
        return self.method == "PATCH"

    def list_named(self, place: str) -> list[str]:
        return [p.name for p in self.parameters if p.place == place]


class Document:
    """The OpenAPI document, with its schemas as types of Python."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._paths = document["paths"]
        self.schemas: Mapping[str, Schema] = document["components"]["schemas"]

    def list_operations(self) -> Iterator[Operation]:
        for route, methods in self._paths.items():
            for method, operation in methods.items():
                yield self._read_operation(route, method.upper(), operation)

    def _read_operation(self, route: str, method: str, operation: Schema) -> Operation:
        parameters = [
            *map(self._read_parameter, filter(_is_taken, operation.get("parameters", [])))
        ]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            parameters += self._read_fields(body["schema"])
        parameters.sort(key=lambda parameter: parameter.place == "header")
        if operation["operationId"] == IMPORT:
            parameters.insert(0, _LINES)
        answer = self._read_answer(operation["responses"])
        return Operation(
            name=operation["operationId"],
            method=method,
            route=re.sub(r"{\w+}", "{}", route),
            description=operation.get("description", operation["summary"]),
            parameters=parameters,
            has_body=body is not None,
            answer=answer,
            item=self._find_item(operation["operationId"], answer),
        )

    def _find_item(self, operation: str, answer: str) -> str | None:
        """Return the type of the items of an answer that is a page of a list."""
        fields = self.schemas.get(answer, {}).get("properties", {})
        if "next_cursor" not in fields:
            return None
        return self.find_type(fields[ITEMS.get(operation, "items")]["items"])

    def _read_parameter(self, parameter: Schema) -> Parameter:
        written: str = parameter["name"]
        name = NAMES.get(written, written)
        required = parameter.get("required", False)
        schema = parameter["schema"]
        return Parameter(
            name=name,
            place=parameter["in"],
            type=self.find_type(schema, is_input=True),
            required=required,
            description=DESCRIPTIONS.get(name)
            or _describe_parameter(parameter.get("description", ""), schema),
        )

    def _read_fields(self, schema: Schema) -> Iterator[Parameter]:
        """Yield a parameter for each field of a body; a body that may be left out has no others."""
        if "anyOf" in schema:
            [schema] = [one for one in schema["anyOf"] if "$ref" in one]
        model = self.schemas[_get_name(schema["$ref"])]
        for name, field in model["properties"].items():
            if _is_alias(field):
                continue
            required = name in model.get("required", [])
            yield Parameter(
                name=name,
                place="body",
                type=self.find_type(field, is_input=True),
                required=required,
                description=_describe_parameter(field.get("description", ""), field),
            )

    def _read_answer(self, responses: Mapping[str, Schema]) -> str:
        """Return the type of what a success answers. All successes of an operation are alike.

        An answer in brief has fewer fields; who asks for `view="brief"` knows which.
        """
        found: dict[str, None] = {}
        for status, response in responses.items():
            content = response.get("content", {})
            schema = content.get("application/json") or content.get("text/plain")
            if status.startswith("2") and schema:
                types = self.find_type(schema["schema"]).split(" | ")
                found |= {each: None for each in types if not each.startswith("Brief")}
        return " | ".join(found) or "None"

    def find_type(self, schema: Schema, *, is_input: bool = False) -> str:
        """Return the type of a value. Inputs take more than answers hold: times and ids as such."""
        if "$ref" in schema:
            return self._name_reference(_get_name(schema["$ref"]), is_input=is_input)
        if "anyOf" in schema:
            return self._join_types(schema["anyOf"], is_input=is_input)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            words = f"Literal[{', '.join(map(repr, schema['enum']))}]"
            return f"{words} | str" if is_input else words
        return self._name_plain(schema, is_input=is_input)

    def _name_reference(self, name: str, *, is_input: bool) -> str:
        # A newer service may know more words than this client.
        is_choice = "enum" in self.schemas[name]
        return f"{name} | str" if is_input and is_choice else name

    def _join_types(self, schemas: list[Schema], *, is_input: bool) -> str:
        types = [self.find_type(one, is_input=is_input) for one in schemas]
        return " | ".join(dict.fromkeys(" | ".join(types).split(" | ")))

    def _name_plain(self, schema: Schema, *, is_input: bool) -> str:
        match schema.get("type"):
            case [*kinds]:
                return self._join_types(
                    [{**schema, "type": kind} for kind in kinds], is_input=is_input
                )
            case "array":
                items = self.find_type(schema.get("items", {}), is_input=is_input)
                return f"Sequence[{items}]" if is_input else f"list[{items}]"
            case "object":
                return self._name_mapping(schema, is_input=is_input)
            case "string":
                return _FORMATS.get(schema.get("format", ""), "str") if is_input else "str"
            case kind:
                return _PLAIN[kind]

    def _name_mapping(self, schema: Schema, *, is_input: bool) -> str:
        values = schema.get("additionalProperties")
        value = self.find_type(values) if isinstance(values, dict) else "Any"
        return f"Mapping[str, {value}]" if is_input else f"dict[str, {value}]"


_PLAIN = {"null": "None", "integer": "int", "number": "float", "boolean": "bool", None: "Any"}
# What a caller may give for a text of this format.
_FORMATS = {"uuid": "Id", TIME_FORMAT: "Time"}
_LINES = Parameter(
    "lines",
    "lines",
    "@lines@",
    required=True,
    description="Its lines, as objects or as bytes. They are sent as they come, and only once: "
    "this call is not tried again.",
)


def _is_taken(parameter: Schema) -> bool:
    return parameter["name"] not in OF_THE_CLIENT | OF_STREAMS and not _is_alias(parameter)


def _is_alias(described: Schema) -> bool:
    return str(described.get("description", "")).startswith(ALIAS)


def _get_name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _describe_parameter(description: str, schema: Schema) -> str:
    """Return the description without the other name of the parameter, and with its default."""
    description = OTHER_NAME.sub("", description)
    default = schema.get("default")
    if default in (None, [], False) or "efault" in description:
        return description
    return f"{description} Default: {default}.".strip()


# --- methods -------------------------------------------------------------------------------------

HEADER = '"""{0}.\n\nWritten by scripts/generate_client.py from the OpenAPI document; do not edit.\n"""\n\n'


def write_operations(document: Document, *, is_async: bool) -> str:
    """Return the module with a method for each operation."""
    operations = document.list_operations()
    prefix = "Async" if is_async else ""
    title = f"The operations of the service for {prefix}Client"
    methods = [_write_method(operation, is_async=is_async) for operation in operations]
    line = "Mapping[str, Any] | bytes"
    places = {
        "@models@": ", ".join(document.schemas),
        "@prefix@": prefix,
        "@async@": "async " if is_async else "",
        "@lines@": f"Iterable[{line}]" + f" | AsyncIterable[{line}]" * is_async,
    }
    text = "\n".join([_PREAMBLE, *methods])
    for place, filling in places.items():
        text = text.replace(place, filling)
    return HEADER.format(title) + text


_PREAMBLE = '''
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from palimpsest_client.pages import @prefix@Pages
from palimpsest_client.requests import UNSET, Request, make_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable, Mapping, Sequence

    from palimpsest_client.exports import @prefix@Export
    from palimpsest_client.models import (@models@)
    from palimpsest_client.requests import Id, Time, Unset


class @prefix@Operations:
    """A method for each operation of the service."""

    @async@def _call(self, request: Request) -> Any:
        raise NotImplementedError

    def _export(self, request: Request) -> @prefix@Export:
        raise NotImplementedError

    @async@def _import(
        self, request: Request, lines: @lines@
    ) -> list[dict[str, Any]]:
        raise NotImplementedError
'''


def _write_method(operation: Operation, *, is_async: bool) -> str:
    awaits = is_async and not operation.is_paged and operation.name != EXPORT
    lines = [
        f"{'async ' * awaits}def {operation.name}({_write_signature(operation)})"
        f" -> {_write_answer_type(operation)}:",
        *_indent(_write_docstring(operation)),
        *_indent(_write_return(operation, "await " * awaits)),
        "",
    ]
    return "\n".join(_indent("\n".join(lines)))


def _write_signature(operation: Operation) -> str:
    places = {
        p.name: p.required or (operation.name, p.name) in POSITIONAL for p in operation.parameters
    }
    required = [f"{p.name}: {p.type}" for p in operation.parameters if places[p.name]]
    optional = [_write_optional(p, operation) for p in operation.parameters if not places[p.name]]
    return ", ".join(["self", *required, *(["*"] if optional else []), *optional])


def _write_optional(parameter: Parameter, operation: Operation) -> str:
    type_ = parameter.type.removesuffix(" | None")
    if not (operation.keeps_null and parameter.place == "body"):
        return f"{parameter.name}: {type_} | None = None"
    null = " | None" if type_ != parameter.type else ""
    return f"{parameter.name}: {type_} | Unset{null} = UNSET"


def _write_answer_type(operation: Operation) -> str:
    if operation.name == EXPORT:
        return "@prefix@Export"
    if operation.name == IMPORT:
        return "list[dict[str, Any]]"
    if operation.is_paged:
        return f"@prefix@Pages[{operation.answer}, {operation.item}]"
    return operation.answer


def _write_docstring(operation: Operation) -> str:
    lines = [_wrap(operation.description)]
    described = [p for p in operation.parameters if p.description]
    if described:
        lines += ["", "Args:"]
        lines += [_wrap(f"{p.name}: {p.description}", "    ", "        ") for p in described]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def _wrap(text: str, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()), 88, initial_indent=first, subsequent_indent=rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _write_return(operation: Operation, awaits: str) -> str:
    request = _write_request(operation)
    if operation.name == EXPORT:
        return f"return self._export({request})"
    if operation.name == IMPORT:
        return f"return {awaits}self._import({request}, lines)"
    if operation.is_paged:
        items = ITEMS.get(operation.name, "items")
        return f"return @prefix@Pages(self._call, {request}, {items!r})"
    return f"answer: {operation.answer} = {awaits}self._call({request})\nreturn answer"


def _write_request(operation: Operation) -> str:
    parts = [repr(operation.method), repr(operation.route)]
    if path := operation.list_named("path"):
        parts.append(f"path=({', '.join(path)},)")
    if query := operation.list_named("query"):
        parts.append(f"query={_write_fields(query)}")
    if operation.has_body:
        parts.append(f"body={_write_fields(operation.list_named('body'))}")
    if operation.is_read:
        parts.append("is_read=True")
    if operation.keeps_null:
        parts.append("keeps_null=True")
    for name in operation.list_named("header"):
        value = f"{name} or make_key()" if name == "idempotency_key" else name
        parts.append(f"{name}={value}")
    return f"Request({', '.join(parts)})"


def _write_fields(names: list[str]) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"


def _indent(text: str) -> list[str]:
    return [f"    {line}" if line else line for line in text.splitlines()]


# --- models --------------------------------------------------------------------------------------


def write_models(document: Document) -> str:
    """Return the module with a type for each schema, except bodies that methods spell out."""
    title = "What the service takes and answers"
    names = list(document.schemas)
    inputs = _find_inputs(document)
    parts = [_write_model(document, name, is_input=name in inputs) for name in names]
    exported = ",\n".join(repr(name) for name in sorted(names))
    return (
        HEADER.format(title)
        + "from collections.abc import Mapping, Sequence\n"
        + "from typing import Any, Literal, NotRequired, TypedDict\n\n"
        + "from palimpsest_client.requests import Id, Time\n\n"
        + f"__all__ = [{exported}]\n\n"
        + "\n\n".join(_sort_choices_first(parts))
        + "\n"
    )


def _sort_choices_first(parts: list[str]) -> list[str]:
    return sorted(parts, key=lambda part: part.startswith("class "))


def _find_inputs(document: Document) -> set[str]:
    return {name for name in document.schemas if name.endswith(("Request", "Patch", "Fields"))}


def _write_model(document: Document, name: str, *, is_input: bool) -> str:
    schema = document.schemas[name]
    if "enum" in schema:
        return f"{name} = {document.find_type(schema)}"
    types = {}
    for field, found in schema["properties"].items():
        type_ = document.find_type(found, is_input=is_input)
        if (name, field) in ALWAYS_THERE:
            type_ = type_.removesuffix(" | None")
        types[field] = type_ if field in schema.get("required", []) else f"NotRequired[{type_}]"
    if any(map(keyword.iskeyword, types)):
        return _write_unspeakable_model(name, types, document)
    lines = [f"class {name}(TypedDict):"]
    if description := schema.get("description"):
        lines += _indent(f'"""{_wrap(description)}"""')
    for field, type_ in types.items():
        lines.append(f"    {field}: {_quote_names(type_, document)}")
        if description := schema["properties"][field].get("description"):
            lines += _indent(f'"""{_escape(_wrap(description))}"""')
    return "\n".join(lines)


def _write_unspeakable_model(name: str, types: Mapping[str, str], document: Document) -> str:
    """Return a type with a field that is a keyword of Python."""
    fields = ", ".join(
        f"{field!r}: {_quote_names(type_, document)}" for field, type_ in types.items()
    )
    return f"{name} = TypedDict({name!r}, {{{fields}}})"


def _quote_names(type_: str, document: Document) -> str:
    """Return the type with the names of models as forward references."""
    if type_.startswith("NotRequired["):
        return f'NotRequired["{type_[12:-1]}"]' if _names_model(type_, document) else type_
    return f'"{type_}"' if _names_model(type_, document) else type_


def _names_model(type_: str, document: Document) -> bool:
    return any(name in document.schemas for name in re.findall(r"\w+", type_))


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\")


def format_code(text: str) -> str:
    """Return the text as the formatter of this repository leaves it."""
    for arguments in (["check", "--select", "I,F401,UP", "--fix-only", "-q"], ["format"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", "models.py", "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


def write_client() -> dict[str, str]:
    """Return the text of each module that is written, by its name."""
    document = Document(json.loads(DOCUMENT.read_text()))
    return {
        "operations.py": format_code(write_operations(document, is_async=False)),
        "async_operations.py": format_code(write_operations(document, is_async=True)),
        "models.py": format_code(write_models(document)),
    }


if __name__ == "__main__":
    for name, text in write_client().items():
        (TARGET / name).write_text(text)
