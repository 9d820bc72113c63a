"""Collect messages in code and page templates, and find missing translations.

python -m tools.wording     # print missing Chinese entries as lines to fill in
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import get_args

from tools.resolved import ROOT
from tools.sources import SOURCES, modules

__all__ = [
    "Said",
    "closed_sets",
    "constants",
    "literal_texts",
    "places",
    "said_in_code",
    "said_in_templates",
]

# Which positional arguments of a call are messages, and which name a counted thing.
_MESSAGES = {"say": (0,), "say_of": (1, 2), "noted": (0,)}
_NOUN = 1


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """A message, or the ``noun`` of a counted thing, and its file."""

    text: str
    where: str
    is_noun: bool = False


@cache
def said_in_code() -> tuple[Said, ...]:
    """Return all messages in modules, in order of files."""
    return tuple(_said_in_code())


def _said_in_code() -> Iterator[Said]:
    for path, tree in modules():
        names = _wording_names(tree)
        if names:
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    arguments = [list(_texts(argument)) for argument in node.args]
                    yield from _said(names.get(node.func.id, ""), arguments, _where(path))


@cache
def said_in_templates() -> tuple[Said, ...]:
    """Return all messages in the page's templates."""
    return tuple(_said_in_templates())


def _said_in_templates() -> Iterator[Said]:
    from jinja2 import Environment, nodes  # noqa: PLC0415

    for path in _templates():
        for call in (
            Environment(autoescape=True)
            .parse(path.read_text(encoding="utf-8"))
            .find_all(nodes.Call)
        ):
            if isinstance(call.node, nodes.Name):
                arguments = [
                    [each.value] if isinstance(each, nodes.Const) and isinstance(each.value, str)
                    else []
                    for each in call.args
                ]  # fmt: skip
                yield from _said(call.node.name, arguments, _where(path))


def literal_texts() -> Iterator[Said]:
    """Yield template texts outside of messages: text, or an attribute read by screen readers."""
    from jinja2 import Environment  # noqa: PLC0415

    for path in _templates():
        if path.name.endswith(".html.jinja"):
            tokens = Environment(autoescape=True).lex(path.read_text(encoding="utf-8"))
            reader = _Texts()
            reader.feed("".join(text for _line, kind, text in tokens if kind == "data"))
            for text in reader.found:
                yield Said(text, _where(path))


def constants() -> set[str]:
    """Return every string of a module or template call, whole and split at commas.

    ``word`` may be given any of these.
    """
    found = {said.text for said in said_in_templates()}
    for _path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
                found.update(part.strip() for part in node.value.split(", "))
    return found


def closed_sets() -> Iterator[str]:
    """Yield names of closed sets that readers see through ``word``."""
    from proofstone.method import every_method  # noqa: PLC0415
    from proofstone.records.knowledge import RoleName  # noqa: PLC0415
    from proofstone.records.runs import (  # noqa: PLC0415
        FLAGS,
        OUTCOMES,
        POPULATIONS,
        population_name,
    )
    from proofstone.stats.items import ITEM_FLAGS, KEY_FLAGS  # noqa: PLC0415
    from proofstone.stats.scaling import Shape  # noqa: PLC0415

    yield from map(population_name, POPULATIONS)
    yield from FLAGS.values()
    yield from ITEM_FLAGS.values()
    yield from KEY_FLAGS.values()
    yield from get_args(Shape)
    yield from OUTCOMES
    yield from get_args(RoleName)
    labeled = (method.error_labels for method in every_method())
    yield from (label.name for each in labeled if each is not None for label in each.labels)


def places(message: str) -> set[str]:
    """Return the named placeholders of a message."""
    return {name for _text, name, _spec, _how in Formatter().parse(message) if name is not None}


def _wording_names(tree: ast.Module) -> dict[str, str]:
    """Map the functions imported from ``proofstone.wording`` to their names in a module.

    Another ``say`` prints.
    """
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proofstone.wording")
        for alias in node.names
    }


def _said(function: str, arguments: list[list[str]], where: str) -> Iterator[Said]:
    for place in _MESSAGES.get(function, ()):
        for text in arguments[place] if place < len(arguments) else []:
            yield Said(text, where)
    if function == "counted" and len(arguments) > _NOUN:
        for text in arguments[_NOUN]:
            yield Said(text, where, is_noun=True)


def _texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an argument may be: a constant, or both sides of a conditional."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


class _Texts(HTMLParser):
    """Collect what a reader would see or hear: letters in text and in read attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self._take(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"aria-label", "title", "alt", "placeholder"}:
                self._take(value or "")

    def _take(self, text: str) -> None:
        self.found += re.findall(r"[^\W\d_][\w' -]*", text.replace("proofstone", ""))


def _templates() -> list[Path]:
    own = (SOURCES / "page").rglob("*.jinja")
    return sorted([*own, *(SOURCES / "methods").glob("*/templates/*.jinja")])


def _where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def main() -> int:
    """Print the missing entries; return 1 if there are any."""
    from proofstone.wording.messages import catalogue, nouns  # noqa: PLC0415

    known, counted = catalogue("zh"), nouns("zh")
    lacking: dict[str, dict[str, None]] = {}
    closed = (Said(name, "words") for name in closed_sets())
    for said in (*said_in_code(), *said_in_templates(), *closed):
        if said.text not in (counted if said.is_noun else known):
            file = "nouns.toml" if said.is_noun else said.where
            lacking.setdefault(file, {})[said.text] = None
    for file, texts in lacking.items():
        sys.stdout.write(f"# {file}\n")
        for text in texts:
            key = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            sys.stdout.write(f'"{key}" = ""\n')
    return 1 if lacking else 0


if __name__ == "__main__":
    raise SystemExit(main())
