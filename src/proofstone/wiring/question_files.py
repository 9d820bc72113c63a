"""Files of questions: which method reads one as items or as facts, and ``run FILE``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from proofstone.engines.ingest import SUFFIXES, RowReader
from proofstone.errors import BadInput, BadUsage
from proofstone.methods import find_method, method_names
from proofstone.ports import ReadsFacts, ReadsQuestions
from proofstone.records import ItemSet
from proofstone.stages.run_request import RunRequest

if TYPE_CHECKING:
    from proofstone.wiring.workspace import Workspace

__all__ = [
    "is_question_file",
    "method_of_bank_file",
    "method_of_file",
    "method_of_reference",
    "with_question_files",
]

_LOOKED_AT = 20  # rows whose columns tell what a file holds


def is_question_file(target: str) -> bool:
    """Whether a target is a file of rows; no form or bank is named so."""
    path = Path(target)
    suffix = path.suffixes[-2:][0] if path.suffix == ".gz" else path.suffix
    return suffix.lower() in SUFFIXES and path.is_file()


def method_of_bank_file(path: Path, *, otherwise: str, encoding: str = "") -> str:
    """The name of the method that reads a file as facts, by its columns; ``otherwise`` where none
    says so. Raises BadUsage where several do, and what reading raises."""
    columns = _columns(RowReader(path, encoding=encoding))
    found = []
    for name in method_names():
        method = find_method(name)
        if isinstance(method, ReadsFacts) and method.recognises_facts(columns):
            found.append(name)
    if len(found) > 1:
        raise _ambiguous(path, found, "bank")
    return found[0] if found else otherwise


def method_of_reference(path: Path, *, encoding: str = "") -> str:
    """The name of the method that reads a file as a reference. Raises BadInput where it says
    nothing of what it names, and what reading raises."""
    from proofstone.methods.bequ.reference import has_knowledge  # noqa: PLC0415

    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    if not has_knowledge(columns):
        raise BadInput(
            f"{path} holds no reference: its columns are {', '.join(columns) or 'none'}",
            reader.problems,
            hint="expected entity; and predicate and object, or text, or lists of triples "
            "(triples_wiki, triples_web, triples)",
        )
    return "bequ"


def method_of_file(path: Path, *, otherwise: str = "", encoding: str = "") -> str:
    """The name of the method that reads the questions of a file, by its columns; ``otherwise``
    where none does.

    Raises BadInput where there is none, BadUsage where several would, and what reading raises.
    """
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    found = list(_reading(columns))
    if not found and otherwise:
        return otherwise
    if not columns:
        raise BadInput(f"{path} holds no questions", reader.problems)
    if len(found) > 1:
        raise _ambiguous(path, found, "form")
    if not found:
        raise BadInput(
            f"{path} holds no questions that are known here: its columns are {', '.join(columns)}",
            hint="expected question and answer; or question, options and answer; "
            "of entities: proofstone import FILE --as entities",
        )
    return found[0]


def with_question_files(
    workspace: Workspace, request: RunRequest, tell: Callable[[ItemSet], None] | None = None
) -> RunRequest:
    """The request with the form of each file among its targets in the file's place, imported where
    it is not there yet; each is told of."""
    targets = []
    for target in request.targets:
        if not is_question_file(target):
            targets.append(target)
            continue
        path = Path(target)
        form = workspace.import_form(path, method=method_of_file(path))
        if tell is not None:
            tell(form)
        targets.append(f"form:{form.id.hex()}")
    return structs.replace(request, targets=tuple(targets))


def _columns(reader: RowReader) -> dict[str, None]:
    """The columns of the first rows, each once."""
    return {name: None for row in islice(reader, _LOOKED_AT) for name in row.values}


def _ambiguous(path: Path, found: Sequence[str], kind: str) -> BadUsage:
    return BadUsage(
        f"{path} could be read by {' and '.join(found)}",
        hint=f"say which: proofstone import FILE --as {kind} --method NAME",
    )


def _reading(columns: dict[str, None]) -> Iterator[str]:
    for name in method_names():
        method = find_method(name)
        if isinstance(method, ReadsQuestions) and method.recognises(columns):
            yield name
