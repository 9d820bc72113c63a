"""The shape of the source tree: no cycles, no fragments, files named for what they hold."""

from __future__ import annotations

import ast
import graphlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import proofstone

SOURCE = Path(proofstone.__file__).parent
SHORT = 60  # non-blank lines
# Short files with one importer that stand for themselves, each with the reason.
STANDS_ALONE: dict[str, str] = {}
# Words in -ing and -ed that the field uses as nouns, or that are none of a verb.
TERMS = {
    "embedding", "sampling", "bootstrapping", "resampling", "scoring", "ranking", "judging",
    "caching", "rendering", "grading", "testing", "wording", "setting", "string", "meaning", "seed",
    "feed", "embed", "scaling",
}  # fmt: skip


@cache
def modules() -> dict[str, ast.Module]:
    """Each module by name, packages under their own."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("proofstone", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


def imported(module: ast.Module) -> Iterator[str]:
    """The modules of this package that one imports, inside functions too."""
    known = modules()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def imports() -> dict[str, set[str]]:
    """Which modules each imports."""
    known = modules()
    return {name: {m for m in imported(one) if m in known} - {name} for name, one in known.items()}


def file_of(module: str) -> Path:
    """Where a module stands."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


def test_no_file_imports_itself_through_others() -> None:
    """Imports inside functions count: they hide a circle, and do not undo it."""
    list(graphlib.TopologicalSorter(imports()).static_order())


def test_a_short_file_has_more_than_one_user() -> None:
    users = Counter(target for targets in imports().values() for target in targets)
    found = {}
    for module in modules():
        path = file_of(module)
        lines = sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
        plain = path.name not in ("__init__.py", "__main__.py")
        if plain and lines < SHORT and users[module] == 1 and module not in STANDS_ALONE:
            found[module] = lines
    assert found == {}


def test_a_file_is_named_for_a_thing() -> None:
    """Not by a participle alone: what was ``kept`` or ``taking`` nobody can look up."""
    names = {file_of(module).stem for module in modules()} | {
        part for module in modules() for part in module.split(".")
    }
    participles = {
        name for name in names if len(name) > 4 and name.rsplit("_", 1)[-1].endswith(("ing", "ed"))
    }
    assert {name for name in participles if name.rsplit("_", 1)[-1] not in TERMS} == set()


def test_a_package_holds_its_docstring_alone() -> None:
    """What it re-exported would have two names, and load all of it."""
    full = [
        module
        for module, tree in modules().items()
        if file_of(module).name == "__init__.py" and module != "proofstone" and len(tree.body) > 1
    ]
    assert full == []


# Files besides the commands' that import a part of this package in a function.
LATE = {
    "models/registry.py": "a client is loaded by who opens a model of its provider",
    "session/options.py": "commands are listed without what reads languages",
    "session/session.py": "most commands need no settings of models",
    "session/progress.py": "words of spending are needed where something was spent",
}


def test_only_commands_import_late() -> None:
    """What is cheap to load is so by where it stands, not by imports hidden in functions."""
    late = {
        file_of(module).relative_to(SOURCE).as_posix()
        for module, tree in modules().items()
        if not file_of(module).name.startswith("cli")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proofstone")
    }
    assert late == set(LATE)


# Who besides the commands speaks to a person's terminal.
CLICK = {"session/options.py", "session/terminal.py"}


def test_only_commands_speak_to_the_terminal() -> None:
    """A notebook or a service uses everything else without click."""
    found = {
        file_of(module).relative_to(SOURCE).as_posix()
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and any(alias.name == "click" for alias in node.names)
    }
    assert {name for name in found if not name.split("/")[-1].startswith("cli")} == CLICK
