"""Collect verified runs for the experiments: their settings, elicited triples and verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.methods.bequ.records import Against, EntityFacts, VerifiedRuns
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow, count_verified
from proofstone.methods.bequ.verification.measures import group_sums
from proofstone.methods.bequ.verification.stored_verdicts import against_of, verified_scorings
from proofstone.page.section import Column, Figure, estimate_mark, shown_estimate
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import LEFT_OUT, PROMPT_NAME, shown_name
from proofstone.records.runs import Estimate, Run, configuration_id, responses_wanted
from proofstone.run.forms import Selection
from proofstone.stats.ratios import (
    BootstrapRatios,
    MadeOf,
    bootstrap_ratios,
    estimate_together,
    harmonic_mean,
)
from proofstone.store.store import Store
from proofstone.wording.messages import counted, say, word

# Counts by entity and group, and joint estimates over several groups.

Floats = NDArray[np.float64]


Chosen = NDArray[np.bool_]


SHARES = ("precision", "recall", "contradiction", "unparsed", "recall_unparsed")


DIFFERENT = ("f1", "precision", "recall", "contradiction", "triples")  # measures that are compared


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Hold counts by entity (E) and group (G).

    ``hits`` of ``sampled`` triples (E, G, 5) are the numerators and denominators of ``SHARES``.
    ``said`` (E, G) counts the elicited triples of ``responses`` (E, G). Non-existent entities are
    included, sampled or not. ``sampled`` excludes waiting triples.
    """

    entities: tuple[EntityFacts, ...]
    hits: Floats
    sampled: Floats
    said: Floats
    responses: Floats

    @property
    def is_real(self) -> Chosen:
        """Return which entities exist (E)."""
        return np.array([not facts.is_nonexistent for facts in self.entities], dtype=bool)

    def where(self, field: str, value: str) -> Chosen:
        """Return which entities have this value of a field (E)."""
        return np.array([getattr(facts, field) == value for facts in self.entities], dtype=bool)

    def triples_each(self, group: int, chosen: Chosen) -> float | None:
        """Return triples per response of a group about these entities; None without a response."""
        responses = float(self.responses[chosen, group].sum())
        return float(self.said[chosen, group].sum()) / responses if responses else None

    def shared(self, groups: Sequence[int]) -> Chosen:
        """Return the existing entities in the prompts of all these groups (E)."""
        asked = (self.responses[:, list(groups)] > 0).all(axis=1)
        return np.asarray(asked & self.is_real)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Select a group on some of the entities (E)."""

    group: int
    chosen: Chosen


class DrawnCells:
    """Resample the entities of cells jointly, so that any two can be compared.

    Entities with prompts in both cells affect both.
    """

    def __init__(
        self,
        tallies: Tallies,
        cells: Sequence[Cell],
        *,
        confidence: float = 0.95,
        seed: int = 0,
        n_resamples: int = 2_000,
    ) -> None:
        self._tallies = tallies
        self._cells = cells
        self._confidence = confidence
        self._draw = partial(
            bootstrap_ratios, clusters="entities", n_resamples=n_resamples, seed=seed
        )

    def estimate(self, cell: int, measure: str) -> Estimate | None:
        """Estimate F1 or a share of one cell; None without data."""
        made, drawn = _made_of(cell, measure), self._verified
        if not all(drawn.n[place] for place in made.places):
            return None
        return drawn.made_of(made.places, made.make, confidence=self._confidence)

    def less(self, pairs: Sequence[tuple[int, int]], measure: str) -> tuple[Estimate | None, ...]:
        """Return the differences of pairs of cells with simultaneous CIs.

        A difference is None if either cell has no data.
        """
        if not pairs:
            return ()
        drawn = self._said if measure == "triples" else self._verified
        made = [_less(_made_of(one, measure), _made_of(other, measure)) for one, other in pairs]
        found = estimate_together(drawn, made, confidence=self._confidence)
        return tuple(each if each.n else None for each in found)

    def trend(self, cells: Sequence[int], measure: str) -> tuple[Estimate | None, ...]:
        """Return the change of precision or recall per doubling of an entity's statement count.

        It is the least-squares slope over triples, with simultaneous CIs. None if counts are
        missing or constant.
        """
        statements = [facts.statements or np.nan for facts in self._tallies.entities]
        x = np.log2(np.array(statements, dtype=np.float64))
        known = ~np.isnan(x)
        if not known.any():
            return (None,) * len(cells)
        at = np.where(known, x - x[known].mean(), 0.0)
        tops, bottoms, able = list[Floats](), list[Floats](), list[int]()
        for cell in cells:
            here = self._cells[cell].chosen & known
            group, share = self._cells[cell].group, SHARES.index(measure)
            hits = self._tallies.hits[:, group, share] * here
            sampled = self._tallies.sampled[:, group, share] * here
            if len(np.unique(x[sampled > 0])) > 1:
                able.append(cell)
                tops += [sampled * at, sampled * at**2, hits, hits * at]
                bottoms += [sampled] * 4
        if not able:
            return (None,) * len(cells)
        drawn = self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))
        made = [
            MadeOf(tuple(range(first, first + 4)), _slope(first))
            for first in range(0, 4 * len(able), 4)
        ]
        slopes = estimate_together(drawn, made, confidence=self._confidence)
        found = dict(zip(able, slopes, strict=True))
        return tuple(found.get(cell) for cell in cells)

    @cached_property
    def _verified(self) -> BootstrapRatios:
        counts = self._tallies
        tops = [counts.hits[:, each.group] * each.chosen[:, None] for each in self._cells]
        bottoms = [counts.sampled[:, each.group] * each.chosen[:, None] for each in self._cells]
        return self._draw(np.concatenate(tops, axis=1), np.concatenate(bottoms, axis=1))

    @cached_property
    def _said(self) -> BootstrapRatios:
        counts = self._tallies
        tops = [counts.said[:, each.group] * each.chosen for each in self._cells]
        bottoms = [counts.responses[:, each.group] * each.chosen for each in self._cells]
        return self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))


def _made_of(cell: int, measure: str) -> MadeOf:
    """Compute a measure of a cell from its resampled ratios."""
    if measure == "triples":
        return MadeOf((cell,), lambda r: r[:, cell], -np.inf, np.inf)
    first = len(SHARES) * cell
    if measure == "f1":  # of precision and recall
        return MadeOf((first, first + 1), lambda r: harmonic_mean(r[:, first], r[:, first + 1]))
    place = first + SHARES.index(measure)
    return MadeOf((place,), lambda r: r[:, place])


def _less(one: MadeOf, other: MadeOf) -> MadeOf:
    places = (*one.places, *other.places)
    return MadeOf(places, lambda r: one.make(r) - other.make(r), one.low, one.high)


def _slope(first: int) -> Callable[[Floats], Floats]:
    """Return the slope of y on x from the means of x, x^2, y and xy, stacked in this order."""

    def make(ratios: Floats) -> Floats:
        x, square, y, product = (ratios[:, first + step] for step in range(4))
        spread = square - x**2
        return np.where(spread > 0, (product - x * y) / np.where(spread > 0, spread, 1.0), np.nan)

    return make


Varied = Literal["prompts", "range", "effort"]


class Asked(Struct, frozen=True, kw_only=True):
    """Describe the settings and the usage of a leaderboard ``row``.

    ``group`` is its place in the tallies. ``others`` are further settings (equal if they are the
    same), and ``told`` those that distinguish it within its model. ``responses`` of ``wanted`` ones
    exist. Tokens and US dollars are means per response, None if unknown.
    """

    row: TripleRow
    group: int
    prompts: str
    range: str
    effort: str = ""
    others: bytes = b""
    told: str = ""
    responses: int = 0
    wanted: int = 0
    tokens: float | None = None
    reasoning: float | None = None
    usd: float | None = None

    @property
    def is_verified(self) -> bool:
        """Return True if both directions have verdicts."""
        return "f1" in self.row.estimates

    @property
    def model(self) -> str:
        """Return the model without its settings."""
        return self.row.group.model

    @property
    def name(self) -> str:
        """Return the model with its setting, marked if it is simulated."""
        return f"{self.row.label} (simulated)" if self.row.simulated else self.row.label

    @property
    def config(self) -> str:
        """Return the short hash of its settings."""
        return self.row.config[:8]

    @property
    def usd_for_1000(self) -> float | None:
        """Return US dollars per 1,000 entities."""
        return None if self.usd is None else 1000 * self.usd

    @property
    def measures(self) -> tuple[Estimate | None, ...]:
        """Return the cells under ``measured_columns``."""
        return measured_cells(self.row.estimates.get)


@dataclass(frozen=True, slots=True)
class Experiment:
    """Hold verified runs for the experiments.

    ``grids`` are the planned values of each sweep, ``usual`` the baseline value if it was run.
    ``ask`` is the command that runs what is missing ({models}, {preset}), ``score`` the one that
    verifies ({targets}).
    """

    board: TripleBoard
    asked: tuple[Asked, ...]
    tallies: Tallies
    grids: Mapping[Varied, tuple[str, ...]]
    usual: Mapping[Varied, str]
    ask: str
    score: str

    @property
    def level(self) -> float:
        """Return the confidence level of its intervals in percent."""
        return 100 * self.board.confidence

    def draw(self, cells: Sequence[Cell]) -> DrawnCells:
        """Resample cells of its tallies with its seed."""
        return DrawnCells(
            self.tallies, cells, confidence=self.board.confidence, seed=self.board.seed
        )


# Columns and marks common to the experiments.

UNPARSED = ("unparsed", "recall_unparsed")


def model_column() -> Column:
    """Return the column with the row's model."""
    return Column(key="model", name=word("model"))


