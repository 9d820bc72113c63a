"""Evidence for sections: the leaderboard and the scores behind it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from proofstone.page.section import Level, points
from proofstone.records.reviews import Upkeep
from proofstone.records.runs import Estimate, Population
from proofstone.records.scores import Accuracies, Annotated, Judged, ScoreTable
from proofstone.records.tables import Audience
from proofstone.results.board import Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.measured_scores import Sheet
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import Spread, mean_estimates, measure_spread
from proofstone.stats.intervals import Weighting, equal_weights, group_weights
from proofstone.stats.power import Separation, separations
from proofstone.stats.stability import Shrinkage, shrink_scores
from proofstone.wording.messages import say


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Evidence:
    """Evidence for sections.

    ``board`` is the leaderboard, ``sheet`` the scores under its measure (None without items),
    ``accuracies`` a table without items. ``judged`` are labels by people and a judge, ``annotated``
    those of several annotators. ``upkeep`` are records on items of the workspace. ``statements``
    are scores of the parts of items for the same models. ``families`` maps models to the families
    in a file. ``seed`` is the random seed of all resampling; ``population`` is the target
    population of intervals.
    """

    board: Leaderboard
    sheet: Sheet | None = None
    accuracies: Accuracies | None = None
    judged: Judged | None = None
    annotated: Annotated | None = None
    upkeep: Upkeep | None = None
    statements: Sheet | None = None
    families: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    population: Population = "domain"


# Values shared by several sections are computed once.

Made = TypeVar("Made")


def once_each(make: Callable[[Evidence], Made]) -> Callable[[Evidence], Made]:
    """Return ``make`` with a cache by evidence that lasts as long as the evidence."""
    kept: WeakKeyDictionary[Evidence, Made] = WeakKeyDictionary()

    @wraps(make)
    def made(evidence: Evidence) -> Made:
        if evidence not in kept:
            kept[evidence] = make(evidence)
        return kept[evidence]

    return made


@dataclass(frozen=True)
class RankedValues:
    """Values (units, models) of a standing that ranks two or more models on common items.

    Models are sorted best first. ``units`` and ``respondents`` (m) are indices in the score table.
    ``strata`` (units) are codes into ``stratum_names`` of the level with the fewest groups, None
    without several groups. ``weighting`` is that of the ranking. Values stated in both the summary
    and a section are computed here, so that they agree.
    """

    group: Standings
    sheet: Sheet
    values: NDArray[np.float64]
    units: NDArray[np.int64]
    respondents: tuple[int, ...]
    keys: SharedKeys
    level: str
    strata: NDArray[np.int32] | None
    stratum_names: tuple[str, ...]
    weighting: Weighting
    population: Population
    confidence: float
    seed: int

    @cached_property
    def labels(self) -> list[str]:
        """Return the labels of the models."""
        return [row.label for row in self.group.ranked]

    @property
    def clusters(self) -> SharedKeys | None:
        """Return the clusters of items, None if they are independent."""
        return self.keys if self.population == "domain" else None

    @property
    def dependent_keys(self) -> SharedKeys | None:
        """Return the clusters of all units of the score table, None if they are independent."""
        return self.sheet.keys if self.population == "domain" else None

    def means(
        self, values: NDArray[np.float64], units: NDArray[np.int64] | None = None
    ) -> tuple[Estimate, ...]:
        """Return the mean of each column of ``values`` (units, m) with its interval.

        ``units`` restricts it to some of the ranked units (indices).
        """
        return mean_estimates(
            values,
            equal_weights(len(values)),
            self.keys if units is None else self.keys.among(units),
            population=self.population,
            confidence=self.confidence,
        )

    def known_mean(self, values: NDArray[np.float64]) -> Estimate | None:
        """Return the mean of the values (units) that are not NaN; None if all are."""
        known = np.flatnonzero(~np.isnan(values))
        return self.means(values[known][:, None], known)[0] if len(known) else None

    @cached_property
    def spread(self) -> Spread:
        """Return the sampling error of the scores under the ranking's weights."""
        return measure_spread(self.values, self.weighting, self.keys, self.population)

    @cached_property
    def shrinkage(self) -> Shrinkage | None:
        """Return true scores under the hierarchical model, with the probability of being best."""
        return shrink_scores(self.spread, confidence=self.confidence, seed=self.seed)

    @property
    def n_pairs(self) -> int:
        """Return the number of pairs in the ranking."""
        return len(self.group.compared)

    @property
    def adjusted_confidence(self) -> float:
        """Return the confidence per pair that gives simultaneous coverage of all pairs
        (Bonferroni)."""
        return 1.0 - (1.0 - self.confidence) / self.n_pairs

    def separations(self, pairs: Sequence[tuple[int, int]] | None = None) -> tuple[Separation, ...]:
        """Return the number of questions needed for a significant difference of each of ``pairs``.

        The default is adjacent pairs. The level is adjusted for all pairs of the ranking.
        """
        return separations(self.spread, pairs, confidence=self.adjusted_confidence)


