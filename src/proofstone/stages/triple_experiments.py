"""Verified runs as experiments read them: how each was asked, what it said of each entity, and what
was made of that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json, short
from proofstone.methods.bequ.verification import MEASURES, OUTCOMES, Counted
from proofstone.ports import Method, TakesRanges
from proofstone.records import ItemSet, Preset, Run, configuration_id, replies_wanted
from proofstone.records.against import Against
from proofstone.records.context import LEFT_OUT
from proofstone.records.own_prompts import PROMPT_NAME
from proofstone.records.triples import VerifiedRuns
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.experiments import SHARES, Asked, Experiment, Tallies, Varied
from proofstone.stages.summarise import Selection, shown_name
from proofstone.stages.triple_boards import count_verified
from proofstone.stages.verified_runs import against_of, verified_scorings

__all__ = ["experiment_of"]

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
    if not isinstance(method, TakesRanges):
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
    usual = method.ranges[0] if isinstance(method, TakesRanges) else ""
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
