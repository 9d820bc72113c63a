"""Prompts, ranges and efforts: each model against itself, asked in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.methods.bequ.experiments.evidence import (
    DIFFERENT,
    UNPARSED,
    Asked,
    Cell,
    DrawnCells,
    Experiment,
    Varied,
    config_column,
    config_of,
    measured_columns,
    measures_of,
    model_name,
    resolved,
    strips,
    strips_subtitle,
    triples_an_entity,
)
from proofstone.page.section import Cell as TableCell
from proofstone.page.section import (
    Column,
    Figure,
    Section,
    Span,
    Table,
    estimate_mark,
    points,
    shown_estimate,
)
from proofstone.records.runs import Estimate
from proofstone.stats.ranks import RankInterval, rank_jointly, tied_runs
from proofstone.stats.ratios import harmonic_spread
from proofstone.wording.messages import counted, joined, say, word

# One model asked in several ways and in nothing else differently.

_VARIED: tuple[Varied, ...] = ("prompts", "range", "effort")


class Sweep(Struct, frozen=True, kw_only=True):
    """A model's rows by what was varied, in the order of the grid; ``usual`` is the place of the
    one that the others are held against. ``missing`` are values of the grid that were not asked."""

    name: str
    model: str
    values: tuple[str, ...]
    asked: tuple[Asked, ...]
    usual: int
    missing: tuple[str, ...] = ()


def sweeps_of(found: Experiment, varied: Varied) -> list[Sweep]:
    """The sweeps of two values or more that were verified, in the order of the board; what was
    verified of a value twice stands as the first of it."""
    alike: dict[tuple[object, ...], list[Asked]] = {}
    for asked in found.asked:
        fixed = [getattr(asked, name) for name in _VARIED if name != varied]
        alike.setdefault((asked.row.group.model, asked.others, *fixed), []).append(asked)
    made = [_sweep(found, varied, rows) for rows in alike.values()]
    return [each for each in made if len(each.asked) > 1]


def _sweep(found: Experiment, varied: Varied, rows: Sequence[Asked]) -> Sweep:
    by_value: dict[str, Asked] = {}
    for asked in rows:
        if asked.is_verified:
            by_value.setdefault(getattr(asked, varied), asked)
    grid = found.grids[varied]
    values = [value for value in grid if value in by_value]
    values += [value for value in by_value if value not in grid]
    usual = found.usual[varied]
    known = {getattr(asked, varied) for asked in rows}
    first = rows[0]
    return Sweep(
        name=_name(found, varied, first),
        model=first.row.group.model,
        values=tuple(values),
        asked=tuple(by_value[value] for value in values),
        usual=values.index(usual) if usual in values else 0,
        missing=tuple(value for value in grid if value not in known),
    )


def _name(found: Experiment, varied: Varied, asked: Asked) -> str:
    """The model, with what is fixed and not as usual."""
    parts = [
        asked.prompts if varied != "prompts" and asked.prompts != found.usual["prompts"] else "",
        asked.range if varied != "range" and asked.range != found.usual["range"] else "",
        f"reasoning_effort={asked.effort}" if varied != "effort" and asked.effort else "",
        asked.told,
        "(simulated)" if asked.row.simulated else "",
    ]
    return " ".join([asked.row.group.model, *filter(None, parts)])


# What of an experiment is missing: not asked, not complete, not verified; with the commands.

UNSET = ""


_MOST_NAMED = 12


_MOST_UNPARSED = 0.02  # of verdicts; beyond it a figure depends on what nobody judged


def value_name(value: str) -> str:
    """A value of what was varied, as people read it; of effort none may be set."""
    return value if value != UNSET else say("not set")


def gaps_of(
    found: Experiment, varied: Varied, sweeps: Sequence[Sweep], preset: str
) -> Iterator[str]:
    """Notes on the grid of a sweep: what was not asked of which model, then on rows that were."""
    lacking = [sweep for sweep in sweeps if sweep.missing]
    for sweep in lacking[:_MOST_NAMED]:
        yield say(
            "Not asked of {model}: {values}.",
            model=sweep.name,
            values=joined([value_name(value) for value in sweep.missing]),
        )
    alone = _models_alone(found, sweeps)
    if alone:
        yield say("Asked in one way only, so not compared: {models}.", models=joined(alone))
    wanted = list(dict.fromkeys([*(sweep.model for sweep in lacking), *alone]))
    if wanted:
        yield say(
            "To ask what is missing, and nothing twice: {command}",
            command=found.ask.format(models=",".join(wanted), preset=preset),
        )
    own = [asked for asked in found.asked if asked.row.group.model not in alone]
    yield from incomplete_notes(found, own)


def incomplete_notes(found: Experiment, rows: Sequence[Asked]) -> Iterator[str]:
    """Notes on rows of whose verdicts many could not be parsed, whose replies are missing, and on
    those not verified, or not wholly."""
    yield from _unparsed_notes(rows)
    unanswered = [asked for asked in rows if asked.replies < asked.wanted]
    for asked in unanswered[:_MOST_NAMED]:
        yield say(
            "Incomplete: {label} has {n:,} of {all:,} replies; the same run command goes on.",
            label=asked.row.label,
            n=asked.replies,
            all=asked.wanted,
        )
    waiting = [asked for asked in rows if not asked.is_verified or asked.row.waiting]
    if waiting:
        names = [asked.row.label for asked in waiting]
        runs = [f"run:{run[:8]}" for asked in waiting for run in asked.row.runs]
        yield say(
            "Not verified, or not wholly: {labels}. {command}",
            labels=joined(names, _MOST_NAMED),
            command=found.score.format(targets=" ".join(runs[:_MOST_NAMED])),
        )


def _unparsed_notes(rows: Sequence[Asked]) -> Iterator[str]:
    """A note on each row of whose verdicts too many could not be parsed."""
    for asked in rows:
        shares = [asked.row.measured.estimates.get(name) for name in UNPARSED]
        if any(each is not None and each.value > _MOST_UNPARSED for each in shares):
            precision, recall = (
                "-" if each is None else f"{100 * each.value:z.1f}%" for each in shares
            )
            yield say(
                "Unparsed verdicts of {label}: {precision} of precision, {recall} of recall. They "
                "count against it.",
                label=asked.row.label,
                precision=precision,
                recall=recall,
            )


def _models_alone(found: Experiment, sweeps: Sequence[Sweep]) -> list[str]:
    """The models that no sweep compares."""
    compared = {sweep.model for sweep in sweeps}
    models = dict.fromkeys(asked.row.group.model for asked in found.asked)
    return [model for model in models if model not in compared]


# Random entities: models as they stand, and each against the first on the same entities.


def usually_asked(found: Experiment) -> list[Asked]:
    """The rows that the board ranks, in its order. Where it tells none from experiments: those
    asked with the usual prompts and range, and of a model that was asked so with no effort of
    reasoning set, these alone; all rows where there is none."""
    ranked = [asked for asked in found.asked if not asked.row.experiment]
    if 0 < len(ranked) < len(found.asked):
        return ranked
    usual = [
        asked
        for asked in found.asked
        if (asked.prompts, asked.range) == (found.usual["prompts"], found.usual["range"])
    ]
    plain = {asked.row.group.model for asked in usual if not asked.effort}
    chosen = [each for each in usual if not each.effort or each.row.group.model not in plain]
    return chosen or list(found.asked)


def random_section(found: Experiment) -> Section:
    """Every model with its ranks, its measures, abstention, and how far its F1 lies below that of
    the first. Raises BadUsage where nothing was verified."""
    rows = usually_asked(found)
    verified = [asked for asked in rows if asked.is_verified]
    if not verified:
        raise BadUsage(
            "no triple of these runs was verified",
            hint=found.score.format(targets="RUN ..."),
        )
    less = _less_than_first(found, verified)
    ranks, spans = _ranked(found, verified)
    return Section(
        name="random",
        title=say("Random entities"),
        finding=_finding(found, verified, less),
        how=say(
            "Ranks hold for all models together. Differences are paired: entities are drawn again "
            "with all that either model said of them; {level:g}% for all of them together.",
            level=100 * found.board.confidence,
        ),
        tables=(_table(verified, less, ranks),),
        figures=(_figure(found, verified, spans),),
        notes=(*_left_out(found, rows), *incomplete_notes(found, rows)),
    )


def _less_than_first(found: Experiment, rows: Sequence[Asked]) -> list[Estimate | None]:
    groups = [asked.group for asked in rows]
    chosen = found.tallies.shared(groups)
    drawn = DrawnCells(
        found.tallies, [Cell(group, chosen) for group in groups],
        confidence=found.board.confidence, seed=found.board.seed,
    )  # fmt: skip
    pairs = [(place, 0) for place in range(1, len(groups))]
    return [None, *drawn.less(pairs, "f1")]


def _ranked(
    found: Experiment, rows: Sequence[Asked]
) -> tuple[Sequence[RankInterval | None], tuple[Span, ...]]:
    """The ranks among these rows, and which of their places are tied; where some of them are not
    ranked together, the board's own and no ties."""
    board = [asked.row.rank for asked in rows]
    if None in board or len({asked.row.simulated for asked in rows}) > 1:
        return board, ()
    groups = [asked.group for asked in rows]
    sides = [0, 1]  # precision and recall
    hits = found.tallies.hits[:, groups][:, :, sides]
    spread = harmonic_spread(hits, found.tallies.sampled[:, groups][:, :, sides])
    ranking = rank_jointly(spread, confidence=found.board.confidence, seed=found.board.seed)
    spans = tuple(Span(first=first, last=last) for first, last in tied_runs(ranking.better))
    return ranking.intervals, spans


