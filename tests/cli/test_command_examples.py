"""The examples of the help parse with the real commands, and those that need nothing run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from tools.cli_docs import FOLDER, commands, examples_in

from proofstone.api import create_workspace
from proofstone.cli import cli
from told import Proofstone

EXAMPLES = [
    line
    for page in sorted(FOLDER.glob("*.md"))
    for line in examples_in(page.read_text(encoding="utf-8"))
]
# In this order, each where the earlier ones left a workspace: first an empty one.
WITH_NOTHING = [
    "proofstone demo --only audit",
    "proofstone init my-benchmark",
    "proofstone status",
    "proofstone list runs",
    "proofstone models list",
    "proofstone models price openai/gpt-5.1",
    "proofstone workspace backup bench.sqlite",
    "proofstone workspace restore bench.sqlite again/",
    "proofstone workspace migrate",
]
# Then one with a bank that is named facts, and models that were run on it.
WITH_A_BANK = [
    "proofstone build form facts --questions 100 --seeds 3",
    'proofstone build plan facts --compare openai/a openai/b --exclude "truncated responses"',
    "proofstone leaderboard facts --by discipline",
    "proofstone report facts --audience public -o report.html",
    "proofstone export facts -o facts.csv",
    "proofstone review export facts --to sheet.xlsx --people Anna,Ben --shared 20%",
    "proofstone review import sheet-anna.xlsx sheet-ben.xlsx",
    "proofstone review status facts",
    "proofstone review agreement facts",
    "proofstone review decide facts --flagged-items work.csv",
    'proofstone review withdraw sheet-anna.xlsx --reason "left the project"',
    "proofstone review erase Anna",
    "proofstone workspace move ../archive",
]


def parse(line: str, root: click.Group) -> None:
    """Parse a command line as the program does, with its input files in place. Raises
    click.UsageError."""
    program, *words = shlex.split(line)
    context, command = click.Context(root, info_name=program), root
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert name is not None
        assert found is not None
        if not isinstance(found, click.Group):
            make_inputs(found, context, words)
            found.make_context(name, words, parent=context).close()
            return
        context, command = click.Context(found, parent=context, info_name=name), found


def make_inputs(command: click.Command, context: click.Context, words: list[str]) -> None:
    """Create the files and folders that must exist, in the current folder."""
    for word in words:
        if word.endswith("/"):
            Path(word).mkdir(exist_ok=True)
    given, _, _ = command.make_parser(context).parse_args(list(words))
    for parameter in command.params:
        if isinstance(parameter.type, click.Path) and parameter.type.exists:
            value = given.get(parameter.name) or ()
            for name in [value] if isinstance(value, str) else value:
                if not Path(name).is_dir():
                    Path(name).touch()


def test_every_command_has_an_example() -> None:
    """On the page of its name; a command that only has others below it shows theirs."""
    with_one = {
        page.stem for page in FOLDER.glob("*.md") if examples_in(page.read_text(encoding="utf-8"))
    }
    groups = {
        context.command_path.split()[1]
        for context in commands(cli, "proofstone")
        if isinstance(context.command, click.Group) and context.parent is not None
    }
    lists = {"README", "common-options"}
    assert {page.stem for page in FOLDER.glob("*.md")} - with_one - groups - lists == set()


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_parses(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parse(line, cli)


@pytest.mark.parametrize(
    "line",
    [
        "proofstone build form facts --qestions 100",
        "proofstone build form",
        "proofstone build form facts --setting neither",
        "proofstone biuld form facts",
        "proofstone correct override 4f2a/9ab3/0 perhaps",
        "proofstone audit scores.csv --seed first",
    ],
)
def test_a_wrong_example_is_noticed(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError):
        parse(line, cli)


def run_all(lines: list[str], proofstone: Proofstone) -> None:
    assert set(lines) <= set(EXAMPLES)
    for line in lines:
        told = proofstone(*shlex.split(line)[1:])
        assert told.code == 0, f"{line}\n{told.out}\n{told.err}"


def test_examples_that_need_nothing_run(
    tmp_path: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a new folder, which becomes a workspace."""
    create_workspace(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    run_all(WITH_NOTHING, proofstone)


def test_examples_on_a_bank_run(
    tmp_path: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    with create_workspace(folder) as workspace:
        bank = workspace.build_bank("statements", ["elements", "countries"], name="facts")
        forms = workspace.build_form(bank, questions=8)
        workspace.run(forms, models=["sim/ann?ability=0.8", "sim/bob?miss=0.5"])
    monkeypatch.chdir(folder)
    run_all(WITH_A_BANK, proofstone)
