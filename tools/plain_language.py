"""Find words in texts for readers that the project's language guide replaces.

python -m tools.plain_language           prints the counts by area
python -m tools.plain_language --list    prints each place, the words, and what to write instead
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
from typing import Any, Literal, NamedTuple, get_args

import click

from tools.cli_docs import commands
from tools.doc_pages import pages
from tools.resolved import ROOT
from tools.sources import modules

__all__ = [
    "AREAS",
    "Area",
    "Found",
    "baseline",
    "ceilings",
    "exceptions_in",
    "exceptions_without_reason",
    "found_in",
    "rules",
    "texts",
]

Area = Literal["readme", "docs", "help", "strings", "docstrings"]
AREAS: tuple[Area, ...] = get_args(Area)
_RULES = Path(__file__).with_suffix(".toml")
_GENERATED = {"cli.md", "errors.md", "api.md"}
_START = r"\b"
_MOST_WORDS = 25
_CODE = re.compile(r"``[^`]+``|`[^`]*`")
_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z{])")
_OPENING = re.compile(r"[\"'(\[]?\b(?:Of|What|Who|Whom|Whether|That)\b")
_BLOCK = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*+|#>]|\d+\.) )|(?<=\|) (?=\w)")
_PROSE = re.compile(r"[A-Za-z]{2,}[,;:.]? [A-Za-z{]")
_NOT_PROSE = re.compile(
    r"\s*(?:SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|WITH|ALTER|DROP|BEGIN|ATTACH|<|\(\?|\^)|.*\\[bs]"
)


_DEFINITIONS = {ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef}
_NOT_READ_HERE = {"option", "argument", "Opt", "compile"}  # help: its command shows it
_WITHOUT_STRINGS = {ast.Name, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass}
_PLAIN_FIELDS = {"ctx", "op", "ops", "returns", "type_comment", "level", "kind"}


# The fields of each kind of node that may hold a string.
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(field for field in kind._fields if field not in _PLAIN_FIELDS)
    if kind not in _WITHOUT_STRINGS
    else ()
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


class Found(NamedTuple):
    """Hold a phrase or sentence to replace; ``place`` is ``file:line`` or a command's name."""

    area: Area
    place: str
    words: str
    instead: str


class Rules(NamedTuple):
    """Hold the rules: ``phrase`` finds any of ``exceptions`` or ``words`` in lower case.

    Exceptions come before words that start at the same place. Each word has its replacement.
    """

    phrase: re.Pattern[str]
    exceptions: list[re.Pattern[str]]
    words: list[tuple[re.Pattern[str], str]]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_RULES.read_text(encoding="utf-8"))


@cache
def rules() -> Rules:
    """Return the rules, compiled once. Each alternative starts with a literal, which is fast."""
    exceptions = [each["pattern"] for each in _table()["exceptions"]]
    words: dict[str, str] = _table()["words"]
    every = sorted([*exceptions, *words], key=lambda pattern: not pattern.startswith(_START))
    bounded = [pattern.removeprefix(_START) for pattern in every if pattern.startswith(_START)]
    parts = [rf"\b(?:{'|'.join(bounded)})", *every[len(bounded) :]]
    return Rules(
        re.compile("|".join(parts)),
        [re.compile(pattern) for pattern in exceptions],
        [(re.compile(pattern), words[pattern]) for pattern in every if pattern in words],
    )


def ceilings() -> dict[str, int]:
    """Return the largest permitted number of findings by area."""
    table: dict[str, int] = _table()["ceilings"]
    return table


def baseline() -> int:
    """Return the number of findings when the list was written."""
    number: int = _table()["baseline"]
    return number


def exceptions_without_reason() -> list[str]:
    """Return the patterns of exceptions that state no reason."""
    return [each["pattern"] for each in _table()["exceptions"] if not each.get("reason")]


def exceptions_in(text: str) -> set[str]:
    """Return the patterns of the exceptions that apply to ``text``."""
    return {
        exception.pattern
        for found in rules().phrase.finditer(_prose(text).lower())
        for exception in rules().exceptions
        if exception.match(found.string, found.start())
    }


def found_in(area: Area, place: str, text: str) -> Iterator[Found]:
    """Yield each phrase and sentence of ``text`` to replace; code is left out."""
    prose = _prose(text)
    for found in rules().phrase.finditer(prose.lower()):
        at = found.start()
        if not any(exception.match(found.string, at) for exception in rules().exceptions):
            instead = next(i for word, i in rules().words if word.match(found.string, at))
            yield Found(area, place, found[0], instead)
    if area in ("help", "readme") or (area == "strings" and _OPENING.search(prose)):
        yield from _sentences_found(area, place, prose)


def _prose(text: str) -> str:
    return _CODE.sub(" _ ", " ".join(text.split()))


def _sentences_found(area: Area, place: str, prose: str) -> Iterator[Found]:
    for sentence in _END.split(prose):
        n = len(sentence.split())
        is_table = prose.startswith("\b")  # as click marks it in help
        if area in ("help", "readme") and n > _MOST_WORDS and not is_table:
            yield Found(area, place, sentence, f"at most {_MOST_WORDS} words, here {n}")
        opening = _OPENING.match(sentence)
        if area in ("help", "strings") and opening and n > 1 and not sentence.endswith("?"):
            yield Found(area, place, sentence, "subject and verb first")


def texts() -> Iterator[tuple[Area, str, str]]:
    """Yield area, place and text of all that people read, without prompts for models."""
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
        for block in _BLOCK.split(unfenced):
            yield area, name, re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)


def _help() -> Iterator[tuple[Area, str, str]]:
    from proofstone.cli import cli  # noqa: PLC0415  (other areas need no command)

    for context in commands(cli, "proofstone"):
        for block in (context.command.help or "").split("\n\n"):
            yield "help", context.command_path, block
        for option in context.command.params:
            if isinstance(option, click.Option):
                yield "help", f"{context.command_path} {option.opts[0]}", option.help or ""


def _python(tree: ast.Module, name: str) -> Iterator[tuple[Area, str, str]]:
    """Yield docstrings and strings in one walk that skips what holds no string."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        kind = type(node)
        if kind is ast.Constant or kind is ast.JoinedStr:
            text = _literal(node)
            if _PROSE.search(text) and not _NOT_PROSE.match(text):
                yield "strings", f"{name}:{node.lineno}", text  # type: ignore[attr-defined]
        elif kind in _DEFINITIONS and (documented := _docstring(node)) is not None:
            if not _is_command(node):
                yield "docstrings", f"{name}:{documented.lineno}", str(documented.value)
            left.extend(
                each for each in _parts(node) if getattr(each, "value", 0) is not documented
            )
            continue
        elif kind is ast.Call and _called(node) in _NOT_READ_HERE:
            left.append(node.func)  # type: ignore[attr-defined]
            continue
        left.extend(_parts(node) if kind is not ast.JoinedStr else _formatted(node))


def _formatted(node: ast.AST) -> Iterator[ast.AST]:
    parts: list[ast.expr] = node.values  # type: ignore[attr-defined]
    return (part.value for part in parts if isinstance(part, ast.FormattedValue))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if type(value) is list:
            for each in value:
                if isinstance(each, ast.AST):
                    yield each
        elif isinstance(value, ast.AST):
            yield value


def _docstring(node: ast.AST) -> ast.Constant | None:
    body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
    first = body[0].value if body and isinstance(body[0], ast.Expr) else None
    is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return first if is_text else None  # type: ignore[return-value]


def _literal(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return "".join(map(str, parts))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return str(getattr(function, "attr", getattr(function, "id", "")))


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