def ranked_values(evidence: Evidence) -> RankedValues | None:
    """Return the values behind the first ranking; None without items or with fewer than two
    models."""
    group = next((group for group in evidence.board.standings if group.compared), None)
    return None if group is None else values_of(evidence, group)


def values_of(evidence: Evidence, group: Standings) -> RankedValues | None:
    """Return the values behind one ranking; None without items or with fewer than two models."""
    place = next(n for n, each in enumerate(evidence.board.standings) if each is group)
    return _all_values(evidence)[place]


@once_each
def _all_values(evidence: Evidence) -> list[RankedValues | None]:
    return [_values(evidence, group) for group in evidence.board.standings]


def _values(evidence: Evidence, group: Standings) -> RankedValues | None:
    sheet = evidence.sheet
    if sheet is None or not group.compared:
        return None
    places = {
        (who.name, who.prompt_method, who.settings, who.simulated): place
        for place, who in enumerate(sheet.table.respondents)
    }
    chosen = tuple(
        places[row.name, row.prompt_method, row.settings, row.simulated] for row in group.ranked
    )
    units = np.flatnonzero(~np.isnan(sheet.values[:, list(chosen)]).any(axis=1))
    names = sheet.table.stratum_names
    several = (level for level in names if len(names[level]) > 1)
    level = min(several, key=lambda level: len(names[level]), default="")
    return RankedValues(
        group=group,
        sheet=sheet,
        values=sheet.block(units, chosen),
        units=units,
        respondents=chosen,
        keys=sheet.keys.among(units),
        level=level,
        strata=sheet.table.strata[level][units] if level else None,
        stratum_names=names[level] if level else (),
        weighting=group_weights(sheet.table.strata[weighed][units])
        if (weighed := evidence.board.level) in sheet.table.strata
        else equal_weights(len(units)),
        population=evidence.population,
        confidence=evidence.board.confidence,
        seed=evidence.seed,
    )


# Scores and answers of the ranked models, by item, model and sample.


@dataclass(frozen=True, slots=True)
class Responses:
    """Scores and answers (units, models, samples).

    ``scores`` are NaN if missing. ``answers`` are codes into the score table's ``answers``, -1 if
    unknown. ``stated`` confidence and the ``orders`` of options (-1 if unknown) are None if not
    recorded.
    """

    scores: NDArray[np.float64]
    answers: NDArray[np.int32]
    stated: NDArray[np.float64] | None = None
    orders: NDArray[np.int32] | None = None


def responses_of(sheet: Sheet, ranked: RankedValues) -> Responses:
    """Return the responses behind the ranked values."""
    table = sheet.table
    unit = np.full(len(table.items), -1, dtype=np.int64)
    unit[ranked.units] = np.arange(len(ranked.units))
    column = np.full(len(table.respondents), -1, dtype=np.int64)
    column[list(ranked.respondents)] = np.arange(len(ranked.respondents))
    u, r = unit[table.unit], column[table.respondent]
    kept = (u >= 0) & (r >= 0)
    n_samples = int(table.sample[kept].max(initial=0)) + 1
    shape = (len(ranked.units), len(ranked.respondents), n_samples)
    scores = np.full(shape, np.nan)
    answers = np.full(shape, -1, dtype=np.int32)
    place = u[kept], r[kept], table.sample[kept]
    scores[place] = sheet.counted[kept]
    if any(table.answers):
        empty = [code for code, name in enumerate(table.answers) if not name]
        answers[place] = np.where(np.isin(table.answer[kept], empty), -1, table.answer[kept])
    stated = None
    if table.confidence is not None:
        stated = np.full(shape, np.nan)
        stated[place] = table.confidence[kept]
    orders = None
    if table.order is not None:
        orders = np.full(shape, -1, dtype=np.int32)
        orders[place] = table.order[kept]
    return Responses(scores, answers, stated, orders)


