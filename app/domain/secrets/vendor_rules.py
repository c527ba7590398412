"""The tokens of vendors, by the rules of gitleaks (see NOTICE)."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.randomness import has_long_run, looks_random, measure_entropy

# Rules that do not fit texts: they look at whole files, take unbounded time, find what an own rule
# finds in more of its forms, or find what is no secret.
_LEFT_OUT = {
    "curl-auth-header",
    "curl-auth-user",
    "generic-api-key",
    "hashicorp-tf-password",
    "jwt",
    "jwt-base64",
    "private-key",
    "sourcegraph-access-token",
}
# What the rules write for the words before an assigned value. It never decides about a match.
_WORDS_BEFORE = r"[\w.-]{0,50}?"
_OPERATORS = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"
# In sentences a value is assigned by a verb too, and a mark of the sentence may follow it.
_DIALECT = {
    _WORDS_BEFORE: "",
    _OPERATORS: rf"(?:{_OPERATORS[3:-1]}|is(?: now)?\b|was\b)",
    r"""(?:[\x60'"\s;]|\\[nr]|$)""": r"(?![A-Za-z0-9_-])",
    r"\b(": r"(?<![A-Za-z0-9])(",
    r"[[:alnum:]]": "[A-Za-z0-9]",
    r"\z": r"\Z",
    "(?i)": "",
}


@dataclass(frozen=True)
class _Rule:
    """A rule of the file. It is compiled when a text first holds one of its keywords."""

    source: str
    entropy: float
    is_assigned: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        translated = self.source
        for of_go, of_python in _DIALECT.items():
            translated = translated.replace(of_go, of_python)
        ignores_case = re.IGNORECASE if "(?i)" in self.source else re.NOFLAG
        return re.compile(translated, ignores_case | re.ASCII)

    def find(self, text: str) -> Iterator[Secret]:
        for match in self.pattern.finditer(text):
            group = match.re.groups and next((i for i, g in enumerate(match.groups(), 1) if g), 0)
            # An ordinary word may stand where the rule expects a token.
            if self.is_assigned:
                is_likely = looks_random(match[group], least_bits=max(self.entropy, 3.0))
            else:
                is_likely = measure_entropy(match[group]) >= self.entropy
            if is_likely:
                yield Secret(SecretKind.SERVICE_TOKEN, match.start(group), match.end(group))


@cache
def load_vendor_rules() -> dict[str, list[_Rule]]:
    """Return the rules by the lower-case words of which a text must hold one."""
    rules: dict[str, list[_Rule]] = {}
    entry: dict[str, Any]
    for entry in _read_rules("gitleaks.toml") + _read_rules("more_vendors.toml"):
        if entry["id"] in _LEFT_OUT or "path" in entry:
            continue
        source = entry["regex"]
        rule = _Rule(source, entry.get("entropy", 0.0), _OPERATORS in source)
        for keyword in entry["keywords"]:
            rules.setdefault(keyword, []).append(rule)
    return rules


def _read_rules(name: str) -> list[dict[str, Any]]:
    rules = tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))["rules"]
    return list(rules)


def find_vendor_tokens(text: str) -> Iterator[Secret]:
    """Yield the tokens that a rule of a vendor recognises."""
    if not has_long_run(text):
        return
    lowered = text.lower()
    for keyword, rules in load_vendor_rules().items():
        if keyword in lowered:
            for rule in rules:
                yield from rule.find(text)
