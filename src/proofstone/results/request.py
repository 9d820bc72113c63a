"""What is asked for of results: which scores are read, how they are averaged, and whose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from proofstone.records.options import Opt
from proofstone.records.tables import Audience


class View(Struct, frozen=True, kw_only=True):
    """Which scores are read. ``ignore_corrections``: no ruling and no retirement is applied.
    ``scorings`` are digits of scorings that stand for the current ones of their runs, or "first".
    ``until``: as it stood at that time, with nothing that was scored, ruled or retired since."""

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
    """How respondents are ranked, and what stands beside it.

    ``where`` and ``group_by`` go by the models' cards, of which ``card_columns`` are shown. Means
    ``by_document`` take milliseconds a document, and are made where they are asked for. ``by``,
    ``people`` (a file of their verdicts) and ``unverified`` are of what is printed of a board.
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
        """What models' cards are to meet, one text or several."""
        texts = (self.where,) if isinstance(self.where, str) else self.where
        return tuple(text for text in texts if text)


class Ask(Struct, frozen=True, kw_only=True):
    """How two sides are compared."""

    population: Annotated[Literal["domain", "bank"], Opt(
        "Population that confidence intervals generalize to: the domain or this "
        "item bank.",
        shows_default=True,
    )] = "domain"  # fmt: skip
    confidence: Annotated[float, Opt(least=0.5, most=0.999, shows_default=True)] = 0.95
    seed: Annotated[int, Opt("Random seed.", least=0, shows_default=True)] = 0


class GateAsked(Struct, frozen=True, kw_only=True):
    """What a gate asks besides its limit: a score in points of 100, and which looks there are."""

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
    """What is read and listed of a comparison; how it is made says ``Ask``."""

    most: Annotated[int, Opt(
        "Number of items to list, won and lost each.", flags=("-n",), least=0,
        shows_default=True,
    )] = 5  # fmt: skip
    rescore: Annotated[bool, Opt(
        "Rescore stored responses first if an older scorer version scored them; makes no API "
        "calls.",
    )] = False  # fmt: skip
    view: View = CURRENT
