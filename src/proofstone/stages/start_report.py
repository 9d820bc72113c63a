"""What a guided start found: documents, ten questions beside their pages, what all of it takes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from proofstone.records import ContextName, Estimate
from proofstone.report.beside_page import QuestionBeside
from proofstone.stages.forecasts import BuildForecast, Range
from proofstone.stages.ingest import IngestReport
from proofstone.stages.start_answers import Answers

__all__ = ["AskingForecast", "SideBySide", "StartReport"]


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