def _table(
    rows: Sequence[Asked],
    less: Sequence[Estimate | None],
    ranks: Sequence[RankInterval | None],
) -> Table:
    return Table(
        title=say("Models by F1"),
        columns=(
            Column(key="model", name=word("model")),
            config_column(),
            Column(key="rank", name=word("rank"), unit="rank"),
            *measured_columns(),
            Column(key="contradiction", name=word("contradiction"), unit="points"),
            Column(
                key="abstention", name=word("abstention"), unit="points",
                help=say("of the entities, those it said that it knows nothing of"),
            ),
            Column(key="triples", name=say("triples an entity"), digits=1),
            Column(key="f1_less", name=say("F1 less the first's"), unit="points"),
        ),
        rows=tuple(
            (
                model_name(asked.row),
                config_of(asked),
                rank,
                *measures_of(asked.row),
                asked.row.measured.estimates.get("contradiction"),
                asked.row.abstention,
                triples_an_entity(asked.row),
                below,
            )
            for asked, below, rank in zip(rows, less, ranks, strict=True)
        ),
    )  # fmt: skip


def _figure(found: Experiment, rows: Sequence[Asked], spans: tuple[Span, ...]) -> Figure:
    return Figure(
        name="f1-of-random",
        kind="dots",
        title=say("F1 of random entities"),
        subtitle=say(
            "{entities}; {level:g}% intervals; bars join models that are not significantly "
            "different",
            entities=counted(found.board.entities, "entity", "entities"),
            level=100 * found.board.confidence,
        ),
        marks=tuple(
            estimate_mark(f1, row=model_name(asked.row), text=shown_estimate(f1))
            for asked in rows
            for f1 in [asked.row.measured.estimates["f1"]]
        ),
        spans=spans,
        row_axis=word("model"),
        value_axis="F1",
        table=1,
    )  # fmt: skip


