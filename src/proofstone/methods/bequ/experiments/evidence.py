"""What the experiments are read from: verified runs, how each was asked, and what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow, count_verified
from proofstone.methods.bequ.verification.measures import MEASURES, OUTCOMES, Counted
from proofstone.methods.bequ.verification.records import Against, EntityFacts, VerifiedRuns
from proofstone.methods.bequ.verification.stored_verdicts import against_of, verified_scorings
from proofstone.page.section import Column, Figure, estimate_mark, shown_estimate
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import LEFT_OUT, PROMPT_NAME, ItemSet, Preset, shown_name
from proofstone.records.runs import Estimate, Run, configuration_id, replies_wanted
from proofstone.run.forms import Selection
from proofstone.stats.ratios import (
    DrawnRatios,
    MadeOf,
    draw_ratios,
    estimate_together,
    harmonic_mean,
)
from proofstone.store.store import Store
from proofstone.wording.messages import counted, say, word

# What was counted of each entity for each group, and what follows for several groups together.

Floats = NDArray[np.float64]


Chosen = NDArray[np.bool_]


SHARES = ("precision", "recall", "contradiction", "unparsed", "recall_unparsed")


_CLUSTERS = "entities"


DIFFERENT = (
    "f1",
    "precision",
    "recall",
    "contradiction",
    "triples",
)  # what differences there are of


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Counts by entity (E) and group (G). ``hits`` of ``sampled`` triples (E, G, 5) count for
    ``SHARES``; ``said`` (E, G) are the triples of ``replies`` (E, G).
    Fictional entities are among them, sampled or not; nothing waits in ``sampled``."""

    entities: tuple[EntityFacts, ...]
    hits: Floats
    sampled: Floats
    said: Floats
    replies: Floats

    @property
    def is_real(self) -> Chosen:
        """Which entities exist (E)."""
        return np.array([not facts.is_fictional for facts in self.entities], dtype=bool)

    def where(self, field: str, value: str) -> Chosen:
        """Which entities have this value of a field (E)."""
        return np.array([getattr(facts, field) == value for facts in self.entities], dtype=bool)

    def triples_each(self, group: int, chosen: Chosen) -> float | None:
        """Triples of a reply of a group about these entities; None without a reply."""
        replies = float(self.replies[chosen, group].sum())
        return float(self.said[chosen, group].sum()) / replies if replies else None

    def shared(self, groups: Sequence[int]) -> Chosen:
        """The entities of which every one of these groups was asked, and that exist (E)."""
        asked = (self.replies[:, list(groups)] > 0).all(axis=1)
        return np.asarray(asked & self.is_real)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A group on some of the entities (E)."""

    group: int
    chosen: Chosen


class DrawnCells:
    """Cells whose entities are drawn together, so that any two can be compared: those of which both
    were asked move both."""

    def __init__(
        self,
        tallies: Tallies,
        cells: Sequence[Cell],
        *,
        confidence: float = 0.95,
        seed: int = 0,
        n_draws: int = 2_000,
    ) -> None:
        self._tallies = tallies
        self._cells = cells
        self._confidence = confidence
        self._seed, self._n_draws = seed, n_draws

    def estimate(self, cell: int, measure: str) -> Estimate | None:
        """F1 or a share of a cell by itself; None where nothing counts in it."""
        if measure == "f1":
            places = self._places(cell)
            if not all(self._verified.n[place] for place in places):
                return None
            return self._verified.made_of(
                places,
                lambda ratios: harmonic_mean(ratios[:, places[0]], ratios[:, places[1]]),
                confidence=self._confidence,
            )
        place = self._places(cell)[0] + SHARES.index(measure)
        if not self._verified.n[place]:
            return None
        return self._verified.ratio(place, confidence=self._confidence)

    def less(self, pairs: Sequence[tuple[int, int]], measure: str) -> tuple[Estimate | None, ...]:
        """By how much the first cell of each pair is above the second, all intervals holding
        together; None where either has nothing that counts."""
        made = [self._difference(first, second, measure) for first, second in pairs]
        drawn = self._said if measure == "triples" else self._verified
        found = estimate_together(drawn, made, confidence=self._confidence) if made else ()
        return tuple(each if each.n else None for each in found)

    def trend(self, cells: Sequence[int], measure: str) -> tuple[Estimate | None, ...]:
        """By how much precision or recall rises in each cell where entities have twice as many
        statements: the least-squares slope over triples, all intervals holding together; None where
        they are not known, or nowhere differ."""
        x = np.array(
            [np.log2(facts.statements) if facts.statements else np.nan
             for facts in self._tallies.entities]
        )  # fmt: skip
        known = ~np.isnan(x)
        able = [cell for cell in cells if self._varies(cell, measure, x, known)]
        if not able:
            return (None,) * len(cells)
        found = dict(zip(able, self._slopes(able, measure, x, known), strict=True))
        return tuple(found.get(cell) for cell in cells)

    def _slopes(
        self, cells: Sequence[int], measure: str, x: Floats, known: Chosen
    ) -> tuple[Estimate, ...]:
        tops, bottoms = [], []
        centre = float(x[known].mean())
        for cell in cells:
            hits, sampled = self._counts(cell, measure, known)
            at = np.where(known, x - centre, 0.0)
            tops += [sampled * at, sampled * at**2, hits, hits * at]
            bottoms += [sampled] * 4
        drawn = self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))
        made = [
            MadeOf(tuple(range(first, first + 4)), _slope(first))
            for first in range(0, 4 * len(cells), 4)
        ]
        return estimate_together(drawn, made, confidence=self._confidence)

    def _varies(self, cell: int, measure: str, x: Floats, known: Chosen) -> bool:
        _hits, sampled = self._counts(cell, measure, known)
        return len(np.unique(x[known & (sampled > 0)])) > 1

    def _counts(self, cell: int, measure: str, known: Chosen) -> tuple[Floats, Floats]:
        here = (self._cells[cell].chosen & known).astype(np.float64)
        group, place = self._cells[cell].group, SHARES.index(measure)
        counts = self._tallies
        return counts.hits[:, group, place] * here, counts.sampled[:, group, place] * here

    def _difference(self, first: int, second: int, measure: str) -> MadeOf:
        if measure == "triples":
            inf = float("inf")
            return MadeOf((first, second), lambda r: r[:, first] - r[:, second], -inf, inf)
        one, other = self._places(first), self._places(second)
        if measure == "f1":
            return MadeOf(
                (*one, *other),
                lambda r: (
                    harmonic_mean(r[:, one[0]], r[:, one[1]])
                    - harmonic_mean(r[:, other[0]], r[:, other[1]])
                ),
            )
        at = SHARES.index(measure)
        return MadeOf(
            (one[0] + at, other[0] + at), lambda r: r[:, one[0] + at] - r[:, other[0] + at]
        )

    def _places(self, cell: int) -> tuple[int, int]:
        """Where precision and recall of a cell stand among the verified ratios."""
        first = len(SHARES) * cell
        return first, first + 1

    @cached_property
    def _verified(self) -> DrawnRatios:
        counts = self._tallies
        tops = [counts.hits[:, each.group] * each.chosen[:, None] for each in self._cells]
        bottoms = [counts.sampled[:, each.group] * each.chosen[:, None] for each in self._cells]
        return self._draw(np.concatenate(tops, axis=1), np.concatenate(bottoms, axis=1))

    @cached_property
    def _said(self) -> DrawnRatios:
        counts = self._tallies
        tops = [counts.said[:, each.group] * each.chosen for each in self._cells]
        bottoms = [counts.replies[:, each.group] * each.chosen for each in self._cells]
        return self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))

    def _draw(self, tops: Floats, bottoms: Floats) -> DrawnRatios:
        return draw_ratios(
            tops, bottoms, clusters=_CLUSTERS, n_draws=self._n_draws, seed=self._seed
        )


def _slope(first: int) -> Callable[[Floats], Floats]:
    """The slope of y on x from the means of x, x^2, y and xy, which stand behind each other."""

    def make(ratios: Floats) -> Floats:
        x, square, y, product = (ratios[:, first + step] for step in range(4))
        spread = square - x**2
        return np.where(spread > 0, (product - x * y) / np.where(spread > 0, spread, 1.0), np.nan)

    return make


Varied = Literal["prompts", "range", "effort"]


class Asked(Struct, frozen=True, kw_only=True):
    """How the runs of a board's ``row`` were asked, and what that took. ``group`` is its place
    in the tallies, ``others`` whatever else was set (equal where that is the same) and ``told`` as
    much of it as sets it apart from others of its model. ``replies`` of ``wanted`` ones are there;
    tokens and US dollars are means of a reply, None where they are not known."""

    row: TripleRow
    group: int
    prompts: str
    range: str
    effort: str = ""
    others: bytes = b""
    told: str = ""
    replies: int = 0
    wanted: int = 0
    tokens: float | None = None
    reasoning: float | None = None
    usd: float | None = None

    @property
    def is_verified(self) -> bool:
        """Whether something of both directions was judged."""
        return "f1" in self.row.measured.estimates

    @property
    def is_complete(self) -> bool:
        """Whether no reply is missing, and no triple waits."""
        return self.replies >= self.wanted and not self.row.waiting


@dataclass(frozen=True, slots=True)
class Experiment:
    """Verified runs as experiments read them. ``grids`` are the values that each sweep is to have,
    ``usual`` the one that the others are held against, where it was asked; ``ask`` is the command
    that asks what is missing of an experiment ({models}, {preset}), ``score`` the one that verifies
    ({targets})."""

    board: TripleBoard
    asked: tuple[Asked, ...]
    tallies: Tallies
    grids: Mapping[Varied, tuple[str, ...]]
    usual: Mapping[Varied, str]
    ask: str
    score: str


# Columns and marks that the experiments share.

MEASURED = ("f1", "precision", "recall")


UNPARSED = ("unparsed", "recall_unparsed")


CONFIG = 8


def model_name(row: TripleRow) -> str:
    """A row's model, marked where it is simulated, with its setting."""
    parts = (row.group.model, row.group.setting, "(simulated)" if row.simulated else "")
    return " ".join(filter(None, parts))