def key_codes(sheet: Sheet, ranked: RankedValues) -> NDArray[np.int64]:
    """Return the answer key of each ranked unit as an answer code.

    -1 if no model gave that answer or the key is unknown.
    """
    table = sheet.table
    places = {name: code for code, name in enumerate(table.answers) if name}
    codes = np.array([*(places.get(name, -1) for name in table.answer_keys), -1], dtype=np.int64)
    return np.asarray(codes[table.answer_key[ranked.units]])


# An answer that does not reveal its question: option letters or numbers, or a verdict.
_LETTERS = re.compile(r"[A-Za-z0-9]?|[A-Z]([,; ]+[A-Z])+")


_VERDICTS = frozenset({"true", "false", "yes", "no", "correct", "incorrect"})


# A longer name of a group or label may be a text.
_LONGEST_NAME = 80


def table_for(table: ScoreTable, audience: Audience, *, keep: Collection[str] = ()) -> ScoreTable:
    """Return the scores as the audience may see them.

    For the public, items of a file are named by number (``item 17``, from 1, in order of
    appearance), because a name may be the question itself. Ids of the workspace are kept. Answers
    and answer keys are kept if they are option letters or numbers, true or false, or in ``keep``;
    others become ``answer 3``. Groups and documents keep names of up to 80 characters.
    """
    if audience == "internal":
        return table
    documents = table.documents
    if documents is not None:
        documents = replace(documents, names=_short_names(documents.names, "document"))
    masks = _masked_answers((*table.answers, *table.answer_keys), keep)
    # A cluster key in a file may be a text, like an item's name; fact ids are kept.
    keys = {key: f"key {place}" for place, key in enumerate(sorted(table.key_names), start=1)}
    return replace(
        table,
        item_names=tuple(f"item {place}" for place, _ in enumerate(table.item_names, start=1)),
        item_texts=(),
        key_names=keys if table.item_names else table.key_names,
        answers=tuple(masks[name] for name in table.answers),
        answer_keys=tuple(masks[name] for name in table.answer_keys),
        stratum_names={
            level: _short_names(names, "group") for level, names in table.stratum_names.items()
        },
        group_names={
            name: _short_names(names, "group") for name, names in table.group_names.items()
        },
        documents=documents,
    )


def judged_for(judged: Judged | None, audience: Audience) -> Judged | None:
    """Return labels as the audience may see them: for the public, names of up to 80 characters."""
    if judged is None or audience == "internal":
        return judged
    return replace(judged, labels=_short_names(judged.labels, "label"))


def annotated_for(annotated: Annotated | None, audience: Audience) -> Annotated | None:
    """Return annotators' labels as the audience may see them.

    For the public, annotators are anonymous, because they may be people; labels have up to 80
    characters.
    """
    if annotated is None or audience == "internal":
        return annotated
    return replace(
        annotated,
        labels=_short_names(annotated.labels, "label"),
        annotators=tuple(
            f"annotator {place}" for place, _ in enumerate(annotated.annotators, start=1)
        ),
    )


def _masked_answers(names: Sequence[str], keep: Collection[str]) -> Mapping[str, str]:
    """Map each answer to its replacement; different answers stay different."""
    closed = {name for name in names if _LETTERS.fullmatch(name) or name.lower() in _VERDICTS}
    closed.update(keep)
    texts = [name for name in dict.fromkeys(names) if name not in closed]
    return {name: name for name in names} | {
        name: f"answer {place}" for place, name in enumerate(texts, start=1)
    }


def _short_names(names: Sequence[str], word: str) -> tuple[str, ...]:
    return tuple(
        name if len(name) <= _LONGEST_NAME else f"{word} {place}"
        for place, name in enumerate(names, start=1)
    )


def chance_levels(group: Standings) -> tuple[Level, ...]:
    """Return the chance level as a line, if guessing has a meaning."""
    if math.isnan(group.chance):
        return ()
    return (Level(value=group.chance, text=say("chance {points}", points=points(group.chance))),)
