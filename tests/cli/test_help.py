"""The help of the whole tree, and how a mistyped command is met."""

from __future__ import annotations

import re

import click
import pytest

from proofstone.cli import TREE, cli
from proofstone.session.cli_command import MOST_OPTIONS
from told import Proofstone

COMMANDS = [
    (name, line) for commands in TREE.values() for name, (_module, line) in commands.items()
]


@pytest.mark.parametrize(("name", "line"), COMMANDS, ids=[name for name, _line in COMMANDS])
def test_the_tree_says_of_a_command_what_its_own_help_says(name: str, line: str) -> None:
    """The line in ``proofstone --help`` is the first line of ``proofstone NAME --help``."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert (command.help or "").strip().splitlines()[0] == line


@pytest.mark.parametrize("path", [(), ("build",), ("review",)])
def test_a_command_that_lacks_its_command_prints_its_help(
    path: tuple[str, ...], proofstone: Proofstone
) -> None:
    """On the stream and with the exit code that click has for it, and as no error."""
    told = proofstone(*path)
    assert (told.code, told.out) == (2, "")
    assert told.err == proofstone(*path, "--help").out


def test_every_command_gives_json_and_help(proofstone: Proofstone) -> None:
    """Each leaf of the tree has --help; each that has a result has --json."""
    for path in leaves(cli, []):
        told = proofstone(*path, "--help")
        assert (told.code, told.err) == (0, ""), path
        assert path == ["extract"] or "--json" in told.out, path


def test_no_help_begins_with_more_than_fifteen_options() -> None:
    """The others are printed under "Advanced options"; a name of the first section exists."""
    for path in leaves(cli, []):
        context = click.Context(cli, info_name="proofstone")
        command: click.Command = cli
        for name in path:
            assert isinstance(command, click.Group)
            found = command.get_command(context, name)
            assert found is not None
            command, context = found, click.Context(found, info_name=name, parent=context)
        options = [each for each in command.params if isinstance(each, click.Option)]
        basic = getattr(command, "basic", frozenset())
        if path[0] != "build" or path[1] in ("form", "plan"):  # KINDs share one list
            assert basic <= {each.name for each in command.params}, path
        text = command.get_help(context)
        first, _, advanced = text.partition("\nOptions:\n")[2].partition("Advanced options:")
        listed = re.findall(r"(?m)^  -{1,2}[a-zA-Z]", first)
        assert len(listed) <= MOST_OPTIONS, path
        assert advanced or len(options) <= MOST_OPTIONS, path


def leaves(group: click.Group, path: list[str]) -> list[list[str]]:
    """The commands below a group by their whole names."""
    context = click.Context(group)
    found: list[list[str]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = isinstance(command, click.Group)
        found += leaves(command, [*path, name]) if inner else [[*path, name]]
    return found


def test_a_mistyped_command_names_the_near_one(proofstone: Proofstone) -> None:
    """On stderr, exit 2."""
    told = proofstone("leaderbord")
    assert (told.code, told.out) == (2, "")
    assert told.err.splitlines()[:2] == [
        "error[PS-201]: no command 'leaderbord'", "  did you mean 'leaderboard'?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "x"], "name a model: -m"),
        (["export", "x"], "name the file: -o"),
        (["import", "nowhere.jsonl", "--as", "bank"], "does not exist"),
        (["list", "unicorn"], "choose from: source, bank, form, entities, reference, run, plan"),
        (["build", "form", "x", "--seeds", "5-3"], "'5-3' leaves no seed"),
        (["build", "form", "x", "--seeds", "0"], "'0' leaves no seed"),
        (["build", "form", "x", "--seeds", "a"], "expected a number of seeds (5)"),
        (["build", "form", "x", "--sweep", "options=9..4"], "4 is below 9"),
        (["build", "form", "x", "--sweep", "colours=1..4"], "expected PARAMETER=LOW..HIGH"),
        (["run", "x", "-m", "sim/a", "--set", "top_p"], "expected NAME=VALUE"),
        (["run", "x", "-m", "sim/a", "--samples", "0"], "0 is not in the range x>=1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_says_what_was_expected(
    empty_once: object, proofstone: Proofstone, arguments: list[str], says: str
) -> None:
    """Exit 2, nothing on stdout, no traceback."""
    more = [] if arguments[0] == "extract" else ["-w", str(empty_once)]
    told = proofstone(*arguments, *more)
    assert (told.code, told.out) == (2, "")
    assert says in told.err
