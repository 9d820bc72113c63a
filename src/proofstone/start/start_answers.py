"""What a person answered in the guided start, kept between the questions, so that leaving at any of
them loses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.ingest.records import IngestReport
from proofstone.page.html import QuestionBeside
from proofstone.records.items import ContextName
from proofstone.records.runs import Estimate
from proofstone.run.forecast import BuildForecast, Range

Want = Literal["memory", "reading", "both"]


WANTS: tuple[Want, ...] = get_args(Want)


_CONTEXTS: dict[Want, tuple[ContextName, ...]] = {
    "memory": ("none",),
    "reading": ("evidence",),
    "both": ("none", "evidence"),
}


_NAME = "start.json"


class Answers(Struct, frozen=True, kw_only=True):
    """The answers so far; None where nothing was said yet. ``licence`` "" means private documents.

    ``languages`` none means all that are found; ``people`` review, 0 nobody; ``budget`` "" none.
    """

    want: Want | None = None
    licence: str | None = None
    languages: tuple[str, ...] | None = None
    writer: str | None = None
    judge: str | None = None
    models: tuple[str, ...] | None = None
    questions: int | None = None
    people: int | None = None
    budget: str | None = None

    def contexts(self, *, private: bool) -> tuple[ContextName, ...]:
        """The contexts that models are asked in; both, where the documents are private: asked with
        nothing alone they would only show that nobody knows them."""
        return _CONTEXTS["both" if private else self.want or "both"]


def kept_answers(mark: Path, documents: Path) -> Answers:
    """The answers of an earlier start on these documents in this workspace; none where there are
    none. Raises BadUsage where their file cannot be read."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except FileNotFoundError:
        return Answers()
    except (OSError, msgspec.MsgspecError) as error:
        raise BadUsage(
            f"{path} cannot be read: {error}", hint="delete it, and the questions are asked again"
        ) from error
    return found.get(str(documents.resolve()), Answers())


def keep_answers(mark: Path, documents: Path, answers: Answers) -> None:
    """Keeps the answers for the next start on these documents."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except (OSError, msgspec.MsgspecError):
        found = {}
    found[str(documents.resolve())] = answers
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    fresh.replace(path)


# What a guided start found: documents, ten questions beside their pages, what all of it takes.


class SideBySide(Struct, frozen=True, kw_only=True):
    """One model on the pilot's questions: with nothing (memory) and with the evidence (reading);
    None where it was not asked so. ``gain`` is reading minus memory, item by item."""

    model: str
    memory: Estimate | None = None
    reading: Estimate | None = None
    gain: Estimate | None = None
    simulated: bool = False


class AskingForecast(Struct, frozen=True, kw_only=True):
    """What asking one model all questions in all contexts takes, from those it was asked; None
    where it cannot be told."""

    model: str
    questions: int
    sampled: int
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None
    failed: Mapping[str, int] = {}


class StartReport(Struct, frozen=True, kw_only=True):
    """All of it. ``documents`` are the files that the pilot's passages came from; ``private``: the
    license of one that was read permits no publication, or it has none."""

    folder: str
    answers: Answers
    private: bool
    contexts: tuple[ContextName, ...]
    read: IngestReport
    languages: Mapping[str, int]
    documents: tuple[str, ...]
    n_passages: int
    build: BuildForecast
    bank: str
    n_statements: int
    form: str
    questions: tuple[QuestionBeside, ...]
    single_statements: bool
    asked: tuple[AskingForecast, ...]
    side_by_side: tuple[SideBySide, ...]
    run_file: str
    page: str
    next_steps: tuple[tuple[str, str], ...]
