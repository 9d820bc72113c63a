"""Compare models with the first one, and settings within a model: prompts, ranges, effort."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.methods.bequ.experiments.evidence import (
    DIFFERENT,
    UNPARSED,
    Asked,
    Cell,
    Experiment,
    Varied,
    config_column,
    f1_strips,
    measured_columns,
    model_column,
    resolved,
    triples_column,
)
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

# Notes on incomplete or unverified runs of an experiment, with the commands to complete them.

_MOST_NAMED = 12


_MOST_UNPARSED = 0.02  # of verdicts; above it, unjudged triples could change an estimate


def incomplete_notes(found: Experiment, rows: Sequence[Asked]) -> Iterator[str]:
    """Return notes on rows with many unparsed verdicts, missing responses, or incomplete
    verification.
    """
    for asked in rows:
        shares = [asked.row.estimates.get(name) for name in UNPARSED]
        if any(each is not None and each.value > _MOST_UNPARSED for each in shares):
            precision, recall = (
                "-" if each is None else f"{100 * each.value:z.1f}%" for each in shares
            )
            yield say(
                "Unparsed verdicts of {label}: {precision} of precision, {recall} of recall. "
                "They count against it.",
                label=asked.row.label,
                precision=precision,
                recall=recall,
            )
    unanswered = [asked for asked in rows if asked.responses < asked.wanted]
    for asked in unanswered[:_MOST_NAMED]:
        yield say(
            "Incomplete: {label} has {n:,} of {all:,} responses. Resume with the same run command.",
            label=asked.row.label,
            n=asked.responses,
            all=asked.wanted,
        )
    waiting = [asked for asked in rows if not asked.is_verified or asked.row.waiting]
    if waiting:
        runs = [f"run:{run[:8]}" for asked in waiting for run in asked.row.runs]
        yield say(
            "Not fully verified: {labels}. {command}",
            labels=joined([asked.row.label for asked in waiting], _MOST_NAMED),
            command=found.score.format(targets=" ".join(runs[:_MOST_NAMED])),
        )


# Random entities: all models, and each compared with the first on the same entities.


def usually_asked(found: Experiment) -> list[Asked]:
    """Return the rows that the leaderboard ranks, in its order.

    If it does not mark experiments, these are rows with the default prompts and range, preferably
    without a reasoning effort. If there is none, all rows.
    """
    ranked = [asked for asked in found.asked if not asked.row.experiment]
    if 0 < len(ranked) < len(found.asked):
        return ranked
    usual = [
        asked
        for asked in found.asked
        if (asked.prompts, asked.range) == (found.usual["prompts"], found.usual["range"])
    ]
    plain = {asked.model for asked in usual if not asked.effort}
    chosen = [each for each in usual if not each.effort or each.model not in plain]
    return chosen or list(found.asked)


def random_section(found: Experiment) -> Section:
    """Build the section on all models: ranks, measures, abstention, and F1 difference from the
    first.

    Raises BadUsage if nothing was verified.
    """
    rows = usually_asked(found)
    verified = [asked for asked in rows if asked.is_verified]
    if not verified:
        raise BadUsage(
            "no triple of these runs was verified",
            hint=found.score.format(targets="RUN ..."),
        )
    groups = [asked.group for asked in verified]
    chosen = found.tallies.shared(groups)
    drawn = found.draw([Cell(group, chosen) for group in groups])
    less = [None, *drawn.less([(place, 0) for place in range(1, len(groups))], "f1")]
    ranks, spans = _ranked(found, verified)
    left_out = say(
        "{rows} with other prompts, ranges or reasoning efforts are left out; they are in the "
        "experiments on those settings.",
        rows=counted(len(found.asked) - len(rows), "row"),
    )
    table = Table(
        title=say("Models by F1"),
        columns=(
            model_column(),
            config_column(),
            Column(key="rank", name=word("rank"), unit="rank"),
            *measured_columns(),
            Column(key="contradiction", name=word("contradiction"), unit="points"),
            Column(
                key="abstention", name=word("abstention"), unit="points",
                help=say("of the entities, those that the model stated no knowledge of"),
            ),
            triples_column(),
            Column(key="f1_less", name=say("F1 minus the first's"), unit="points"),
        ),
        rows=tuple(
            (
                asked.name,
                asked.config,
                rank,
                *asked.measures,
                asked.row.estimates.get("contradiction"),
                asked.row.abstention,
                asked.row.elicited.each,
                below,
            )
            for asked, below, rank in zip(verified, less, ranks, strict=True)
        ),
    )  # fmt: skip
    figure = Figure(
        name="f1-of-random",
        kind="dots",
        title=say("F1 of random entities"),
        subtitle=say(
            "{entities}; {level:g}% intervals; bars join models that are not significantly "
            "different",
            entities=counted(found.board.entities, "entity", "entities"),
            level=found.level,
        ),
        marks=tuple(
            estimate_mark(f1, row=asked.name, text=shown_estimate(f1))
            for asked in verified
            for f1 in [asked.row.estimates["f1"]]
        ),
        spans=spans,
        row_axis=word("model"),
        value_axis="F1",
        table=1,
    )
    return Section(
        name="random",
        title=say("Random entities"),
        finding=_random_finding(verified, less),
        how=say(
            "Rank ranges are simultaneous for all models. Differences are paired by bootstrap "
            "over entities; their intervals have a joint confidence level of {level:g}%.",
            level=found.level,
        ),
        tables=(table,),
        figures=(figure,),
        notes=(
            *([left_out] if len(rows) < len(found.asked) else []),
            *incomplete_notes(found, rows),
        ),
    )


def _ranked(
    found: Experiment, rows: Sequence[Asked]
) -> tuple[Sequence[RankInterval | None], tuple[Span, ...]]:
    """Return the ranks among these rows, and which places are tied.

    If some rows are not ranked together, returns the leaderboard's ranks without ties.
    """
    board = [asked.row.rank for asked in rows]
    if None in board or len({asked.row.simulated for asked in rows}) > 1:
        return board, ()
    groups = [asked.group for asked in rows]
    counts = (found.tallies.hits, found.tallies.sampled)
    spread = harmonic_spread(*(each[:, groups, :2] for each in counts))  # precision and recall
    ranking = rank_jointly(spread, confidence=found.board.confidence, seed=found.board.seed)
    spans = tuple(Span(first=first, last=last) for first, last in tied_runs(ranking.better))
    return ranking.intervals, spans


def _random_finding(rows: Sequence[Asked], less: Sequence[Estimate | None]) -> str:
    first = rows[0]
    f1 = shown_estimate(first.row.estimates["f1"])
    if len(rows) == 1:
        return say("{model} has F1 {f1}.", model=first.name, f1=f1)
    _above, below = resolved(less)
    told = say(
        "{model} has the highest F1, {f1}; {below} of {models} are significantly lower.",
        model=first.name,
        f1=f1,
        below=below,
        models=counted(len(rows) - 1, "other"),
    )
    level = [
        asked.name
        for asked, each in zip(rows, less, strict=True)
        if each is not None and each.high >= 0.0
    ]
    if not level:
        return told
    return f"{told} " + say(
        "Not significantly different from it: {models}.", models=joined(level, 6)
    )


# One model in several settings that differ in one respect only.

_VARIED: tuple[Varied, ...] = ("prompts", "range", "effort")


class Sweep(Struct, frozen=True, kw_only=True):
    """Hold a model's rows by a varied setting, in grid order.

    ``usual`` is the place of the baseline row. ``missing`` are values of the grid that were not
    run. ``less`` is each value's difference from the baseline by measure (None there).
    """

    name: str
    model: str
    values: tuple[str, ...]
    asked: tuple[Asked, ...]
    usual: int
    missing: tuple[str, ...] = ()
    less: dict[str, list[Estimate | None]]


def prompts_section(found: Experiment) -> Section:
    """Compare each prompt template with the direct one.

    Raises BadUsage if no model was verified with two of them.
    """
    return _section(found, "prompts", "prompts", say("Prompt templates"), say("prompts"))


def ranges_section(found: Experiment) -> Section:
    """Compare each range of requested triples with the default. Raises as ``prompts_section``."""
    title = say("Number of requested triples")
    return _section(found, "range", "ranges", title, say("requested triples"))


def effort_section(found: Experiment) -> Section:
    """Compare each reasoning effort with the lowest, with tokens and cost per response.

    Raises as ``prompts_section``.
    """
    return _section(found, "effort", "effort", say("Reasoning effort"), say("effort"))


def _section(found: Experiment, varied: Varied, name: str, title: str, axis: str) -> Section:
    sweeps = _sweeps_of(found, varied)
    if not sweeps:
        asked = found.ask.format(
            models=",".join(dict.fromkeys(asked.model for asked in found.asked)), preset=name
        )
        raise BadUsage(
            f"no model was verified with two values of {axis} and otherwise equal settings",
            hint=f"{asked}; {found.score.format(targets='RUN ...')}",
        )
    usual = joined(list(dict.fromkeys(_value_name(each.values[each.usual]) for each in sweeps)))
    values = [*found.grids[varied], *(value for sweep in sweeps for value in sweep.values)]
    return Section(
        name=name,
        title=title,
        finding=_finding(sweeps, axis, usual),
        how=say(
            "Differences are paired by bootstrap over entities. The intervals of all "
            "differences in one measure have a joint confidence level of {level:g}%.",
            level=found.level,
        ),
        tables=(_table(sweeps, varied, axis, usual), _differences(sweeps, axis, usual)),
        figures=f1_strips(
            found,
            f"f1-by-{name}",
            say("F1 by {axis}", axis=axis),
            axis,
            (
                (_value_name(value), sweep.name, asked.row.estimates.get("f1"))
                for value in dict.fromkeys(values)
                for sweep in sweeps
                for own, asked in zip(sweep.values, sweep.asked, strict=True)
                if own == value
            ),
        ),
        notes=tuple(_gaps_of(found, sweeps, name)),
    )


def _sweeps_of(found: Experiment, varied: Varied) -> list[Sweep]:
    """Return the verified sweeps with two values or more, in leaderboard order.

    If a value was verified twice, the first run counts. All differences of a measure are resampled
    together, each sweep on the entities common to its settings.
    """
    alike: dict[tuple[object, ...], list[Asked]] = defaultdict(list)
    for asked in found.asked:
        fixed = [getattr(asked, name) for name in _VARIED if name != varied]
        alike[asked.model, asked.others, *fixed].append(asked)
    made = [_sweep(found, varied, rows) for rows in alike.values()]
    sweeps = [each for each in made if len(each.asked) > 1]
    cells: list[Cell] = []
    pairs: list[tuple[int, int]] = []
    for sweep in sweeps:
        groups = [asked.group for asked in sweep.asked]
        chosen, first = found.tallies.shared(groups), len(cells)
        cells += [Cell(group, chosen) for group in groups]
        usual = first + sweep.usual
        pairs += [(place, usual) for place in range(first, len(cells)) if place != usual]
    drawn = found.draw(cells)
    for measure in DIFFERENT:
        less = iter(drawn.less(pairs, measure))
        for sweep in sweeps:
            places = range(len(sweep.asked))
            sweep.less[measure] = [None if at == sweep.usual else next(less) for at in places]
    return sweeps


def _sweep(found: Experiment, varied: Varied, rows: Sequence[Asked]) -> Sweep:
    by_value: dict[str, Asked] = {}
    for asked in rows:
        if asked.is_verified:
            by_value.setdefault(getattr(asked, varied), asked)
    grid, usual, first = found.grids[varied], found.usual, rows[0]
    values = [value for value in dict.fromkeys([*grid, *by_value]) if value in by_value]
    known = {getattr(asked, varied) for asked in rows}
    # The model, with the fixed settings that differ from the defaults.
    parts = [
        first.model,
        first.prompts if varied != "prompts" and first.prompts != usual["prompts"] else "",
        first.range if varied != "range" and first.range != usual["range"] else "",
        f"reasoning_effort={first.effort}" if varied != "effort" and first.effort else "",
        first.told,
        "(simulated)" if first.row.simulated else "",
    ]
    return Sweep(
        name=" ".join(filter(None, parts)),
        model=first.model,
        values=tuple(values),
        asked=tuple(by_value[value] for value in values),
        usual=values.index(usual[varied]) if usual[varied] in values else 0,
        missing=tuple(value for value in grid if value not in known),
        less={},
    )


def _value_name(value: str) -> str:
    """Return a varied value for display; a reasoning effort may be unset."""
    return value or say("not set")


def _gaps_of(found: Experiment, sweeps: Sequence[Sweep], preset: str) -> Iterator[str]:
    """Return notes on the grid of a sweep: missing runs, then incomplete ones."""
    lacking = [sweep for sweep in sweeps if sweep.missing]
    for sweep in lacking[:_MOST_NAMED]:
        yield say(
            "Not run for {model}: {values}.",
            model=sweep.name,
            values=joined([_value_name(value) for value in sweep.missing]),
        )
    compared = {sweep.model for sweep in sweeps}
    models = dict.fromkeys(asked.model for asked in found.asked)
    alone = [model for model in models if model not in compared]
    if alone:
        yield say("Run with one setting only, so not compared: {models}.", models=joined(alone))
    wanted = list(dict.fromkeys([*(sweep.model for sweep in lacking), *alone]))
    if wanted:
        yield say(
            "To run only what is missing: {command}",
            command=found.ask.format(models=",".join(wanted), preset=preset),
        )
    yield from incomplete_notes(found, [each for each in found.asked if each.model in compared])


def _table(sweeps: Sequence[Sweep], varied: Varied, axis: str, usual: str) -> Table:
    spent = (
        Column(key="tokens", name=say("tokens"), digits=0, help=say("mean per response")),
        Column(key="reasoning", name=say("of it reasoning"), digits=0),
        Column(key="usd", name=say("USD for 1,000"), digits=2, help=say("for 1,000 entities")),
    )
    with_spent = varied == "effort"
    return Table(
        title=say("F1, precision and recall by {axis}", axis=axis),
        columns=(
            model_column(),
            Column(key=varied, name=axis),
            config_column(),
            *measured_columns(),
            triples_column(),
            *(spent if with_spent else ()),
            Column(
                key="f1_less", name=say("{measure} less {usual}", measure="F1", usual=usual),
                unit="points", help=say(
                    "on the same entities; an interval without 0 marks a significant difference"
                ),
            ),
        ),
        rows=tuple(
            (
                each.name,
                _value_name(value),
                asked.config,
                *asked.measures,
                asked.row.elicited.each,
                *((asked.tokens, asked.reasoning, asked.usd_for_1000) if with_spent else ()),
                less,
            )
            for each in sweeps
            for value, asked, less in zip(each.values, each.asked, each.less["f1"], strict=True)
        ),
        sorts=False,
    )  # fmt: skip


def _differences(sweeps: Sequence[Sweep], axis: str, usual: str) -> Table:
    heads = {
        "precision": word("precision"), "recall": word("recall"),
        "contradiction": word("contradiction"), "triples": say("triples per entity"),
    }  # fmt: skip
    return Table(
        title=say("Differences to {usual}", usual=usual),
        columns=(
            model_column(),
            Column(key="value", name=axis),
            *(
                Column(key=key, name=name, unit="" if key == "triples" else "points", digits=1)
                for key, name in heads.items()
            ),
        ),
        rows=tuple(
            (each.name, _value_name(value), *(each.less[key][place] for key in heads))
            for each in sweeps
            for place, value in enumerate(each.values)
            if place != each.usual
        ),
        sorts=False,
    )


def _finding(sweeps: Sequence[Sweep], axis: str, usual: str) -> str:
    """State the largest difference in F1, the significant differences, and the largest changes."""
    f1 = [[asked.row.estimates["f1"].value for asked in each.asked] for each in sweeps]
    found = [less for each in sweeps for less in each.less["f1"]]
    above, below = resolved(found)
    known = sum(less is not None for less in found)
    first = say(
        "Within a model, F1 differs by up to {apart} points by {axis}.",
        apart=points(max(max(values) - min(values) for values in f1)),
        axis=axis,
    )
    if not above and not below:
        second = say(
            "None of {n} differences from {usual} is statistically significant.",
            n=known,
            usual=usual,
        )
    else:
        second = say(
            "Of {differences} from {usual}, {above} are significantly positive and {below} "
            "significantly negative.",
            differences=counted(known, "difference"),
            usual=usual,
            above=above,
            below=below,
        )
    return " ".join([first, second, *_largest(sweeps)])


def _largest(sweeps: Sequence[Sweep]) -> Iterator[str]:
    for measure in ("precision", "recall"):
        told = [
            (less, each.name, value)
            for each in sweeps
            for value, less in zip(each.values, each.less[measure], strict=True)
            if less is not None and not less.low <= 0.0 <= less.high
        ]
        if told:
            less, model, value = max(told, key=lambda one: abs(one[0].value))
            yield say(
                "{measure} changes most with {value} ({model}): {change} points.",
                measure=word(measure).capitalize(),
                value=_value_name(value),
                model=model,
                change=shown_estimate(less),
            )