def config_column() -> Column:
    """Return the column with the hash of a row's settings."""
    return Column(
        key="config",
        name=say("asked as"),
        help=say("hash of prompts and settings; equal hashes in two tables are the same run"),
    )


def measured_columns() -> tuple[Column, ...]:
    """Return columns of F1, precision and recall, and the share of unparsed verdicts."""
    return (
        Column(key="f1", name="F1", unit="points", help=say("2PR / (P + R)")),
        Column(
            key="precision", name=word("precision"), unit="points",
            help=say("of the sampled elicited triples, those that the reference entails"),
        ),
        Column(
            key="recall", name=word("recall"), unit="points",
            help=say("of the sampled reference triples, those that the model covers"),
        ),
        Column(
            key="unparsed", name=say("unparsed"), unit="points",
            help=say(
                "unparsed verdicts, in the direction with more of them; they count against the "
                "model"
            ),
        ),
    )  # fmt: skip


def measured_cells(find: Callable[[str], Estimate | None]) -> tuple[Estimate | None, ...]:
    """Return the cells under ``measured_columns``, with measures by name."""
    unparsed = [each for each in map(find, UNPARSED) if each is not None]
    return (
        *map(find, ("f1", "precision", "recall")),
        max(unparsed, key=lambda each: each.value, default=None),
    )


