"""Measure how much the code asks of its reader. Each figure has its aim beside it.

python scripts/measure_code.py            the figures of app/
python scripts/measure_code.py --worst    and where the worst lines and functions stand
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from radon.complexity import cc_visit

COLUMNS = 100
MANY_PARAMETERS = 6
COMPLEX = 15
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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


def find_single_uses(sources: list[Source]) -> Iterator[str]:
    """Yield the private functions whose name is used once in all sources, with their places."""
    uses: Counter[str] = Counter()
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses[node.id] += 1
            elif isinstance(node, ast.Attribute):
                uses[node.attr] += 1
    for source in sources:
        for function in source.functions:
            is_private = function.name.startswith("_") and not function.name.startswith("__")
            if is_private and not function.decorator_list and uses[function.name] == 1:
                yield f"{source.path}:{function.lineno} {function.name}"


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
    single = len(list(find_single_uses(sources)))
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
    print(f"private functions used once        {single / len(functions):.1%}  (aim: 15 % at most)")


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
    print("\nprivate functions used once")
    for place in find_single_uses(sources):
        print(f"        {place}")
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
