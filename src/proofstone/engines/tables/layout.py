"""What the columns of a table of results mean: what a user names, and what is found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from proofstone.records.results import Outcome
from proofstone.wording import listed, noted, say, word

__all__ = ["ONES", "Graded", "Kind", "Layout", "Rule"]

Kind = Literal["wide", "long", "accuracies", "labels", "models"]
# Why a column is the score: a user named it, it is the overall, the only metric, the metric called
# score, the one that combines the others, the one that the ranks or the rows follow, the only
# column of scores, or the mean of groups whose numbers of items are known.
Rule = Literal["", "overall", "only", "generic", "combines", "ranks", "sorted"]
# How letters become scores: by the right answers of a column, or as the grades A, B and C.
Graded = Literal["", "gold", "grades"]

_RULES: Mapping[Rule, str] = {
    "only": noted("the only metric"),
    "generic": noted("called the score"),
    "combines": noted("combines the other metrics"),
    "ranks": noted("the rank column follows it"),
    "sorted": noted("the rows are sorted by it"),
}

# The roles that one column has, in the order in which they are told.
ONES = (
    "item", "model", "way", "score", "sample", "outcome", "answer", "gold", "options", "simulated",
    "certainty", "tokens", "order", "count", "overall", "stderr", "rank", "low", "high", "human",
    "judge", "annotator", "parameters", "active", "family", "grader",
)  # fmt: skip
_MOST_SHOWN = 4
_GRADED: Mapping[Graded, str] = {
    "gold": noted("correct where they equal the answer key"),
    "grades": noted(
        "grades: A correct, B incorrect, C not attempted (B and C score 0; if these are answers, "
        "name the answer key with --gold)"
    ),
}


class Layout(Struct, frozen=True, kw_only=True):
    """The role of each column; empty where there is none, or, of a user's, where it is not named.

    ``wide``: one row an item, ``models`` are columns of scores. ``long``: one row a score, under
    ``model`` and ``score``. ``accuracies``: one row a model (``models`` are then strata, columns of
    accuracies, with ``overall`` apart, the score that models are ranked by), or one a model and
    stratum with ``score`` and ``count``; ``metrics`` are columns that are shown beside the score
    and never averaged with it, and ``rule`` says why that column is the score.
    ``graded``: how letters become scores, by the ``gold`` column or as grades.
    ``models``: no scores, but what models are: ``parameters``, ``active`` and ``family``.
    ``labels``: no scores, but several annotators' labels, a column each, or with ``annotator`` one
    row a label. These may stand beside scores as well, as may ``human`` and ``judge``, labels of
    the same records by people and by a judge. ``order`` is that in which options were shown. None
    of these is guessed. ``parameters``, ``active`` and ``family`` say what a record's model is;
    ``grader`` names the judge that gave a record's score.
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
    grader: str = ""
    stderr: str = ""
    rank: str = ""
    low: str = ""
    high: str = ""
    rule: Rule = ""
    graded: Graded = ""
    metrics: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    percent: bool | None = None
    unused: tuple[str, ...] = ()
    unknown_outcomes: tuple[Outcome, ...] = ()
    missing: tuple[str, ...] = ()

    def taken(self) -> set[str]:
        """The columns that have a role, and the empty name where a role has none."""
        ones = {getattr(self, role) for role in ONES}
        return {
            *ones, *self.models, *self.strata, *self.clusters, *self.labels, *self.metrics
        }  # fmt: skip

    def free(self, names: Iterable[str]) -> list[str]:
        """Those of the columns that have no role."""
        taken = self.taken()
        return [name for name in names if name not in taken]

    def told(self) -> str:
        """The roles in one line, as a user would name them."""
        return say("; ").join(self._parts())

    def _parts(self) -> Iterator[str]:
        for role in ONES:
            if column := getattr(self, role):
                why = _RULES.get(self.rule, "") if role == "overall" else ""
                shown = say("{column} ({why})", column=column, why=word(why)) if why else column
                yield say("{role}: {columns}", role=word(role), columns=shown)
        groups = {
            "other metrics, shown and not averaged": _named(self.metrics),
            "strata" if self.kind == "accuracies" else "models": _named(self.models),
            "by" if self.kind == "accuracies" else "strata": listed(self.strata),
            "clusters": listed(self.clusters),
            "labels": listed(self.labels),
            "scores": say("percent, divided by 100") if self.percent else "",
            "letters": word(_GRADED[self.graded]) if self.graded else "",
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
