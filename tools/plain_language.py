"""Find words in texts for readers that the project's language guide replaces.

python -m tools.plain_language           # print the counts by area
python -m tools.plain_language --list    # print each place, the words, and a replacement
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import click

from tools.cli_docs import commands
from tools.doc_pages import pages
from tools.resolved import ROOT
from tools.sources import modules

__all__ = ["AREAS", "Area", "Found", "ceilings", "found_in", "texts"]

Area = Literal["readme", "docs", "help", "strings", "docstrings"]
AREAS: tuple[Area, ...] = get_args(Area)
_RULES = Path(__file__).with_suffix(".toml")
_GENERATED = {"cli.md", "errors.md", "api.md"}
_PROSE = re.compile(r"[A-Za-z]{2,}[,;:.]? [A-Za-z{]")
_NOT_PROSE = re.compile(
    r"\s*(?:SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|WITH|ALTER|DROP|BEGIN|ATTACH|<|\(\?|\^)|.*\\[bs]"
)


class Found(NamedTuple):
    """A phrase to replace: ``place`` is ``file:line`` or a command's name."""

    area: Area
    place: str
    words: str
    instead: str


@cache
def _rules() -> tuple[re.Pattern[str], re.Pattern[str], list[tuple[re.Pattern[str], str]]]:
    """Return patterns of correct uses, of any phrase to replace, and each phrase with its
    replacement."""
    table = tomllib.loads(_RULES.read_text(encoding="utf-8"))
    words = [(re.compile(p, re.IGNORECASE), instead) for p, instead in table["words"].items()]
    allowed = re.compile("|".join(table["allowed"]["patterns"]), re.IGNORECASE)
    return allowed, re.compile("|".join(table["words"]), re.IGNORECASE), words


def ceilings() -> dict[str, int]:
    """Return the maximum number of phrases by area; an area without an entry has none."""
    table: dict[str, int] = tomllib.loads(_RULES.read_text(encoding="utf-8"))["ceilings"]
    return table


def found_in(area: Area, place: str, text: str) -> Iterator[Found]:
    """Yield each phrase of ``text`` that has a replacement; code is omitted."""
    allowed, phrase, words = _rules()
    prose = allowed.sub(" _ ", re.sub(r"``[^`]+``|`[^`]*`", " _ ", " ".join(text.split())))
    for pattern, instead in words if phrase.search(prose) else ():
        for match in pattern.finditer(prose):
            yield Found(area, place, match[0], instead)


def texts() -> Iterator[tuple[Area, str, str]]:
    """Yield area, place and text of everything for readers; prompts for models are not included."""
    yield from _documents()
    yield from _help()
    for path, tree in modules():
        yield from _python(tree, path.relative_to(ROOT).as_posix())


def _documents() -> Iterator[tuple[Area, str, str]]:
    for path in pages():
        if path.name in _GENERATED or path.name == "CHANGELOG.md":
            continue
        area: Area = "readme" if path.parent == ROOT else "docs"
        name = path.relative_to(ROOT).as_posix()
        unfenced = re.sub(
            r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for block in re.split(r"\n\s*\n", unfenced):
            yield area, name, re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)


def _help() -> Iterator[tuple[Area, str, str]]:
    from proofstone.cli import cli  # noqa: PLC0415  (other areas need no command)

    for context in commands(cli, "proofstone"):
        yield "help", context.command_path, context.command.help or ""
        for option in context.command.params:
            if isinstance(option, click.Option):
                yield "help", f"{context.command_path} {option.opts[0]}", option.help or ""


def _python(tree: ast.Module, name: str) -> Iterator[tuple[Area, str, str]]:
    others: set[int] = set()  # docstrings, parts of f-strings, and help, which its command shows
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if (text := ast.get_docstring(node)) is not None:
                others.add(id(node.body[0].value))  # type: ignore[attr-defined]
                if not _is_command(node):
                    yield "docstrings", f"{name}:{node.body[0].lineno}", text
        elif isinstance(node, ast.JoinedStr):
            others.update(map(id, node.values))
        elif isinstance(node, ast.Call) and _called(node) in {"option", "argument", "compile"}:
            values = (*node.args, *node.keywords)
            others.update(id(part) for value in values for part in ast.walk(value))
    for node in ast.walk(tree):
        text = _literal(node)
        if id(node) not in others and _PROSE.search(text) and not _NOT_PROSE.match(text):
            yield "strings", f"{name}:{node.lineno}", text  # type: ignore[attr-defined]


def _literal(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return "".join(map(str, parts))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def _is_command(node: ast.AST) -> bool:
    calls = [each for each in getattr(node, "decorator_list", ()) if isinstance(each, ast.Call)]
    return any(_called(each) in {"command", "group"} for each in calls)


def main(arguments: list[str]) -> None:
    """Print the counts, or with ``--list`` each place."""
    found = [each for area, place, text in texts() for each in found_in(area, place, text)]
    if arguments == ["--list"]:
        for each in found:
            print(f"{each.place}: {each.words!r}; write: {each.instead}")
    counts = Counter(each.area for each in found)
    for area in AREAS:
        print(f"{area:<12}{counts[area]:>6}")
    print(f"{'all':<12}{counts.total():>6}")


if __name__ == "__main__":
    main(sys.argv[1:])
