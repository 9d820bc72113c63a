"""Options: one meaning of a name in all commands, and those that every command takes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from proofstone.cli import TREE, cli
from told import Proofstone

# A value of these types is written alike: a number, a text (a path, one of some words), a flag.
_FAMILIES = {
    "integer": "number", "integer range": "number", "float": "number", "float range": "number",
    "share": "number", "text": "text", "choice": "text", "path": "text", "filename": "text",
    "boolean": "flag",
}  # fmt: skip

# A count in some commands, a range or a list of counts in others.
_COUNTS = {"--items", "--questions", "--sample", "--statements"}


def leaves() -> Iterator[tuple[str, click.Command]]:
    def walk(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            whole = f"{path} {name}".strip()
            if isinstance(found, click.Group):
                yield from walk(found, whole)
            else:
                yield whole, found

    yield from walk(cli, "")


def options() -> Iterator[tuple[str, click.Option]]:
    for path, command in leaves():
        yield from ((path, each) for each in command.params if isinstance(each, click.Option))


def test_an_option_takes_the_same_kind_of_value_everywhere() -> None:
    """The same help, or values that are written alike."""
    kinds: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, option in options():
        family = _FAMILIES.get(option.type.name, "text")
        for flag in option.opts:
            kinds[flag][family, option.help or ""].append(path)
    for flag, found in kinds.items():
        if flag in _COUNTS:
            continue
        families = {family for family, _help in found}
        assert len(families) == 1 or len({text for _family, text in found}) == 1, (flag, found)


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--by", ("summarize", "also by")),  # groups, never a person or a search method
        ("--actor", ("person who",)),
        ("--ui-language", ("language of pages",)),
        ("--language", ("language of the document",)),  # of content, never of a page
        ("--pairs", ("number of nearest pairs",)),
        ("--overlap", ("minimum share of a statement's words",)),
        ("--stop", ("stop sequence",)),
        ("--dropped", ("dropped rows of a build",)),
        ("--reason", ("reason", "why")),
        ("--budget", ("spending limit",)),
        ("--seed", ("random seed",)),
        ("--output", ("write", "draw", "instead of sheets, write")),
        ("--max-connections", ("concurrent requests",)),
        ("--encoding", ("encoding of",)),
        ("--votes", ("votes",)),
        ("--orders", ("orders of", "label-order")),
        ("--limit", ("only use the first", "read at most", "number of attacks")),
        ("--yes", ("skip",)),
        ("--where", ("only",)),
    ],
)
def test_an_option_has_one_meaning(flag: str, words: tuple[str, ...]) -> None:
    helps = {
        f"{path}: {option.help}": re.sub(r"^With --[\w-]+: ", "", option.help or "").lower()
        for path, option in options()
        if flag in option.opts
    }
    assert helps
    assert [path for path, text in helps.items() if not text.startswith(words)] == []


def test_every_command_takes_the_common_options() -> None:
    """``-q`` and ``--color`` everywhere; ``--json`` and ``-w`` but where nothing is read of a
    workspace that is there; ``--yes`` wherever a command may ask."""
    lacking: dict[str, set[str]] = defaultdict(set)
    for path, command in leaves():
        flags = {flag for each in command.params for flag in each.opts}
        for flag in ("--quiet", "--color", "--json", "--workspace"):
            if flag not in flags:
                lacking[flag].add(path)
    assert lacking == {"--workspace": {"demo", "review incentives", "workspace restore"}}


ASKING = (
    "demo", "init", "doctor", "ingest", "check", "run", "grade", "search", "models check",
    "workspace purge", "build statements", "build entities", "build short-qa",
)  # fmt: skip


def test_what_may_ask_takes_yes() -> None:
    flags = {
        path: {flag for each in command.params for flag in each.opts} for path, command in leaves()
    }
    assert [path for path in ASKING if "--yes" not in flags[path]] == []


def test_common_options_stand_before_and_behind_a_command(
    proofstone: Proofstone, made: str
) -> None:
    shown = proofstone("leaderboard", "old-books", "-w", made).out
    colored = proofstone("leaderboard", "old-books", "-w", made, "--color", "always").out
    assert "\x1b[33m" in colored
    assert "\x1b" not in shown
    assert proofstone("--color", "always", "leaderboard", "old-books", "-w", made).out == colored
    plain = proofstone(
        "--color", "always", "leaderboard", "old-books", "-w", made, "--color", "never"
    )
    assert plain.out == shown


def test_the_tree_has_at_most_22_commands() -> None:
    assert sum(map(len, TREE.values())) <= 22