def triples_column() -> Column:
    """Return the column of elicited triples per entity."""
    return Column(key="triples", name=say("triples per entity"), digits=1)


def f1_strips(
    found: Experiment,
    name: str,
    title: str,
    axis: str,
    marks: Iterable[tuple[str, str, Estimate | None]],
) -> tuple[Figure, ...]:
    """Return a figure with one row per value and a mark per series ((value, series, F1)).

    Empty without data.
    """
    made = tuple(
        estimate_mark(f1, row=value, column=series, text=shown_estimate(f1))
        for value, series, f1 in marks
        if f1 is not None
    )
    if not made:
        return ()
    subtitle = say(
        "{entities}; {level:g}% confidence intervals of the first three models, a tick for "
        "every other; n: sampled triples",
        entities=counted(found.board.entities, "entity", "entities"),
        level=found.level,
    )
    figure = Figure(
        name=name, kind="strips", title=title, subtitle=subtitle, marks=made, row_axis=axis,
        column_axis=word("model"), value_axis="F1", table=1,
    )  # fmt: skip
    return (figure,)


def resolved(found: Sequence[Estimate | None]) -> tuple[int, int]:
    """Count significantly positive and negative differences, by their CIs."""
    known = [each for each in found if each is not None]
    return sum(each.low > 0.0 for each in known), sum(each.high < 0.0 for each in known)


# Verified runs as input of experiments: settings, elicited triples, verdicts.

_SIGN = "@"  # between prompts and range in a prompting method's name


_EFFORT, _LONGEST = "reasoning_effort", "max_tokens"


_NOT_SET = frozenset({"endpoint", PROMPT_NAME, LEFT_OUT, _EFFORT})


_PLAIN = re.compile(r"[\w./:,@-]+")  # characters safe in a shell without quoting


_SCORE_OPTIONS = {
    "sample": "--sample", "sampling": "--sampling", "sample_per": "--sample-per",
    "seed": "--seed", "k": "--k",
    "candidates": "--candidates", "search_method": "--search-method", "over": "--recall-over",
    "recall": "--recall",
}  # fmt: skip


