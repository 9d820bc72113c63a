"""What the columns of a table of results mean: what a user names, and what is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from proofstone.records.results import Outcome
from proofstone.wording import listed, say, word

__all__ = ["ONES", "Kind", "Layout"]

Kind = Literal["wide", "long", "accuracies", "labels"]

# The roles that one column has, in the order in which they are told.
ONES = (
    "item", "model", "way", "score", "sample", "outcome", "answer", "gold", "options", "simulated",
    "certainty", "tokens", "order", "count", "overall", "human", "judge", "annotator",
    "parameters", "active", "family",
)  # fmt: skip
_MOST_SHOWN = 4


class Layout(Struct, frozen=True, kw_only=True):
    """The role of each column; empty where there is none, or, of a user's, where it is not named.

    ``wide``: one row an item, ``models`` are columns of scores. ``long``: one row a score, under
    ``model`` and ``score``. ``accuracies``: one row a model (``models`` are then strata, columns of
    accuracies, with ``overall`` apart), or one a model and stratum with ``score`` and ``count``.
    ``labels``: no scores, but several annotators' labels, a column each, or with ``annotator`` one
    row a label. These may stand beside scores as well, as may ``human`` and ``judge``, labels of
    the same records by people and by a judge. ``order`` is that in which options were shown. None
    of these is guessed. ``parameters``, ``active`` and ``family`` say what a record's model is.
    ``percent``: scores are from 0 to 100; None where a user leaves that to the reader. ``unused``
    are columns that nothing reads; ``unknown_outcomes`` those of which the column ``outcome`` says
    nothing. ``missing`` are the spellings of missing scores that occur.
    """

    kind: Kind | None = None
    item: str = ""
    model: str = ""
    way: str = ""
    score: str = ""
    sample: str = ""
    outcome: str = ""
    answer: str = ""
    gold: str = ""
    options: str = ""
    simulated: str = ""
    certainty: str = ""
    tokens: str = ""
    count: str = ""
    overall: str = ""
    human: str = ""
    judge: str = ""
    annotator: str = ""
    order: str = ""
    parameters: str = ""
    active: str = ""
    family: str = ""
    labels: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    percent: bool | None = None
    unused: tuple[str, ...] = ()
    unknown_outcomes: tuple[Outcome, ...] = ()
    missing: tuple[str, ...] = ()

    def told(self) -> str:
        """The roles in one line, as a user would name them."""
        return say("; ").join(self._parts())

    def _parts(self) -> Iterator[str]:
        for role in ONES:
            if column := getattr(self, role):
                yield say("{role}: {columns}", role=word(role), columns=column)
        groups = {
            "strata" if self.kind == "accuracies" else "models": _named(self.models),
            "by" if self.kind == "accuracies" else "strata": listed(self.strata),
            "clusters": listed(self.clusters),
            "labels": listed(self.labels),
            "scores": say("percent, divided by 100") if self.percent else "",
            "missing": _spellings(self.missing) if self.missing else "",
            "not used": _named(self.unused),
        }
        for what, names in groups.items():
            if names:
                yield say("{role}: {columns}", role=word(what), columns=names)


def _spellings(missing: tuple[str, ...]) -> str:
    return say("empty or {spellings}", spellings=listed(missing))


def _named(names: tuple[str, ...]) -> str:
    if len(names) <= _MOST_SHOWN:
        return listed(names)
    return say(
        "{n} columns ({first}, ... {last})",
        n=len(names),
        first=listed(names[: _MOST_SHOWN - 1]),
        last=names[-1],
    )