def config_column() -> Column:
    """The hash of how a row was asked."""
    return Column(
        key="config",
        name=say("asked as"),
        help=say("hash of prompts and settings: the same in any two tables means asked once"),
    )


def measured_columns() -> tuple[Column, ...]:
    """F1, precision and recall, and the share of verdicts that could not be parsed."""
    return (
        Column(key="f1", name="F1", unit="points", help=say("2PR / (P + R)")),
        Column(
            key="precision", name=word("precision"), unit="points",
            help=say("of the sampled triples that it said, those that the reference entails"),
        ),
        Column(
            key="recall", name=word("recall"), unit="points",
            help=say("of the sampled triples of the reference, those that it said"),
        ),
        Column(
            key="unparsed", name=say("unparsed"), unit="points",
            help=say(
                "verdicts that could not be parsed, in the direction with more of them; they "
                "count against the model"
            ),
        ),
    )  # fmt: skip


def measures_of(row: TripleRow) -> tuple[Estimate | None, ...]:
    """The cells under ``measured_columns``."""
    return measured_cells(row.measured.estimates.get)


def measured_cells(find: Callable[[str], Estimate | None]) -> tuple[Estimate | None, ...]:
    """The same of measures that are found by their names."""
    unparsed = [each for each in map(find, UNPARSED) if each is not None]
    return (
        *map(find, MEASURED),
        max(unparsed, key=lambda each: each.value, default=None),
    )


