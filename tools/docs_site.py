"""Build the documents as a site that loads nothing from outside: `make docs`.

python -m tools.docs_site [FOLDER]    # default: build/docs; the site is in FOLDER/site

The pages are copied to FOLDER/pages first. There, links between them are as on the site. A link to
a file of the code, which has no page, becomes its text.
"""

from __future__ import annotations

import json
import os.path
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.doc_pages import links, pages, relinked
from tools.resolved import ROOT

__all__ = ["build", "navigation", "places"]

DOCS = ROOT / "docs"
OUTPUT = ROOT / "build" / "docs"
DECISIONS = "decisions/index.md"
CHINESE = ROOT / "README.zh-CN.md"
SETTINGS = """\
[project]
site_name = "Proofstone"
site_description = "Build, review, run and audit knowledge benchmarks for language models"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = [
{navigation}
]

[project.theme]
font = false
language = "en"
features = ["content.code.copy", "navigation.indexes", "navigation.tabs", "navigation.top"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"

[project.plugins.search]

[project.markdown_extensions.tables]

[project.markdown_extensions.toc]
permalink = true

[project.markdown_extensions.toc.slugify]
object = "pymdownx.slugs.slugify"
kwds = {{ case = "lower" }}

[project.markdown_extensions.pymdownx.highlight]

[project.markdown_extensions.pymdownx.superfences]
"""


def places() -> dict[Path, str]:
    """Return where each page is on the site, by its file."""
    return {path: _place(path) for path in pages()}


def _place(path: Path) -> str:
    if path.is_relative_to(DOCS):
        place = path.relative_to(DOCS)
        if place == Path("README.md"):
            return "pages.md"
        return (place.with_name("index.md") if place.name == "README.md" else place).as_posix()
    if path.parent == ROOT:
        return {"README.md": "index.md"}.get(path.name, path.name.lower())
    return f"methods/{path.parent.name}.md"


def navigation(placed: Mapping[Path, str]) -> list[tuple[str, list[str]]]:
    """Return the headings of docs/README.md with the pages that each links to, in order.

    A link to the index of a folder, or to the folder, stands for all of its pages.
    """
    index = DOCS / "README.md"
    found = [("Home", ["index.md", placed[index], placed[CHINESE]])]
    for part in index.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        named: list[str] = []
        for target in links(text):
            path = (DOCS / target).resolve()
            folder = path if path.is_dir() else path.parent
            if path.is_dir():
                named.append(DECISIONS)
            if path.is_dir() or (path.name == "README.md" and path.is_relative_to(DOCS)):
                named += sorted(
                    (place for page, place in placed.items() if page.parent == folder),
                    key=_order,
                )
            else:
                named.append(placed[path])
        found.append((heading, named))
    return found


def _order(place: str) -> tuple[bool, bool, str]:
    """The index of a folder first, then what is common, then a command before those below it."""
    name = place.rpartition("/")[2].removesuffix(".md")
    return name != "index", name != "common-options", name


def _nested(heading: str, named: list[str]) -> Iterator[str]:
    """Yield the lines of one part of the navigation; commands are a part of their own within it."""
    yield f"  {{ {json.dumps(heading)} = ["
    commands = [place for place in named if place.startswith("reference/cli/")]
    for place in named:
        if place == _place(CHINESE):
            yield f'    {{ "中文" = {json.dumps(place)} }},'
        elif place not in commands:
            yield f"    {json.dumps(place)},"
        elif place == commands[0]:
            yield f'    {{ "Commands" = {json.dumps(commands)} }},'
    yield "  ] },"


def build(folder: Path) -> Path:
    """Build the site below ``folder`` and return its folder. A broken link ends the program."""
    shutil.rmtree(folder, ignore_errors=True)
    placed = places()
    for path, place in placed.items():
        _write(folder / "pages" / place, relinked_page(path, placed))
    for path in DOCS.rglob("*.*"):
        if path.is_file() and path.suffix != ".md":
            aim = folder / "pages" / path.relative_to(DOCS)
            aim.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, aim)
    _write(folder / "pages" / DECISIONS, _decisions(placed))
    lines = [line for part in navigation(placed) for line in _nested(*part)]
    _write(folder / "zensical.toml", SETTINGS.format(navigation="\n".join(lines)))
    subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=folder, check=True
    )
    return folder / "site"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def relinked_page(path: Path, placed: Mapping[Path, str]) -> str:
    """Return the text of a page as the site's Markdown wants it.

    Links are as on the site. Blocks lose the tags that are for the tests. A bar in code within a
    table is not escaped.
    """
    here = os.path.dirname(placed[path])  # noqa: PTH120  (of a place, which is text)

    def change(target: str) -> str | None:
        if re.match(r"[a-z]+:|#", target):
            return target
        name, mark, fragment = target.partition("#")
        aim = (path.parent / name).resolve()
        if aim == DOCS / "decisions":
            place = DECISIONS
        elif aim in placed:
            place = placed[aim]
        elif aim.is_relative_to(DOCS):
            place = aim.relative_to(DOCS).as_posix()
        else:
            return None
        return os.path.relpath(place, here or ".").replace(os.sep, "/") + mark + fragment

    text = re.sub(r"(?m)^( *```\w+) \S.*$", r"\1", path.read_text(encoding="utf-8"))
    text = re.sub(
        r"(?m)^\|.*$",
        lambda row: re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0]),
        text,
    )
    return relinked(text, change)


def _decisions(placed: Mapping[Path, str]) -> str:
    """Return the list of all decisions."""
    folder = DOCS / "decisions"
    titles = {
        path.name: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in placed
        if path.parent == folder
    }
    listed = [f"- [{title}]({name})" for name, title in sorted(titles.items())]
    return "\n".join(["# Decisions", "", *listed, ""])


def main(arguments: list[str]) -> str | None:
    """Build and say where the site is; the answer suits ``sys.exit``."""
    if len(arguments) > 1:
        return f"expected at most one folder, got {' '.join(arguments)}"
    try:
        site = build(Path(arguments[0]).resolve() if arguments else OUTPUT)
    except subprocess.CalledProcessError as error:
        return f"the site was not built: {error}"
    print(f"site     {site / 'index.html'}")
    print(f"search   python -m http.server -d {shlex.quote(str(site))}")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
