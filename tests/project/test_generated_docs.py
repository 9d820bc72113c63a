"""The generated pages say what the program says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tools import cli_docs, error_docs
from tools.generated import settle
from tools.sources import modules

ROOT = Path(__file__).resolve().parents[2]


@click.group()
@click.option("--loud", type=click.Choice(["yes", "no"]), help="Say more.")
def tree(loud: str) -> None:
    """A small tool."""


@tree.group()
def build() -> None:
    """Makes things."""


@build.command()
@click.argument("bank")
@click.option("--seeds", default=5, help="How many forms.")
@click.option("--loud", hidden=True)
def form(bank: str, seeds: int, loud: str) -> None:
    """Composes a form from BANK.

    \b
    Example:
      tool build form facts --seeds 3
    """


@tree.command(hidden=True)
def secret() -> None:
    """Not for the page."""


def test_every_visible_command_is_found_below_its_parent() -> None:
    """The whole names, parents before children, hidden commands left out."""
    found = [context.command_path for context in cli_docs.commands(tree, "tool")]
    assert found == ["tool", "tool build", "tool build form"]


def test_a_command_stands_on_its_page_without_common_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each page is compared whole, as text: the index, the common options, a page per command."""
    monkeypatch.setattr(cli_docs, "ALIKE", 1)
    found = cli_docs.pages(tree, "tool")
    assert list(found) == ["README.md", "common-options.md", "build.md", "build-form.md"]
    assert found["build.md"] == (
        "# tool build\n\nReference · [all commands](README.md)\n\n"
        "```text\n"
        "Usage: tool build [OPTIONS] COMMAND [ARGS]...\n\n"
        "  Makes things.\n\n"
        "Commands:\n"
        "  form  Composes a form from BANK.\n"
        "```\n\n"
        "[Common options](common-options.md): `--help`.\n\n"
        "A page per command: [form](build-form.md).\n\n"
        "```sh\ntool build form facts --seeds 3\n```\n"
    )
    assert found["build-form.md"] == (
        "# tool build form\n\nReference · [all commands](README.md) · [tool build](build.md)\n\n"
        "```text\n"
        "Usage: tool build form [OPTIONS] BANK\n\n"
        "  Composes a form from BANK.\n\n"
        "  Example:\n    tool build form facts --seeds 3\n"
        "```\n\n"
        "[Common options](common-options.md): `--seeds`, `--loud`, `--help`.\n"
    )
    assert found["common-options.md"] == (
        cli_docs.COMMON + "\nIn every command:\n\n| option | meaning |\n|---|---|\n"
        "| `--seeds INTEGER` | How many forms. |\n"
        "| `--loud [yes\\|no]` | Say more. |\n"
        "| `--help` | Show this message and exit. |\n"
    )
    assert found["README.md"].startswith(
        cli_docs.INDEX + "\n- [`tool build`](build.md): Makes things.\n"
        "- [`tool build form`](build-form.md): Composes a form from BANK.\n\n"
        "## tool\n\n```text\nUsage: tool [OPTIONS] COMMAND [ARGS]...\n"
    )


def test_an_option_of_few_commands_stays_on_their_pages() -> None:
    page = cli_docs.pages(tree, "tool")["build-form.md"]
    assert "  --seeds INTEGER  How many forms.\n" in page
    assert "Common options" not in page


def test_missing_and_extra_pages_are_named_and_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that is renamed leaves no page behind."""
    monkeypatch.setattr(cli_docs, "FOLDER", tmp_path)
    assert cli_docs.main([]) is None
    assert cli_docs.main(["--check"]) is None
    for name in ("gone.md", "left.md"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
    for name in ("run.md", "show.md"):
        (tmp_path / name).unlink()
    assert cli_docs.main(["--check"]) == (
        "run.md is missing; run: make reference\n"
        "show.md is missing; run: make reference\n"
        "gone.md is not generated; run: make reference\n"
        "left.md is not generated; run: make reference"
    )
    assert cli_docs.main(["--chek"]) == "expected no argument or --check, got --chek"
    assert cli_docs.main([]) is None
    assert cli_docs.main(["--check"]) is None
    assert not (tmp_path / "gone.md").exists()


ASK_AS_A_USER = """
from click.testing import CliRunner
from proofstone.cli import cli
from tools.cli_docs import FOLDER, WIDTH, commands, page_name

def squeezed(text):
    return "".join(text.replace("|", "").replace("`", "").replace(chr(92), "").split())