def _finding(found: Experiment, rows: Sequence[Asked], less: Sequence[Estimate | None]) -> str:
    first = rows[0]
    f1 = shown_estimate(first.row.measured.estimates["f1"])
    if len(rows) == 1:
        return say("{model} has F1 {f1}.", model=model_name(first.row), f1=f1)
    _above, below = resolved(less)
    level = [model_name(asked.row) for asked, each in zip(rows, less, strict=True)
             if each is not None and each.high >= 0.0]  # fmt: skip
    told = say(
        "{model} has the highest F1, {f1}; {below} of {models} are significantly lower.",
        model=model_name(first.row),
        f1=f1,
        below=below,
        models=counted(len(rows) - 1, "other"),
    )
    if not level:
        return told
    return (
        told + " " + say("Not significantly different from it: {models}.", models=joined(level, 6))
    )


def _left_out(found: Experiment, rows: Sequence[Asked]) -> tuple[str, ...]:
    n = len(found.asked) - len(rows)
    if not n:
        return ()
    return (
        say(
            "{rows} asked with other prompts, another range or another effort of reasoning are "
            "left out; they are in the experiments on those.",
            rows=counted(n, "row"),
        ),
    )


_Less = dict[str, tuple[Estimate | None, ...]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A sweep, and by measure how far each of its values lies above the usual one (None there)."""

    sweep: Sweep
    less: _Less


def prompts_section(found: Experiment) -> Section:
    """Each set of prompts against the direct one. Raises BadUsage where no model was verified with
    two of them."""
    return _section(found, "prompts", "prompts", say("Sets of prompts"), say("prompts"))


def ranges_section(found: Experiment) -> Section:
    """Each range of triples asked for against the default. Raises as ``prompts_section``."""
    return _section(found, "range", "ranges", say("Ranges of triples asked for"), say("range"))


def effort_section(found: Experiment) -> Section:
    """Each effort of reasoning against the least, with the tokens and money of a reply. Raises as
    ``prompts_section``."""
    return _section(found, "effort", "effort", say("Efforts of reasoning"), say("effort"))


def _section(found: Experiment, varied: Varied, name: str, title: str, axis: str) -> Section:
    sweeps = sweeps_of(found, varied)
    if not sweeps:
        raise _nothing_to_compare(found, name, axis)
    compared = _compared(found, sweeps)
    figure = _varied_figure(found, name, axis, sweeps)
    return Section(
        name=name,
        title=title,
        finding=_varied_finding(compared, axis),
        how=say(
            "Differences are paired: entities are drawn again, with all that either way of asking "
            "said of them; {level:g}% for all differences in one measure together.",
            level=100 * found.board.confidence,
        ),
        tables=(_varied_table(compared, varied, axis), _differences(compared, axis)),
        figures=() if figure is None else (figure,),
        notes=tuple(gaps_of(found, varied, sweeps, name)),
    )


def _nothing_to_compare(found: Experiment, name: str, axis: str) -> BadUsage:
    models = dict.fromkeys(asked.row.group.model for asked in found.asked)
    return BadUsage(
        f"no model here was verified with two values of {axis} and all else alike",
        hint=found.ask.format(models=",".join(models), preset=name)
        + "; "
        + found.score.format(targets="RUN ..."),
    )


def _compared(found: Experiment, sweeps: Sequence[Sweep]) -> list[_Compared]:
    """Each sweep with its differences, all of a measure drawn together. A sweep is compared on the
    entities that it was asked about in every way."""
    cells: list[Cell] = []
    pairs: list[tuple[int, int]] = []
    for sweep in sweeps:
        groups = [asked.group for asked in sweep.asked]
        chosen, first = found.tallies.shared(groups), len(cells)
        cells += [Cell(group, chosen) for group in groups]
        usual = first + sweep.usual
        pairs += [(place, usual) for place in range(first, len(cells)) if place != usual]
    drawn = DrawnCells(
        found.tallies, cells, confidence=found.board.confidence, seed=found.board.seed
    )
    less = {measure: iter(drawn.less(pairs, measure)) for measure in DIFFERENT}
    return [
        _Compared(
            sweep,
            {
                measure: tuple(
                    None if place == sweep.usual else next(made)
                    for place in range(len(sweep.asked))
                )
                for measure, made in less.items()
            },
        )
        for sweep in sweeps
    ]


# ---------------------------------------------------------------- tables and figure


def _varied_table(compared: Sequence[_Compared], varied: Varied, axis: str) -> Table:
    spent = _spent_columns() if varied == "effort" else ()
    return Table(
        title=say("F1, precision and recall by {axis}", axis=axis),
        columns=(
            Column(key="model", name=word("model")),
            Column(key=varied, name=axis),
            config_column(),
            *measured_columns(),
            Column(key="triples", name=say("triples an entity"), digits=1),
            *spent,
            Column(
                key="f1_less", name=_against(compared, "F1"), unit="points",
                help=say("the same entities; an interval without 0 is a difference"),
            ),
        ),
        rows=tuple(
            (
                each.sweep.name,
                value_name(value),
                config_of(asked),
                *measures_of(asked.row),
                triples_an_entity(asked.row),
                *(_spent_cells(asked) if spent else ()),
                each.less["f1"][place],
            )
            for each in compared
            for place, (value, asked) in enumerate(
                zip(each.sweep.values, each.sweep.asked, strict=True)
            )
        ),
        sorts=False,
    )  # fmt: skip


def _spent_columns() -> tuple[Column, ...]:
    return (
        Column(key="tokens", name=say("tokens"), digits=0, help=say("of a reply, in the mean")),
        Column(key="reasoning", name=say("of it reasoning"), digits=0),
        Column(key="usd", name=say("USD for 1,000"), digits=2, help=say("for 1,000 entities")),
    )


def _spent_cells(asked: Asked) -> tuple[TableCell, ...]:
    usd = None if asked.usd is None else 1000 * asked.usd
    return (asked.tokens, asked.reasoning, usd)


def _differences(compared: Sequence[_Compared], axis: str) -> Table:
    heads = {
        "precision": word("precision"), "recall": word("recall"),
        "contradiction": word("contradiction"), "triples": say("triples an entity"),
    }  # fmt: skip
    return Table(
        title=say("Differences to {usual}", usual=_usual(compared)),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="value", name=axis),
            *(
                Column(key=key, name=name, unit="" if key == "triples" else "points", digits=1)
                for key, name in heads.items()
            ),
        ),
        rows=tuple(
            (each.sweep.name, value_name(value), *(each.less[key][place] for key in heads))
            for each in compared
            for place, value in enumerate(each.sweep.values)
            if place != each.sweep.usual
        ),
        sorts=False,
    )


def _usual(compared: Sequence[_Compared]) -> str:
    names = dict.fromkeys(value_name(each.sweep.values[each.sweep.usual]) for each in compared)
    return joined(list(names))


def _against(compared: Sequence[_Compared], measure: str) -> str:
    return say("{measure} less {usual}", measure=measure, usual=_usual(compared))


def _varied_figure(
    found: Experiment, name: str, axis: str, sweeps: Sequence[Sweep]
) -> Figure | None:
    order = list(dict.fromkeys([*found.grids[_VARIED_VARIED[name]], *_values(sweeps)]))
    return strips(
        f"f1-by-{name}",
        say("F1 by {axis}", axis=axis),
        strips_subtitle(found.board),
        axis,
        (
            (value_name(value), sweep.name, sweep.asked[place].row.measured.estimates.get("f1"))
            for value in order
            for sweep in sweeps
            if value in sweep.values
            for place in [sweep.values.index(value)]
        ),
    )


_VARIED_VARIED: dict[str, Varied] = {"prompts": "prompts", "ranges": "range", "effort": "effort"}


def _values(sweeps: Sequence[Sweep]) -> Iterator[str]:
    for sweep in sweeps:
        yield from sweep.values


# ---------------------------------------------------------------- the sentence


def _varied_finding(compared: Sequence[_Compared], axis: str) -> str:
    """By how much F1 lies apart, what is resolved, and the largest changes of precision and
    recall that are."""
    apart = max(_apart(each) for each in compared)
    found = [less for each in compared for less in each.less["f1"]]
    above, below = resolved(found)
    known = sum(less is not None for less in found)
    first = say(
        "Within a model F1 lies up to {apart} points apart by {axis}.",
        apart=points(apart),
        axis=axis,
    )
    if not above and not below:
        second = say(
            "None of {n} differences from {usual} is statistically significant.",
            n=known,
            usual=_usual(compared),
        )
    else:
        second = say(
            "Of {differences} from {usual}, {above} are significantly positive and {below} "
            "significantly negative.",
            differences=counted(known, "difference"),
            usual=_usual(compared),
            above=above,
            below=below,
        )
    return " ".join(filter(None, (first, second, *_largest(compared))))


def _apart(each: _Compared) -> float:
    values = [asked.row.measured.estimates["f1"].value for asked in each.sweep.asked]
    return max(values) - min(values)


def _largest(compared: Sequence[_Compared]) -> Iterator[str]:
    for measure in ("precision", "recall"):
        told = [
            (abs(less.value), less, each.sweep.name, value_name(each.sweep.values[place]))
            for each in compared
            for place, less in enumerate(each.less[measure])
            if less is not None and not less.low <= 0.0 <= less.high
        ]
        if told:
            _size, less, model, value = max(told, key=lambda one: one[0])
            yield say(
                "{measure} changes most with {value} ({model}): {change} points.",
                measure=word(measure).capitalize(),
                value=value,
                model=model,
                change=shown_estimate(less),
            )
