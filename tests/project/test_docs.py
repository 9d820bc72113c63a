"""The documents cannot rot: their code runs, their links lead somewhere, their commands exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tools.cli_docs import commands
from tools.doc_pages import Block, anchors, blocks, links, pages
from tools.resolved import ROOT

from proofstone.cli import cli

PAGES = {path.relative_to(ROOT).as_posix(): path for path in pages()}
UNRUN = "unrun:"  # ```python unrun:needs-a-key
SHELLS = {"sh", "bash", "console", "shell"}


def python_of(page: str) -> list[Block]:
    """The Python blocks of a page, tagged or not."""
    return [block for block in blocks(page) if block.language in {"python", "py", "pycon"}]


@pytest.mark.parametrize(
    "name", [name for name, path in PAGES.items() if python_of(path.read_text(encoding="utf-8"))]
)
def test_the_python_of_a_page_runs(name: str, tmp_path: Path) -> None:
    """All its untagged blocks run in order as one script, at their own line numbers, in a folder
    that holds nothing but docs/data as data, with warnings as errors."""
    script: list[str] = []
    for block in python_of(PAGES[name].read_text(encoding="utf-8")):
        if not any(tag.startswith(UNRUN) for tag in block.tags):
            script += [""] * (block.line - 1 - len(script)) + block.text.splitlines()
    place = tmp_path / "page.py"
    place.write_text("\n".join(script) + "\n", encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copytree(ROOT / "docs" / "data", folder / "data")
    result = subprocess.run(
        [sys.executable, "-W", "error", place],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{name}\n{result.stderr}"


@pytest.mark.parametrize("name", PAGES)
def test_a_block_that_is_not_run_says_why(name: str) -> None:
    """Tags of Python blocks are ``unrun:`` with a reason; anything else is a typing error."""
    found = python_of(PAGES[name].read_text(encoding="utf-8"))
    tags = [tag for block in found for tag in block.tags]
    assert [tag for tag in tags if not re.fullmatch(rf"{UNRUN}[a-z][\w-]+", tag)] == []


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_resolve(name: str) -> None:
    """A relative link names a file of the repository, and a fragment a heading of its page."""
    page = PAGES[name]
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, fragment = target.partition("#")
        aim = (page.parent / place).resolve() if place else page
        leads_out = not aim.exists() or not aim.is_relative_to(ROOT)
        if leads_out or (fragment and fragment not in anchors(aim.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


def unlisted(docs: Path) -> list[str]:
    """The pages below ``docs`` that its README.md does not link to.

    Decisions are named by their folder, data have no pages, and the index of the commands stands
    for the page of each command.
    """
    named = {target.partition("#")[0] for target in links((docs / "README.md").read_text("utf-8"))}
    written = {path.relative_to(docs) for path in docs.rglob("*.md")}
    commands_index = Path("reference/cli/README.md")
    wanted = {
        path.as_posix()
        for path in written - {Path("README.md")}
        if path.parts[0] not in {"decisions", "data"}
        and (path == commands_index or not path.is_relative_to(commands_index.parent))
    }
    return sorted(wanted - named)


def test_every_document_is_in_the_index() -> None:
    """docs/README.md links to each page of docs/, at any depth."""
    assert unlisted(ROOT / "docs") == []


def test_a_document_outside_the_index_is_noticed(tmp_path: Path) -> None:
    """Pages in folders count; decisions, data and pages of commands do not."""
    for name in ("how-to/a.md", "how-to/b.md", "reference/cli/README.md", "reference/cli/run.md"):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("# A page\n", encoding="utf-8")
    for name in ("decisions", "data"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.md").write_text("# A page\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("[a](how-to/a.md#part)\n", encoding="utf-8")
    assert unlisted(tmp_path) == ["how-to/b.md", "reference/cli/README.md"]


KINDS = {
    "tutorials": "Tutorials",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "contributing": "Contributing",
    "decisions": "Decisions",
}


def test_the_index_is_by_kind() -> None:
    """A page of docs/ is linked under the heading of its folder, a method's under Reference."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in index.split("\n## ")[1:]]
    under = {heading: links(part) for heading, _, part in parts}
    assert list(under) == list(KINDS.values())
    methods = {
        f"../{path.relative_to(ROOT).as_posix()}" for path in pages() if "methods" in path.parts
    }
    assert methods <= set(under["Reference"])
    folders = {
        heading: {target.partition("/")[0] for target in targets if target[:2] != ".."}
        for heading, targets in under.items()
    }
    assert folders == {heading: {folder} for folder, heading in KINDS.items()}


FOLDERS = ("tutorials", "how-to", "explanation", "contributing")
WRITTEN = [
    *(ROOT / "docs" / f"{name}.md" for name in ("README", "reference/formats")),
    *(ROOT / "docs" / "reference" / f"{name}.md" for name in ("extraction", "glossary")),
    *(path for name in FOLDERS for path in sorted((ROOT / "docs" / name).glob("*.md"))),
]
KIND = re.compile(r"(Tutorial|How-to|Reference|Explanation|Contributing)\b.* · ")


