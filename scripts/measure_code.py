"""Measure how much the code asks of its reader; docs/design/architecture.md says what the figures mean.

python scripts/measure_code.py            the figures of app/
python scripts/measure_code.py --worst    and where the worst lines and functions stand
"""

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from radon.complexity import cc_visit

COLUMNS = 100
MANY_PARAMETERS = 6
COMPLEX = 15
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# What somebody reads who changes how a fact is stored, from the route to the rows.
STORE_PATH = (
    "api.memories",
    "services.remember",
    "services.agent_write",
    "services.classify",
    "services.idempotency",
    "classification.cascade",
    "classification.rules",
    "planning.store",
    "planning.cases",
    "planning.slots",
    "planning.repetitions",
    "planning.classified",
    "planning.merges",
    "planning.questions",
    "planning.building_blocks",
    "planning.plan",
    "domain.relation",
    "domain.fact",
    "domain.version",
    "domain.chains",
    "domain.timeline",
    "store.chains",
    "store.apply",
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its module's name after `app.`, its text and its syntax tree."""

    path: Path
    module: str
    text: str
    tree: ast.Module

    @property
    def code_lines(self) -> list[str]:
        """The lines that are neither empty nor a comment."""
        lines = (line.strip() for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    @property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, FUNCTIONS)]


def read_sources(root: Path) -> list[Source]:
    """Return every Python file under `root`."""
    sources = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text("utf-8")
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        sources.append(Source(path, module, text, ast.parse(text)))
    return sources


def is_one_word(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True if the name is a single word; the names that Python itself gives do not count."""
    is_special = function.name.startswith("__") and function.name.endswith("__")
    return not is_special and "_" not in function.name.strip("_")


def count_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the parameters that a caller gives."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(parameter.arg not in {"self", "cls"} for parameter in every)


def find_complex_functions(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the cyclomatic complexity, as radon counts it, and the name of each function."""
    for block in cc_visit(source.text):
        if not hasattr(block, "methods"):  # a class, whose methods are blocks of their own
            yield block.complexity, f"{source.path}:{block.lineno} {block.name}"


def find_names_of_store_path(sources: list[Source]) -> set[tuple[str, str]]:
    """Return the names, with their modules, that modules of the store path take from one another."""
    path = {f"app.{module}" for module in STORE_PATH}
    names = set()
    for source in sources:
        if source.module in STORE_PATH:
            names |= set(_find_crossing_names(source, path))
    return names


def _find_crossing_names(source: Source, path: set[str]) -> Iterator[tuple[str, str]]:
    modules = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for imported in node.names:
                if node.module in path:
                    yield node.module, imported.name
                elif f"{node.module}.{imported.name}" in path:
                    modules[imported.asname or imported.name] = f"{node.module}.{imported.name}"
    for node in ast.walk(source.tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name in modules:
                yield modules[name], node.attr


def print_figures(sources: list[Source]) -> None:
    """Print one figure a line, each with its aim."""
    lines = sum(len(source.code_lines) for source in sources)
    every_node = [node for source in sources for node in ast.walk(source.tree)]
    functions = [function for source in sources for function in source.functions]
    named = [f for f in functions if not (f.name.startswith("__") and f.name.endswith("__"))]
    one_word = sum(map(is_one_word, named))
    long_lines = sum(len(line) > COLUMNS for source in sources for line in _lines(source))
    comprehensions = sum(isinstance(node, COMPREHENSIONS) for node in every_node)
    many = sum(count_parameters(function) > MANY_PARAMETERS for function in functions)
    complexities = [found[0] for source in sources for found in find_complex_functions(source)]
    on_path = [source for source in sources if source.module in STORE_PATH]
    print(f"files {len(sources)}, lines of code {lines}, functions {len(functions)}")
    print(f"syntax nodes per line of code      {len(every_node) / lines:.2f}  (aim: 6.5 at most)")
    print(f"lines over {COLUMNS} columns             {long_lines}  (aim: 0)")
    print(f"function names of one word         {one_word / len(named):.1%}  (aim: 35 % at most)")
    print(
        f"comprehensions per 1,000 lines     {1000 * comprehensions / lines:.1f}  (aim: 25 at most)"
    )
    print(f"functions with over {MANY_PARAMETERS} parameters    {many}  (aim: 10 at most)")
    print(
        f"cyclomatic complexity over {COMPLEX}      {sum(c > COMPLEX for c in complexities)}  (aim: 5 at most)"
    )
    print(
        f"modules and names of the store path  {len(on_path)} and {len(find_names_of_store_path(sources))}"
    )


def _lines(source: Source) -> list[str]:
    return source.text.splitlines()


def print_worst(sources: list[Source]) -> None:
    """Print where the figures come from: the worst files, functions and lines."""
    print("\nsyntax nodes per line, by file")
    rated = []
    for source in sources:
        rated.append(
            (sum(1 for _ in ast.walk(source.tree)) / max(1, len(source.code_lines)), source)
        )
    for nodes, source in sorted(rated, key=lambda pair: -pair[0])[:40]:
        count = sum(isinstance(node, COMPREHENSIONS) for node in ast.walk(source.tree))
        print(f"{nodes:6.2f}  {source.path}  ({count} comprehensions)")
    print("\nfunctions with many parameters, or complex")
    for source in sources:
        for function in source.functions:
            if (count := count_parameters(function)) > MANY_PARAMETERS:
                print(f"{count:6}  {source.path}:{function.lineno} {function.name}")
        for complexity, place in find_complex_functions(source):
            if complexity > COMPLEX:
                print(f"{complexity:6}  {place} (complexity)")
    print("\nlines too long")
    for source in sources:
        for number, line in enumerate(_lines(source), 1):
            if len(line) > COLUMNS:
                print(f"{len(line):6}  {source.path}:{number}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worst", action="store_true")
    parser.add_argument("root", nargs="?", type=Path, default=Path("app"))
    options = parser.parse_args()
    found = read_sources(options.root)
    print_figures(found)
    if options.worst:
        print_worst(found)
