"""What a comparison of two sets of results holds: terminal, JSON and files all show the same."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proofstone.engines.stats import McNemar, Resolution, SignFlip
from proofstone.records.results import Estimate

__all__ = [
    "FILE",
    "Change",
    "Compared",
    "Difference",
    "Factor",
    "Moved",
    "PairCompared",
    "Party",
    "RateCompared",
    "SideShown",
    "TriplesCompared",
]

Factor = Literal[
    "model", "served", "endpoint", "items", "way", "context", "template", "settings", "samples",
    "replicate", "scorer", "judge", "corrections", "measure", "source",
]  # fmt: skip


# What a side holds that is no row of a workspace.
FILE = "a file of results"


class Party(Struct, frozen=True, kw_only=True):
    """One respondent of one side, and what ``made`` its scores, as text by factor; what is not
    known has no entry. ``asked`` are the settings that it was asked with."""

    name: str
    way: str = ""
    settings: str = ""
    simulated: bool = False
    runs: tuple[str, ...] = ()
    made: dict[str, str] = {}
    asked: dict[str, str] = {}
    n_replies: int = 0
    missing: int = 0
    failed: int = 0

    @property
    def label(self) -> str:
        """The respondent as a sentence names it."""
        return " ".join(part for part in (self.name, self.way, self.settings) if part)

    @property
    def is_complete(self) -> bool:
        """Whether every reply that was expected came."""
        return not self.missing and bool(self.n_replies)


class SideShown(Struct, frozen=True, kw_only=True):
    """One side as it was named, what it is, and how many items it has."""

    name: str
    holds: str
    n_items: int
    n_retired: int = 0


class Change(Struct, frozen=True, kw_only=True):
    """Something that differs between the two, and what follows for the comparison."""

    factor: Factor
    before: str
    after: str
    consequence: str


class Moved(Struct, frozen=True, kw_only=True):
    """An item that one of the two scores higher on; ``text`` is its first words, where known.
    ``before_ended`` and ``after_ended`` say how the responses ended: right, wrong, answered (a
    score between), refused, unparsed, truncated; empty where the results do not tell."""

    item: str
    before: float
    after: float
    text: str = ""
    before_ended: str = ""
    after_ended: str = ""


class Difference(Struct, frozen=True, kw_only=True):
    """B minus A on the items that both have scores of.

    ``before`` and ``after`` are the two means there. ``p`` is that of the clustered t-test,
    ``p_holm`` the same corrected for all pairs of this comparison. ``permutation`` is None where
    clusters overlap, so that nothing can be swapped apart. ``resolves`` says what a difference
    these items find.
    """

    before: Estimate
    after: Estimate
    estimate: Estimate
    p: float
    p_holm: float
    mcnemar: McNemar
    permutation: SignFlip | None
    resolves: Resolution
    rises: int
    falls: int
    level: int


class PairCompared(Struct, frozen=True, kw_only=True):
    """One respondent of A against one of B.

    ``cannot`` says what could not be compared and why; without ``difference`` nothing could.
    ``only_before`` and ``only_after`` count items of one side alone, ``renewed`` those of B that
    are new versions of items of A, ``unscored`` common ones without a score on either side.
    ``won`` and ``lost`` are the items on which B scores higher and lower.
    """

    before: Party
    after: Party
    changes: tuple[Change, ...]
    means: str
    cannot: tuple[str, ...]
    n_common: int
    only_before: int
    only_after: int
    renewed: int
    unscored: int
    difference: Difference | None = None
    won: tuple[Moved, ...] = ()
    lost: tuple[Moved, ...] = ()


class RateCompared(Struct, frozen=True, kw_only=True):
    """B minus A in one figure of verified triples; ``p`` is that of the clustered t-test."""

    name: str
    before: Estimate
    after: Estimate
    estimate: Estimate
    p: float


class TriplesCompared(Struct, frozen=True, kw_only=True):
    """F1, precision and recall of two runs whose triples were verified alike, entities drawn for
    both at once. ``unparsed`` are the shares of verdicts of precision and of recall, A's and B's,
    that could not be parsed. ``cannot`` says why there are none."""

    rates: tuple[RateCompared, ...] = ()
    judges: str = ""
    reference: str = ""
    sampling: str = ""
    entities: int = 0
    unparsed: tuple[tuple[float, float], ...] = ()
    cannot: str = ""


class Compared(Struct, frozen=True, kw_only=True):
    """A and B under one measure. ``unpaired`` respondents stand on one side alone. ``rescore`` says
    whether some replies were scored by an older version than today's. ``triples`` are those of two
    runs, where they were verified."""

    before: SideShown
    after: SideShown
    measure: str
    denominator: str
    estimand: str
    confidence: float
    pairs: tuple[PairCompared, ...]
    unpaired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rescore: str = ""
    seed: int = 0
    triples: TriplesCompared | None = None

    def __str__(self) -> str:
        from proofstone.report.between.compare_text import (  # noqa: PLC0415 - it reads these
            render_compared,
        )

        return render_compared(self).rstrip("\n")