def triples_an_entity(row: TripleRow) -> float | None:
    """Triples of an entity that exists and was asked about; None where none was."""
    said = row.volunteered
    return said.triples / said.entities if said.entities else None


def strips(
    name: str,
    title: str,
    subtitle: str,
    axis: str,
    marks: Iterable[tuple[str, str, Estimate | None]],
) -> Figure | None:
    """A row a value with a mark for each series ((value, series, estimate)); None without any."""
    made = tuple(
        estimate_mark(found, row=value, column=series, text=shown_estimate(found))
        for value, series, found in marks
        if found is not None
    )  # fmt: skip
    if not made:
        return None
    return Figure(
        name=name, kind="strips", title=title, subtitle=subtitle, marks=made, row_axis=axis,
        column_axis=word("model"), value_axis="F1", table=1,
    )  # fmt: skip


def strips_subtitle(board: TripleBoard) -> str:
    """What a figure of strips shows: of how many entities, and with which intervals."""
    return say(
        "{entities}; {level:g}% intervals of the first three models, a tick for every other; n: "
        "sampled triples",
        entities=counted(board.entities, "entity", "entities"),
        level=100 * board.confidence,
    )


def resolved(found: Sequence[Estimate | None]) -> tuple[int, int]:
    """How many of these differences are above nothing and below it, by their whole interval."""
    known = [each for each in found if each is not None]
    return sum(each.low > 0.0 for each in known), sum(each.high < 0.0 for each in known)


