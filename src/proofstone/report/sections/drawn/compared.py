"""Models compared with themselves: under two ways of asking, on two benchmarks, by length."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from proofstone.engines.stats import RankMove
from proofstone.records.results import Estimate
from proofstone.report.sections.section import Figure, Level, Mark
from proofstone.wording import counted, say, word

__all__ = ["LengthBin", "dumbbells_figure", "lengths_figure", "moves_figure"]

_MOST_ROWS = 40
_MOST_PANELS = 12


def dumbbells_figure(
    name: str,
    title: str,
    models: Sequence[str],
    levels: Sequence[str],
    values: Sequence[Sequence[Estimate | None]],
    *,
    chance: Sequence[Level] = (),
    table: int = 0,
) -> Figure:
    """A row a model with a mark for each level that it was asked at (``values[level][model]``)."""
    shown = models[:_MOST_ROWS]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(models))
    return Figure(
        name=name,
        kind="dumbbells",
        title=title,
        subtitle=say("scores at each level, with intervals; the same items where they are shared")
        + (cut if len(shown) < len(models) else ""),
        marks=tuple(
            Mark(
                row=model, column=level, value=found.value, low=found.low, high=found.high,
                n=found.n,
            )
            for place, model in enumerate(shown)
            for level, by_model in zip(levels, values, strict=True)
            if (found := by_model[place]) is not None
        ),
        levels=tuple(chance),
        row_axis=word("model"),
        value_axis=say("points"),
        table=table,
    )  # fmt: skip


def moves_figure(
    first: str, second: str, moves: Sequence[RankMove], models: Sequence[str], *, table: int = 0
) -> Figure:
    """A line a model from its rank on the first benchmark to that on the second; who moves by more
    than noise stands out."""
    order = sorted(moves, key=lambda move: (move.rank_first, move.rank_second))[:_MOST_ROWS]
    n_moved = sum(move.moved for move in moves)
    cut = "; " + say("the first {n} of {all} models", n=len(order), all=len(moves))
    return Figure(
        name="rank-moves",
        kind="slopes",
        title=say("Ranks on {first} and on {second}", first=first, second=second),
        subtitle=say(
            "{models}; strong lines: {n} with a significant move",
            models=counted(len(moves), "model"),
            n=n_moved,
        )
        + (cut if len(order) < len(moves) else ""),
        marks=tuple(
            Mark(
                row=models[move.model],
                column=column,
                value=float(rank),
                text=say("moves significantly") if move.moved else "",
            )
            for move in order
            for column, rank in ((first, move.rank_first), (second, move.rank_second))
        ),
        row_axis=word("model"),
        value_axis=say("rank"),
        value_unit="number",
        table=table,
    )


class LengthBin(Struct, frozen=True, kw_only=True):
    """A model's score on a part of its replies, by their length: the median tokens of these."""

    label: str
    tokens: float
    score: Estimate


def lengths_figure(
    bins: Sequence[LengthBin], *, level: float, chance: Sequence[Level] = (), table: int = 0
) -> Figure | None:
    """A curve a model over the tokens of its replies; None with fewer than two bins of any."""
    labels = list(dict.fromkeys(each.label for each in bins))
    shown = labels[:_MOST_PANELS]
    if len(bins) < 2 or len(bins) == len(labels):
        return None
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    return Figure(
        name="length-by-model",
        kind="curves",
        title=say("Score by length of the reply"),
        subtitle=say(
            "a model's replies in five parts, shortest first, at their median tokens; {level:g}% "
            "intervals by items; difficulty is in it: hard items draw long replies",
            level=100 * level,
        )
        + (cut if len(shown) < len(labels) else ""),
        marks=tuple(
            Mark(
                row=each.label,
                value=each.score.value,
                low=each.score.low,
                high=each.score.high,
                n=each.score.n,
                x=each.tokens,
            )
            for each in bins
            if each.label in shown
        ),
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("tokens of the reply"),
        x_unit="number",
        is_log=True,
        table=table,
    )
