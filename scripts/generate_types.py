"""Write `clients/typescript/schema.d.ts` from openapi/openapi.json: the types of every call.

They have the shape of openapi-typescript, `paths` and `components`, without headers, which the
client knows, and with the service's descriptions as comments, so that an editor shows them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "openapi" / "openapi.json"
TARGET = ROOT / "clients" / "typescript" / "schema.d.ts"

HEADER = "// Written by scripts/generate_types.py from the OpenAPI document; do not edit.\n\n"

# Those of the client; a path has each of them, or says that it lacks it.
METHODS = ("get", "post", "patch", "delete")

Schema = Mapping[str, Any]

_PLAIN = {
    "string": "string",
    "boolean": "boolean",
    "null": "null",
    None: "unknown",
} | dict.fromkeys(("integer", "number"), "number")


def write_types() -> str:
    """Return the text of `schema.d.ts`."""
    document = json.loads(DOCUMENT.read_text())
    lines = [
        "export interface components {",
        "  schemas: {",
        *_write_schemas(document["components"]["schemas"]),
        "  };",
        "}",
        "",
        "export interface paths {",
        *_write_paths(document["paths"]),
        "}",
    ]
    return HEADER + "\n".join(lines) + "\n"


def _write_schemas(schemas: Mapping[str, Schema]) -> Iterator[str]:
    for name, schema in schemas.items():
        yield from _write_comment(schema.get("description"), "    ")
        yield f"    {name}: {_write_type(schema, '    ')};"


def _write_paths(paths: Mapping[str, Mapping[str, Schema]]) -> Iterator[str]:
    for path, methods in paths.items():
        yield f"  {json.dumps(path)}: {{"
        for method, route in methods.items():
            yield from _write_comment(route["description"], "    ")
            yield f"    {method}: {{"
            yield f"      parameters: {_write_parameters(route.get('parameters', []))};"
            yield f"      requestBody{_write_body(route.get('requestBody'))};"
            yield f"      responses: {_write_responses(route['responses'])};"
            yield "    };"
        yield from (f"    {method}?: never;" for method in METHODS if method not in methods)
        yield "  };"


def _write_parameters(parameters: list[Schema]) -> str:
    places = []
    for place in ("path", "query"):
        fields = {each["name"]: each for each in parameters if each["in"] == place}
        required = {name for name, each in fields.items() if each["required"]}
        described = {
            name: {"description": each.get("description", "")} | each["schema"]
            for name, each in fields.items()
        }
        type_ = _write_object(described, required, "        ") if fields else "never"
        places.append(f"        {place}{'' if required else '?'}: {type_};")
    return "\n".join(["{", *places, "      }"])


def _write_body(body: Schema | None) -> str:
    if body is None:
        return "?: never"
    return f"{'' if body.get('required') else '?'}: {_write_content(body['content'])}"


def _write_responses(responses: Mapping[str, Schema]) -> str:
    lines = [
        f"        {status}: {_write_content(response['content'])};"
        for status, response in responses.items()
    ]
    return "\n".join(["{", *lines, "      }"])


def _write_content(content: Mapping[str, Schema]) -> str:
    types = [
        f"{json.dumps(media)}: {_write_type(each['schema'], '        ')}"
        for media, each in content.items()
    ]
    return f"{{ content: {{ {'; '.join(types)} }} }}"


def _write_type(schema: Schema, indent: str) -> str:
    if "$ref" in schema:
        return f'components["schemas"]["{schema["$ref"].rpartition("/")[2]}"]'
    if "anyOf" in schema:
        return " | ".join(_write_type(each, indent) for each in schema["anyOf"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    match schema.get("type"):
        case [*kinds]:
            return " | ".join(_write_type({**schema, "type": kind}, indent) for kind in kinds)
        case "array":
            items = _write_type(schema.get("items", {}), indent)
            return f"({items})[]" if " | " in items else f"{items}[]"
        case "object" if "properties" in schema:
            fields = _write_object(schema["properties"], set(schema.get("required", ())), indent)
            return f"{fields} & Record<string, unknown>" if _is_open(schema) else fields
        case "object":
            values = schema.get("additionalProperties")
            return f"Record<string, {_write_type(values, indent) if isinstance(values, dict) else 'unknown'}>"
        case kind:
            return _PLAIN[kind]


def _is_open(schema: Schema) -> bool:
    return schema.get("additionalProperties") is True


def _write_object(fields: Mapping[str, Schema], required: set[str], indent: str) -> str:
    inner = f"{indent}  "
    lines: list[str] = []
    for name, field in fields.items():
        lines += _write_comment(field.get("description"), inner)
        lines.append(
            f"{inner}{_write_name(name)}{'' if name in required else '?'}: {_write_type(field, inner)};"
        )
    return "\n".join(["{", *lines, f"{indent}}}"])


def _write_name(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _write_comment(text: str | None, indent: str) -> Iterator[str]:
    if text:
        yield f"{indent}/** {' '.join(text.split()).replace('*/', '* /')} */"


if __name__ == "__main__":
    TARGET.write_text(write_types())