width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
shared = squeezed((FOLDER / "common-options.md").read_text(encoding="utf-8"))
for context in commands(cli, "proofstone"):
    asked = [*context.command_path.split()[1:], "--help"]
    name = page_name(context) if asked[1:] else "README.md"
    page = (FOLDER / name).read_text(encoding="utf-8")
    told = CliRunner().invoke(cli, asked, prog_name="proofstone", **width).output
    about = told.partition("Options:")[0].removesuffix("Advanced ").rstrip()
    assert about in page, name
    for option in context.command.get_params(context):
        record = option.get_help_record(context)
        if record is not None and record[1]:
            text = squeezed("".join(record))
            assert text in squeezed(told), (name, record)
            assert text in squeezed(page) or text in shared, (name, record)
"""


@pytest.mark.parametrize("arguments", [["-m", "tools.cli_docs", "--check"], ["-c", ASK_AS_A_USER]])
def test_the_pages_say_what_help_prints(arguments: list[str]) -> None:
    """docs/reference/cli is up to date. The page of a command and the common options hold the
    description and each option that its --help prints. Asked in a process of its own: here, the
    methods of the test tree are installed and add commands."""
    result = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


COMMANDS = sorted((ROOT / "docs" / "reference" / "cli").glob("*.md"))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_page_of_commands_is_short_and_has_an_example(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 300
    is_list = path.name in ("README.md", "common-options.md")
    assert is_list or re.search(r"^(    )?proofstone \w", page, re.MULTILINE)


def test_common_options_have_a_meaning() -> None:
    page = (cli_docs.FOLDER / "common-options.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert any("--color" in row[0] for row in rows)
    assert all(len(row) == 2 and len(row[1]) > 10 for row in rows)


def test_the_error_page_is_that_of_the_error_tree() -> None:
    """docs/reference/errors.md is up to date, and has a cause and a remedy under every code."""
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert page == error_docs.page()
    for kind in error_docs.errors():
        assert f"## {kind.code}\n" in page
        assert {"cause", "remedy"} <= set(vars(kind)), f"{kind.__name__} says nothing of its own"
        assert kind.cause
        assert kind.remedy


def test_the_codes_of_errors_never_change() -> None:
    """One line a kind, as it was first released. A new kind adds a line with the next free number
    of its exit code; no line is ever changed or taken away."""
    golden = (ROOT / "tests" / "project" / "error_codes.txt").read_text(encoding="utf-8")
    codes = {kind.__name__: vars(kind).get("code") for kind in error_docs.errors()}
    assert "".join(f"{codes[name]} {name}\n" for name in sorted(codes, key=codes.get)) == golden
    assert len(set(codes.values())) == len(codes)


def test_a_codes_first_digit_is_the_exit_code() -> None:
    """PS-401 ends a command with 4."""
    for kind in error_docs.errors():
        assert re.fullmatch(rf"PS-{kind.exit_code}\d\d", kind.code), kind.__name__


def test_no_error_that_a_user_sees_is_defined_outside_the_one_tree() -> None:
    """A subclass elsewhere would have no entry on the page."""
    ours = {kind.__name__ for kind in error_docs.errors()} | {"ProofstoneError"}
    strays = [
        f"{path.name}: {node.name}"
        for path, tree in modules()
        if path.name != "errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and ours & {ast.unparse(parent).rpartition(".")[2] for parent in node.bases}
    ]
    assert strays == []


def test_check_names_what_differs_and_writes_nothing(tmp_path: Path) -> None:
    """--check leaves the file alone and says the command that mends it; writing then settles it."""
    page = tmp_path / "page.md"
    page.write_text("old\n", encoding="utf-8")
    assert settle(page.with_name("absent.md"), "new\n", ["--check"], "make reference") == (
        "absent.md is missing; run: make reference"
    )
    told = settle(page, "new\n", ["--check"], "make reference")
    assert told is not None
    assert told.splitlines()[0] == "page.md is out of date; run: make reference"
    assert "-old" in told
    assert "+new" in told
    assert page.read_text(encoding="utf-8") == "old\n"
    assert settle(page, "new\n", [], "make reference") is None
    assert settle(page, "new\n", ["--check"], "make reference") is None


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    """A typing error in the option must not write the file."""
    assert settle(tmp_path / "page.md", "new\n", ["--chek"], "make reference") == (
        "expected no argument or --check, got --chek"
    )
    assert not (tmp_path / "page.md").exists()