def experiment_of(
    store: Store,
    method: Method,
    selection: Selection,
    verified: VerifiedRuns,
    board: TripleBoard,
) -> Experiment:
    """Collect the verified runs of a selection with their leaderboard and config hashes.

    Raises BadUsage for a method without experiments.
    """
    if not method.ranges:
        raise BadUsage(f"runs of {method.name} have no range of requested triples")
    by_id = {run.id: (key, run) for key, run in selection.runs}
    sizes = {each.id: each.n_items for each in selection.item_sets}
    groups = [[by_id[run] for run in runs] for runs in verified.runs]
    places = {group: place for place, group in enumerate(verified.groups)}
    settings = [_settings(method, runs[0][1]) for runs in groups]

    def asked_in(row: TripleRow) -> Asked:
        """Describe the settings of a row's runs, and their usage."""
        group = places[row.group]
        runs, own, first = groups[group], settings[group], groups[group][0][1]
        alike = [
            other
            for other, others in zip(settings, groups, strict=True)
            if others[0][1].respondent == first.respondent
        ]
        told = [
            f"{name}={own[name]}"
            for name in sorted(own)
            if len({canonical_json(other.get(name)) for other in alike}) > 1
        ]
        told += [f"replicate={first.replicate}"] if first.replicate else []
        prompts, _, asked_for = first.prompt_method.partition(_SIGN)
        responses = sum(store.runs.count_done(key, run.last_step) for key, run in runs)
        return Asked(
            row=structs.replace(row, config=short(configuration_id(first))),
            group=group,
            prompts=prompts,
            range=asked_for or method.ranges[0],
            effort=str(first.settings.get(_EFFORT, "")),
            others=canonical_json([own, first.replicate]),
            told=" ".join(told),
            responses=responses,
            wanted=sum(responses_wanted(run, sizes[run.item_set]) for _key, run in runs),
            **_taken(store, [key for key, _run in runs], responses),
        )

    asked = tuple(map(asked_in, board.rows))
    grids = _grids(method)
    names = " ".join(
        name if _PLAIN.fullmatch(name := shown_name(each)) else f"form:{short(each.id)}"
        for each in selection.item_sets
    )
    return Experiment(
        board=structs.replace(board, rows=tuple(each.row for each in asked)),
        asked=asked,
        tallies=_tallies(store, method, verified, groups),
        grids=grids,
        usual={name: values[0] for name, values in grids.items()},
        ask=f"proofstone run {names} -m {{models}} --preset {{preset}}",
        score=_score_command(store, selection),
    )


def _settings(method: Method, run: Run) -> dict[str, Any]:
    """Return settings other than prompts, range and effort; max_tokens only if not the default."""
    own = {name: value for name, value in run.settings.items() if name not in _NOT_SET}
    if own.get(_LONGEST) == method.settings(run.prompt_method)[_LONGEST]:
        del own[_LONGEST]
    return own


def _taken(store: Store, keys: Sequence[int], responses: int) -> dict[str, float | None]:
    """Return mean tokens and US dollars per response, as far as they are known."""
    spent = store.spent.of_runs(keys)
    if not responses or not spent.calls:
        return {}
    return {
        "tokens": spent.completion_tokens / responses if spent.completion_tokens else None,
        "reasoning": spent.reasoning_tokens / responses if spent.reasoning_tokens else None,
        "usd": None if spent.unpriced else spent.cost_usd / responses,
    }


def _tallies(
    store: Store,
    method: Method,
    verified: VerifiedRuns,
    groups: Sequence[Sequence[tuple[int, Run]]],
) -> Tallies:
    places = {item: place for place, item in enumerate(verified.items)}
    n, g = len(verified.entities), len(groups)
    said, responses = np.zeros((n, g)), np.zeros((n, g))
    headline = next(each for each in method.measures if each.name == method.headline)
    of_triples = next(each for each in method.measures if each.unit != "item")
    for group, runs in enumerate(groups):
        current = [store.scores.current(key) for key, _run in runs]
        for scoring in filter(None, current):
            for counts, measure in ((responses, headline.of), (said, of_triples.of)):
                for tally in store.item_tallies.of(scoring.key, measure):
                    if tally.item in places:
                        counts[places[tally.item], group] += tally.n
    hits, sampled = group_sums(count_verified(verified), range(g), SHARES, n)
    return Tallies(verified.entities, hits, sampled, said, responses)


def _grids(method: Method) -> dict[Varied, tuple[str, ...]]:
    """Return the values of each sweep by the method's presets; the baseline first."""

    def values(preset: str, parameter: str) -> tuple[str, ...]:
        return tuple(method.presets[preset].values("run")[parameter])

    ranged = (each.partition(_SIGN)[2] for each in values("ranges", "prompt_method"))
    return {
        "prompts": values("prompts", "prompt_method"),
        "range": tuple(each or method.ranges[0] for each in ranged),
        "effort": values("effort", _EFFORT),
    }


def _score_command(store: Store, selection: Selection) -> str:
    """Return the command that verifies further runs with the settings of this selection."""
    found = verified_scorings(store, selection.runs).values()
    against = next(filter(None, map(against_of, found)))
    judges = against.judges if _PLAIN.fullmatch(against.judges) else "PROVIDER/NAME"
    usual = Against(judges="", reference="", recall="together")
    said = [
        f"{option} {value.partition(':')[0] if isinstance(value, str) else value}"
        for name, option in _SCORE_OPTIONS.items()
        if (value := getattr(against, name)) != getattr(usual, name)
    ]
    words = ["--judge", judges, "--reference", against.reference, *said]
    text = " ".join(words).replace("{", "{{").replace("}", "}}")
    return f"proofstone grade {{targets}} {text}"