def config_of(asked: Asked) -> str:
    """The short hash of how a row was asked."""
    return asked.row.config[:CONFIG]


# Verified runs as experiments read them: how each was asked, what it said of each entity, and what
# was made of that.

_Runs = Sequence[tuple[int, Run]]


_SIGN = "@"  # between prompts and range in a way's name


_EFFORT, _LONGEST = "reasoning_effort", "max_tokens"


_NOT_SET = frozenset({"endpoint", PROMPT_NAME, LEFT_OUT, _EFFORT})


_PLAIN = re.compile(r"[\w./:,@-]+")  # what a shell takes as it stands


_SCORE_OPTIONS = {
    "sample": "--sample", "sampling": "--sampling", "sample_per": "--sample-per",
    "seed": "--seed", "k": "--k",
    "candidates": "--candidates", "way": "--way", "over": "--recall-over", "recall": "--recall",
}  # fmt: skip


def experiment_of(
    store: Store,
    method: Method,
    selection: Selection,
    verified: VerifiedRuns,
    board: TripleBoard,
) -> Experiment:
    """Verified runs of a selection with their board, whose rows get the hash of how they were
    asked. Raises BadUsage for a method that has no experiments."""
    if not method.ranges:
        raise BadUsage(f"runs of {method.name} are asked for no range of triples")
    by_id = {run.id: (key, run) for key, run in selection.runs}
    sizes = {each.id: each.n_items for each in selection.item_sets}
    groups = [[by_id[run] for run in runs] for runs in verified.runs]
    reader = _Reader(store, method, groups, sizes)
    places = {group: place for place, group in enumerate(verified.groups)}
    asked = tuple(reader.asked(row, places[row.group]) for row in board.rows)
    names = " ".join(_pasted(each) for each in selection.item_sets)
    return Experiment(
        board=structs.replace(board, rows=tuple(each.row for each in asked)),
        asked=asked,
        tallies=_tallies(store, method, verified, groups),
        grids=_grids(method),
        usual=_usual(method),
        ask=f"proofstone run {names} -m {{models}} --preset {{preset}}",
        score=_score_command(store, selection),
    )


# ---------------------------------------------------------------- how it was asked


class _Reader:
    """Says of each group of runs how it was asked, and what that took."""

    def __init__(
        self, store: Store, method: Any, groups: Sequence[_Runs], sizes: Mapping[bytes, int]
    ) -> None:
        self._store, self._method = store, method
        self._groups, self._sizes = groups, sizes
        self._settings = [_settings(method, runs[0][1]) for runs in groups]

    def asked(self, row: TripleRow, group: int) -> Asked:
        """How the runs of a row were asked."""
        runs, own = self._groups[group], self._settings[group]
        first = runs[0][1]
        prompts, _, asked_for = first.way.partition(_SIGN)
        replies = sum(self._store.runs.count_done(key, run.last_step) for key, run in runs)
        return Asked(
            row=structs.replace(row, config=short(configuration_id(first))),
            group=group,
            prompts=prompts,
            range=asked_for or self._method.ranges[0],
            effort=str(first.settings.get(_EFFORT, "")),
            others=canonical_json([own, first.replicate]),
            told=_told(own, self._alike(first.respondent), first.replicate),
            replies=replies,
            wanted=sum(replies_wanted(run, self._sizes[run.item_set]) for _key, run in runs),
            **_taken(self._store, [key for key, _run in runs], replies),
        )

    def _alike(self, respondent: str) -> list[Mapping[str, Any]]:
        """The settings of all rows of a model."""
        return [
            settings
            for settings, runs in zip(self._settings, self._groups, strict=True)
            if runs[0][1].respondent == respondent
        ]


def _settings(method: Any, run: Run) -> dict[str, Any]:
    """What was set besides prompts, range and effort: the longest reply where it is not the way's
    own."""
    own = {name: value for name, value in run.settings.items() if name not in _NOT_SET}
    if own.get(_LONGEST) == method.settings(run.way)[_LONGEST]:
        del own[_LONGEST]
    return own


def _told(own: Mapping[str, Any], alike: Sequence[Mapping[str, Any]], replicate: str) -> str:
    """The settings in which rows of one model differ."""
    differing = [
        f"{name}={own[name]}"
        for name in sorted(own)
        if len({canonical_json(other.get(name)) for other in alike}) > 1
    ]
    return " ".join([*differing, *([f"replicate={replicate}"] if replicate else [])])