def faults(page: str) -> list[str]:
    """What makes a hand-written page hard to read; code blocks and tables are no prose."""
    told = re.sub(r"(?ms)^ *```.*?^ *```[ ]*$", "", page)
    prose = "\n".join(line for line in told.splitlines() if not line.lstrip().startswith("|"))
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose)
    lines = [line for line in page.splitlines() if line.strip()]
    found = [f"{len(part.split())} words: {part[:40]}" for part in parts if len(part.split()) > 80]
    if len(prose.split()) >= 1500:
        found.append(f"{len(prose.split())} words of prose")
    if len(lines) < 2 or not KIND.match(lines[1]):
        found.append("no kind under the title")
    if not lines or not links(lines[-1]):
        found.append("no next step in the last line")
    return found


def test_the_pages_to_read_are_few() -> None:
    """A new page replaces or shortens another."""
    assert len(WRITTEN) <= 28


# The index has neither kind nor next step: it is the list of both.
@pytest.mark.parametrize("path", WRITTEN[1:], ids=lambda path: path.stem)
def test_a_page_is_short_and_says_its_kind_and_next_step(path: Path) -> None:
    """Fewer than 1,500 words, paragraphs of at most 80, the kind first and a link last."""
    assert faults(path.read_text(encoding="utf-8")) == []


def test_a_page_hard_to_read_is_noticed() -> None:
    """The check itself: each fault alone, and none for code and tables."""
    first, last = "# Title\n\nHow-to · for all\n\n", "\n\nNext: [one](a.md).\n"
    code, table = f"```sh\n{'a ' * 2000}\n```\n", f"| {'a ' * 2000}|\n"
    assert faults(first + code + table + last) == []
    assert faults(first + "a " * 81 + last)[0].startswith("81 words")
    assert faults(first + "a b\n\n" * 750 + last)[0].endswith("words of prose")
    assert faults("# Title\n\nText." + last) == ["no kind under the title"]
    assert faults(first + "Text.\n") == ["no next step in the last line"]


def command_lines(page: str) -> list[str]:
    """The ``proofstone ...`` lines of a page's shell blocks and indented code, without prompts."""
    code = [block.text for block in blocks(page) if block.language in SHELLS]
    code += [line for line in page.splitlines() if line.startswith("    ")]
    lines = [line for text in code for line in text.replace("\\\n", " ").splitlines()]
    told = [line.strip().removeprefix("$ ") for line in lines]
    return [line for line in told if line.startswith("proofstone ")]


def commands_of(root: click.Command) -> dict[str, click.Command]:
    """Every command by its whole name."""
    found = commands(root, "proofstone")
    return {context.command_path: context.command for context in found}


def complaint(line: str, known: dict[str, click.Command]) -> str:
    """What is wrong with a command line: no such command, or no such option; else nothing."""
    words = shlex.split(line, comments=True)
    path = words.pop(0)
    while words and isinstance(known[path], click.Group) and f"{path} {words[0]}" in known:
        path = f"{path} {words.pop(0)}"
    command = known[path]
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        return f"{line}: no command {words[0]}"
    options = {"-h", "--help"} | {
        name for option in command.params for name in (*option.opts, *option.secondary_opts)
    }
    own, _, behind = " ".join(shlex.quote(word) for word in words).partition(" -- ")
    used = [word.partition("=")[0] for word in shlex.split(own) if re.match(r"--?[a-zA-Z]", word)]
    unknown = [word for word in used if word not in options]
    if unknown:
        return f"{line}: no option {unknown[0]}"
    # Behind a double hyphen stand the words of a run (doctor --config -- run.toml -m MODEL).
    return complaint(f"proofstone run {behind}", known) if behind else ""


def test_every_command_line_in_the_documents_exists() -> None:
    """Commands and options that a page shows are those of the program."""
    known = commands_of(cli)
    found = [
        f"{name}: {trouble}"
        for name, path in PAGES.items()
        for line in command_lines(path.read_text(encoding="utf-8"))
        if (trouble := complaint(line, known))
    ]
    assert found == []


def test_a_wrong_command_line_is_noticed() -> None:
    """The check itself, on a tree of its own."""

    @click.group()
    def root() -> None:
        pass

    @root.command()
    @click.argument("name")
    @click.option("--seeds", "-s")
    def form(name: str, seeds: str) -> None:
        pass

    known = commands_of(root)
    assert complaint("proofstone form x --seeds 5 # five", known) == ""
    assert complaint("proofstone --help", known) == ""
    assert complaint("proofstone form x --seed 5", known).endswith("no option --seed")
    assert complaint("proofstone from x", known).endswith("no command from")


PAGE = """\
# A title, `coded`

See [it](a.md#a-title-coded), `[not](b.md)` and ![picture](c.png "a title").

```python unrun:why
x = 1  # [no](link.md)
```

- item

  ```sh
  $ proofstone form \\
      bank
  ls
  ```
"""


def test_pages_are_read_as_blocks_links_and_headings() -> None:
    """Blocks keep language, tags, text and line; code holds neither links nor headings."""
    first, second = blocks(PAGE)
    assert first == Block("python", ("unrun:why",), "x = 1  # [no](link.md)\n", 6)
    assert (second.language, second.text.splitlines()[0]) == ("sh", "$ proofstone form \\")
    assert links(PAGE) == ["a.md#a-title-coded", "c.png"]
    assert anchors(PAGE + "```sh\n# no heading\n```\n") == {"a-title-coded"}
    assert command_lines(PAGE) == ["proofstone form      bank"]


def test_an_unclosed_block_runs_to_the_end() -> None:
    """Nothing after it is taken for prose."""
    assert list(blocks("```py\na\nb")) == [Block("py", (), "a\nb\n", 2)]
