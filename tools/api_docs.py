"""docs/reference/api.md lists what a workspace can do in a notebook: every method of ``Workspace``.

python -m tools.api_docs            # write it from proofstone.api
python -m tools.api_docs --check    # fail if it is out of date
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from proofstone import api
from proofstone.records.options import declared_option
from tools.generated import settle
from tools.resolved import ROOT

HEADER = """\
# Proofstone from Python

Reference · for people who work in notebooks and scripts

```python
import proofstone

workspace = proofstone.create_workspace("my-benchmark")
bank = workspace.build_bank("statements", ["elements", "countries"], name="tables")
forms = workspace.build_form(bank, seeds=[0, 1], questions=20)
workspace.run(forms, models="sim/knows?ability=0.9")
print(workspace.leaderboard(bank))
```

`create_workspace(folder)` creates and opens a workspace. `open_workspace(folder)` opens the one in
a folder or above it. A workspace is a context manager. A *target* is a name, an id or its first
digits (`form:9ab3c4d1`), or a record that another method returned. This page is generated from
`src/proofstone/api.py` by `make reference`.
"""


class _Written(str):
    """An annotation as written in the source."""

    def __repr__(self) -> str:
        return str(self)


def sections() -> Iterator[tuple[str, list[str]]]:
    """Yield the headings of ``Workspace`` in source order, each with its names."""
    heading, names = "", list[str]()
    for line in inspect.getsource(api.Workspace).splitlines():
        if begun := re.fullmatch(r"    # (.+)", line):
            if names:
                yield heading, names
            heading, names = begun[1], []
        elif stated := re.match(r"    (\w+) = Verb\(", line):
            names.append(stated[1])
    yield heading, names


def entry(name: str) -> str:
    """Return a method's signature and the first paragraph of its docstring."""
    function = getattr(api.Workspace, name)
    signature = inspect.signature(function)
    own = [
        each.replace(annotation=_Written(each.annotation))
        for each in signature.parameters.values()
        if each.name != "session"
    ]
    returned = _Written(signature.return_annotation)
    called = str(signature.replace(parameters=own, return_annotation=returned))
    called = called.replace("mappingproxy({})", "{}")
    says = (inspect.getdoc(function) or "").split("\n\n")[0].replace("``", "`")
    module = function.__module__.removeprefix("proofstone.")
    return (
        f"### {name}\n\n```text\nworkspace.{name}{called}\n```\n\n{says}\n\n"
        f"{''.join(keywords(function))}`{module}.{function.__name__}`\n"
    )


def keywords(function: Callable[..., Any]) -> Iterator[str]:
    """Yield a table of fields for each record that a docstring names as "fields of
    ``module.Record``".

    Parameters in the function's signature are omitted.
    """
    stated = inspect.signature(function).parameters
    for module, name in re.findall(
        r"fields of\s+``([\w.]+)\.(\w+)``", inspect.getdoc(function) or ""
    ):
        record = getattr(import_module(f"proofstone.{module}"), name)
        types = inspect.get_annotations(record)
        rows = [
            f"| `{each.name}: {_type(types[each.name])}` | `{default_of(each)!r}` "
            f"| {help_of(each)} |\n"
            for each in fields(record)
            if each.name in types and each.name not in stated
        ]
        yield f"| fields of `{name}` | default | |\n|---|---|---|\n{''.join(rows)}\n"


def _type(annotation: str) -> str:
    """Return a type as written, without ``Annotated``, with escaped bars."""
    tree = ast.parse(annotation, mode="eval").body
    match tree:
        case ast.Subscript(value=ast.Name("Annotated"), slice=ast.Tuple(elts=[first, *_])):
            tree = first
    return ast.unparse(tree).replace("|", "\\|")


def default_of(field: FieldInfo) -> Any:
    """Return the default of a field."""
    return field.default if field.default is not NODEFAULT else field.default_factory()


def help_of(field: FieldInfo) -> str:
    """Return the help of a field's option."""
    _kind, option = declared_option(field.type)
    return (option.help or "") if option is not None else ""


def page() -> str:
    """Return the page."""
    parts = [HEADER]
    for heading, names in sections():
        parts.append(f"## {heading.capitalize()}\n")
        parts += [entry(name) for name in names]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(settle(ROOT / "docs" / "reference" / "api.md", page(), sys.argv[1:], "make reference"))