def _taken(store: Store, keys: Sequence[int], replies: int) -> dict[str, float | None]:
    """Tokens and US dollars of a reply in the mean, as far as they are known."""
    spent = store.spent.of_runs(keys)
    if not replies or not spent.calls:
        return {}
    return {
        "tokens": spent.completion_tokens / replies if spent.completion_tokens else None,
        "reasoning": spent.reasoning_tokens / replies if spent.reasoning_tokens else None,
        "usd": None if spent.unpriced else spent.cost_usd / replies,
    }


# ---------------------------------------------------------------- what came of it


def _tallies(
    store: Store,
    method: Method,
    verified: VerifiedRuns,
    groups: Sequence[_Runs],
) -> Tallies:
    import numpy as np  # noqa: PLC0415

    places = {item: place for place, item in enumerate(verified.items)}
    n, g = len(verified.entities), len(groups)
    said, replies = np.zeros((n, g)), np.zeros((n, g))
    headline = next(each for each in method.measures if each.name == method.headline)
    of_triples = next(each for each in method.measures if each.unit != "item")
    for group, runs in enumerate(groups):
        for key, _run in runs:
            scoring = store.scores.current(key)
            if scoring is None:
                continue
            for counts, measure in ((replies, headline.of), (said, of_triples.of)):
                for tally in store.item_tallies.of(scoring.key, measure):
                    if tally.item in places:
                        counts[places[tally.item], group] += tally.n
    hits, sampled = _verdicts(count_verified(verified), n, g)
    return Tallies(verified.entities, hits, sampled, said, replies)


def _verdicts(counted: Counted, n_entities: int, n_groups: int) -> tuple[Any, Any]:
    """What counts, and of how many, by entity, group and share."""
    import numpy as np  # noqa: PLC0415

    entity, group, direction, outcome = (
        counted.column(name).astype(np.int64)
        for name in ("entity", "group", "direction", "outcome")
    )
    place = (entity * n_groups + group) * 2 + direction
    size = n_entities * n_groups * 2 * len(OUTCOMES)
    cells = np.bincount(place * len(OUTCOMES) + outcome, minlength=size)
    cells = cells.reshape(n_entities, n_groups, 2, len(OUTCOMES)).astype(np.float64)
    codes = {name: code for code, name in enumerate(OUTCOMES)}
    hits, sampled = [], []
    for name in SHARES:
        side, top, bottom = MEASURES[name]
        hits.append(cells[:, :, side, [codes[each] for each in top]].sum(axis=2))
        sampled.append(cells[:, :, side, [codes[each] for each in bottom]].sum(axis=2))
    return np.stack(hits, axis=2), np.stack(sampled, axis=2)


# ---------------------------------------------------------------- what is to be asked


def _grids(method: Method) -> dict[Varied, tuple[str, ...]]:
    """The values of each sweep, by the method's presets."""
    usual = method.ranges[0]
    ranged = [way.partition(_SIGN)[2] or usual for way in _values(method.presets["ranges"], "ask")]
    return {
        "prompts": _values(method.presets["prompts"], "ask"),
        "range": tuple(ranged),
        "effort": _values(method.presets["effort"], _EFFORT),
    }


def _usual(method: Method) -> dict[Varied, str]:
    return {name: values[0] for name, values in _grids(method).items()}


def _values(preset: Preset, parameter: str) -> tuple[str, ...]:
    return tuple(preset.values("run")[parameter])


def _score_command(store: Store, selection: Selection) -> str:
    """The command that verifies further runs as those of the selection were."""
    found = verified_scorings(store, selection.runs).values()
    against = next(each for scoring in found if (each := against_of(scoring)) is not None)
    judges = against.judges if _PLAIN.fullmatch(against.judges) else "PROVIDER/NAME"
    usual = Against(judges="", reference="", recall="together")
    said = [
        f"{option} {value.partition(':')[0] if isinstance(value, str) else value}"
        for name, option in _SCORE_OPTIONS.items()
        if (value := getattr(against, name)) != getattr(usual, name)
    ]
    words = ["--judge", judges, "--reference", against.reference, *said]
    text = " ".join(words).replace("{", "{{").replace("}", "}}")
    return f"proofstone score {{targets}} {text}"


def _pasted(item_set: ItemSet) -> str:
    """A list's name as it can be typed, else its id."""
    name = shown_name(item_set)
    return name if _PLAIN.fullmatch(name) else f"form:{short(item_set.id)}"
