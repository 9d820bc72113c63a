"""Requests for results: scores to read, averaging and models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from proofstone.records.options import BUDGET_HELP, YES_HELP, Opt
from proofstone.records.tables import Audience


class View(Struct, frozen=True, kw_only=True):
    """Selection of scores.

    ``ignore_corrections``: apply no overrides or exclusions. ``scorings`` are ids of scorings that
    replace the current ones of their runs, or "first". ``until``: the state at that time, without
    later scores, overrides and exclusions.
    """

    ignore_corrections: Annotated[bool, Opt(
        "Ignore corrections: no overrides, no exclusions.",
    )] = False  # fmt: skip
    scorings: Annotated[tuple[str, ...], Opt(
        "Read this scoring of its run, or every run's first, instead of the current one.",
        flags=("--scoring",), metavar="ID|first", separated=True,
    )] = ()  # fmt: skip
    until: float | None = None


CURRENT = View()


class BoardAsked(Struct, frozen=True, kw_only=True):
    """Request for a leaderboard.

    ``where`` and ``group_by`` use model cards; ``card_columns`` are shown. Means ``by_document``
    take milliseconds per document and are computed on request. ``by``, ``people`` (a file of human
    verdicts) and ``unverified`` concern printed boards.
    """

    level: Annotated[str, Opt(
        "Average over questions, or over groups of them with equal weight.",
        choices=("sample", "subfield", "field", "discipline"), shows_default=True,
    )] = "sample"  # fmt: skip
    population: Annotated[Literal["domain", "bank"], Opt(
        "Population that confidence intervals generalize to: the domain or this "
        "item bank.",
        shows_default=True,
    )] = "domain"  # fmt: skip
    view: View = CURRENT
    by: Annotated[tuple[str, ...], Opt(
        "Also by discipline, ..., document or position; of triples by domain, popularity, source "
        "or family.", metavar="LEVEL", separated=True,
    )] = ()  # fmt: skip
    group_by: Annotated[str, Opt(
        "Group by the models' cards: kind, lab, family, openness, size or architecture.",
        metavar="FIELD",
    )] = ""  # fmt: skip
    where: Annotated[tuple[str, ...] | str, Opt(
        "Only models whose card fits: kind=reasoning,openness=open, size=10-40.",
        metavar="FIELD=VALUE,...",
    )] = ()  # fmt: skip
    card_columns: Annotated[tuple[str, ...], Opt(
        "Show these model card fields: lab, kind, parameters, released, license, ...",
        flags=("--columns",), metavar="FIELD,...", separated=True,
    )] = ()  # fmt: skip
    people: Annotated[Path | None, Opt(
        "For triples: file of verdicts with the columns people and is_true filled in.",
        flags=("--human-labels",),
        exists=True,
    )] = None  # fmt: skip
    unverified: Annotated[bool, Opt(
        "For triples: rank by elicited triples, verified or not.",
    )] = False  # fmt: skip
    confidence: float = 0.95
    seed: int = 0
    audience: Audience = "internal"
    by_document: bool = False

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return the conditions on model cards as a tuple."""
        texts = (self.where,) if isinstance(self.where, str) else self.where
        return tuple(text for text in texts if text)


class Ask(Struct, frozen=True, kw_only=True):
    """Settings of a comparison of two sides."""

    population: Annotated[Literal["domain", "bank"], Opt(
        "Population that confidence intervals generalize to: the domain or this "
        "item bank.",
        shows_default=True,
    )] = "domain"  # fmt: skip
    confidence: Annotated[float, Opt(least=0.5, most=0.999, shows_default=True)] = 0.95
    seed: Annotated[int, Opt("Random seed.", least=0, shows_default=True)] = 0


class GateAsked(Struct, frozen=True, kw_only=True):
    """Options of a gate in addition to its limit: minimum score in points of 100, and looks."""

    minimum: Annotated[float | None, Opt(
        "With --gate: minimum score of the run itself.", flags=("--min",), metavar="POINTS",
        least=0, most=100,
    )] = None  # fmt: skip
    junit: Annotated[Path | None, Opt(
        "With --gate: write JUnit XML.", metavar="FILE", is_folder=True,
    )] = None  # fmt: skip
    markdown: Annotated[Path | None, Opt(
        "With --gate: write a summary for CI; it names items by id only.", metavar="FILE",
        is_folder=True,
    )] = None  # fmt: skip
    single: Annotated[bool, Opt(
        "With --gate: this is the only planned look at this pair, so intervals are not widened.",
        flags=("--single-look",),
    )] = False  # fmt: skip
    looks: Annotated[Path | None, Opt(
        "With --gate: record looks in FILE (default: in the workspace; for two files, nowhere).",
        metavar="FILE",
    )] = None  # fmt: skip
    rescore: Annotated[bool, Opt(
        "Rescore stored responses first if an older scorer version scored them; makes no API "
        "calls.",
    )] = False  # fmt: skip
    most: Annotated[int, Opt(
        "How many of the items lost to list.", flags=("-n",), least=0, shows_default=True,
    )] = 5  # fmt: skip


class CompareAsked(Struct, frozen=True, kw_only=True):
    """What to read and list for a comparison; ``Ask`` has its settings."""

    most: Annotated[int, Opt(
        "Number of items to list, won and lost each.", flags=("-n",), least=0,
        shows_default=True,
    )] = 5  # fmt: skip
    rescore: Annotated[bool, Opt(
        "Rescore stored responses first if an older scorer version scored them; makes no API "
        "calls.",
    )] = False  # fmt: skip
    view: View = CURRENT


ERRORS = "errors"  # an analysis for which judges are asked


class ErrorsAsked(Struct, frozen=True, kw_only=True):
    """Options of the analysis of wrong responses."""

    judge: Annotated[tuple[str, ...], Opt(
        "With --analysis errors: LLM judge that labels wrong responses; several form a panel.",
        metavar="PROVIDER/NAME,...", separated=True,
    )] = ()  # fmt: skip
    wrong: Annotated[int, Opt(
        "With --analysis errors: wrong responses of each model to label.", metavar="N", least=1,
        shows_default=True,
    )] = 30  # fmt: skip
    human_labels: Annotated[Path | None, Opt(
        "With --analysis errors: sheet of wrong responses with the column label filled in.",
        exists=True,
    )] = None  # fmt: skip
    budget: Annotated[str, Opt(
        BUDGET_HELP, metavar="AMOUNT",
    )] = ""  # fmt: skip
    dry_run: Annotated[bool, Opt(
        "With --analysis errors: estimate judge requests, tokens and cost; make no API calls."
    )] = False  # fmt: skip
    yes: Annotated[bool, Opt(YES_HELP)] = False
    draw_seed: Annotated[int, Opt(
        "With --analysis errors: random seed of the sample.", least=0, shows_default=True,
    )] = 0  # fmt: skip
