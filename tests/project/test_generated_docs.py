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
def tree() -> None:
    """A small tool."""


@tree.group()
def build() -> None:
    """Makes things."""


@build.command()
@click.argument("bank")
@click.option("--seeds", default=5, help="How many forms.")
def form(bank: str, seeds: int) -> None:
    """Composes a form from BANK."""


@tree.command(hidden=True)
def secret() -> None:
    """Not for the page."""


def test_every_visible_command_is_found_below_its_parent() -> None:
    """The whole names, parents before children, hidden commands left out."""
    found = [context.command_path for context in cli_docs.commands(tree, "tool")]
    assert found == ["tool", "tool build", "tool build form"]


def test_a_command_stands_on_its_page_as_help_prints_it() -> None:
    """Each page is compared whole, as text: a page per command at the top, and a list of all."""
    found = cli_docs.pages(tree, "tool")
    assert list(found) == ["README.md", "build.md"]
    assert found["build.md"] == (
        "# tool build\n\nReference · [all commands](README.md)\n\n"
        "## tool build\n\n```text\n"
        "Usage: tool build [OPTIONS] COMMAND [ARGS]...\n\n"
        "  Makes things.\n\n"
        "Options:\n"
        "  --help  Show this message and exit.\n\n"
        "Commands:\n"
        "  form  Composes a form from BANK.\n"
        "```\n\n"
        "## tool build form\n\n```text\n"
        "Usage: tool build form [OPTIONS] BANK\n\n"
        "  Composes a form from BANK.\n\n"
        "Options:\n"
        "  --seeds INTEGER  How many forms.\n"
        "  --help           Show this message and exit.\n"
        "```\n"
    )
    assert found["README.md"].startswith(
        cli_docs.HEADER + "\n- [`tool build`](build.md#tool-build): Makes things.\n"
        "- [`tool build form`](build.md#tool-build-form): Composes a form from BANK.\n\n"
        "## Common options\n\n| option | meaning |\n|---|---|\n"
        "| `--seeds` | How many forms. |\n| `--help` | Show this message and exit. |\n\n"
        "## tool\n\n```text\nUsage: tool [OPTIONS] COMMAND [ARGS]...\n"
    )


def test_a_page_of_no_command_is_found_and_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that is renamed leaves no page behind."""
    monkeypatch.setattr(cli_docs, "FOLDER", tmp_path)
    assert cli_docs.main([]) is None
    (tmp_path / "gone.md").write_text("old\n", encoding="utf-8")
    assert cli_docs.main(["--check"]) == "gone.md is of no command; run: make docs"
    assert cli_docs.main([]) is None
    assert not (tmp_path / "gone.md").exists()
    assert cli_docs.main(["--check"]) is None


ASK_AS_A_USER = """
from click.testing import CliRunner
from proofstone.cli import cli
from tools.cli_docs import WIDTH, commands, plain

folder = "docs/reference/cli/"
width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
for path in [context.command_path for context in commands(cli, "proofstone")]:
    asked = [*path.split()[1:], "--help"]
    name = path.split()[1] if " " in path else "README"
    page = open(f"{folder}{name}.md", encoding="utf-8").read()
    told = CliRunner().invoke(cli, asked, prog_name="proofstone", **width).output
    assert f"## {path}\\n\\n```text\\n{plain(told)}\\n```\\n" in page, path
"""


@pytest.mark.parametrize("arguments", [["-m", "tools.cli_docs", "--check"], ["-c", ASK_AS_A_USER]])
def test_the_command_page_is_what_help_prints(arguments: list[str]) -> None:
    """docs/reference/cli is up to date, and holds what each command's --help prints. Asked in a
    process of its own: here, the methods of the test tree are installed and add commands."""
    result = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


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
    told = settle(page, "new\n", ["--check"], "make docs")
    assert told is not None
    assert told.splitlines()[0] == "page.md is out of date; run: make docs"
    assert "-old" in told
    assert "+new" in told
    assert page.read_text(encoding="utf-8") == "old\n"
    assert settle(page, "new\n", [], "make docs") is None
    assert settle(page, "new\n", ["--check"], "make docs") is None


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    """A typing error in the option must not write the file."""
    assert settle(tmp_path / "page.md", "new\n", ["--chek"], "make docs") == (
        "expected no argument or --check, got --chek"
    )
    assert not (tmp_path / "page.md").exists()
