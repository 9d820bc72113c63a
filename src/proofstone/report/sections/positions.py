"""Does a model favour a position among the options?"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import PositionBias, position_bias
from proofstone.records.score_table import ScoreTable
from proofstone.report.numbers import shown_share
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.report.sheet import Sheet
from proofstone.wording import counted, noted, say, word

__all__ = ["positions_section"]


def positions_section(evidence: Evidence) -> Section | None:
    """Accuracy by the right option's position, how often each position is chosen, and the tests.
    None unless right answers and answers are letters, and numbers of options are known."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or not _has_positions(sheet.table):
        return None
    found = [_bias(evidence, sheet, who) for who in ranked.respondents]
    rejected = [
        (label, bias)
        for label, bias in zip(ranked.labels, found, strict=True)
        if bias.error.p < 0.05 / len(found)
    ]
    return Section(
        name="positions",
        title=say("Position bias"),
        finding=_finding(rejected, len(found)),
        how=(
            say(
                "Three chi-square tests by model, added up over questions of the same number "
                "of options: one accuracy wherever the right option stands; all positions "
                "chosen alike often; wrong choices spread evenly over the wrong positions, "
                "which no key can cause. {depends} The finding goes by the last, at 5% "
                "corrected for all models.",
                depends=_depends(evidence, found),
            )
        ),
        tables=(_tests(ranked, found), _shares(ranked, found)),
    )


def _depends(evidence: Evidence, found: Sequence[PositionBias]) -> str:
    designs = [test.design for bias in found for test in (bias.accuracy, bias.choice, bias.error)]
    if all(math.isnan(each) or each == 1.0 for each in designs):
        return say("Replies share nothing that is known, and count as independent.")
    return say(
        "Replies of one item depend on each other (p after Rao and Scott 1984, second order)."
        if evidence.estimand == "bank"
        else "Replies of one item or of items that share a key depend on each other (p after Rao "
        "and Scott 1984, second order)."
    )


def _has_positions(table: ScoreTable) -> bool:
    letters = [name for name in table.answers if name]
    if table.order is not None and not table.orders_spelled:
        return False  # a letter is another option in each order, and so is the right one
    return (
        any(table.golds)
        and bool((table.n_options > 0).any())
        and bool(letters)
        and all(len(name) == 1 for name in (*table.golds, *letters) if name)
    )


def _bias(evidence: Evidence, sheet: Sheet, respondent: int) -> PositionBias:
    table = sheet.table
    rows = np.flatnonzero(table.respondent == respondent)
    unit = table.unit[rows]
    gold = _positions(table.golds)[table.gold[unit]]
    chosen = _positions(table.answers)[table.answer[rows]]
    if table.order is not None:
        orders = table.order[rows]
        gold, chosen = (_as_shown(each, orders, table.orders) for each in (gold, chosen))
    return position_bias(
        sheet.counted[rows],
        gold,
        chosen,
        table.n_options[unit],
        unit=unit,
        keys=sheet.keys if evidence.estimand == "knowledge" else None,
    )


def _as_shown(
    original: NDArray[np.int64], orders: NDArray[np.int32], names: Sequence[str]
) -> NDArray[np.int64]:
    """Places in the original order as places in the one that each reply was shown, a code of
    ``names``; -1 for those that are not known."""
    most = max([len(name) for name in names], default=0)
    shown = np.full((len(names) + 1, most + 1), -1, dtype=np.int64)
    for code, name in enumerate(names):
        for place, letter in enumerate(name):
            shown[code, string.ascii_uppercase.index(letter)] = place
    kept = np.where(original < most, original, -1)
    return np.asarray(shown[orders, kept])


def _positions(names: Sequence[str]) -> NDArray[np.int64]:
    """Letters (or the digits from 1 on) as places from 0; -1 for anything else."""
    places = {letter: place for place, letter in enumerate(string.ascii_uppercase)}
    places |= {str(digit): digit - 1 for digit in range(1, 10)}
    return np.array([places.get(name.strip().upper(), -1) for name in names], dtype=np.int64)


def _finding(rejected: Sequence[tuple[str, PositionBias]], n: int) -> str:
    if not rejected:
        return say(
            "No position is significantly favored by the wrong answers of any of {models}.",
            models=counted(n, "model"),
        )
    label, bias = max(rejected, key=lambda pair: pair[1].error.chi_square)
    most = max(bias.positions, key=lambda each: each.chosen - each.expected)
    asked = max(sum(each.chosen for each in bias.positions), 1)
    letter = string.ascii_uppercase[most.position]
    chosen, even = shown_share(most.chosen / asked), shown_share(most.expected / asked)
    return say(
        "The wrong answers of {n} of {models} favour some positions; most so {label}, "
        "which chooses {letter} in {chosen} of its replies where {even} would be even.",
        n=len(rejected),
        models=counted(n, "model"),
        label=label,
        letter=letter,
        chosen=chosen,
        even=even,
    )


def _tests(ranked: RankedValues, found: Sequence[PositionBias]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, bias in zip(ranked.labels, found, strict=True):
        cells: list[Cell] = [label]
        for test in (bias.accuracy, bias.choice, bias.error):
            known = not math.isnan(test.chi_square)
            cells += [test.chi_square if known else None, test.p if known else None]
        rows.append((*cells, bias.unread))
    names = ("accuracy", noted("choice"), noted("wrong choices"))
    heads = [
        column
        for name in names
        for column in (
            Column(
                key=f"{name}_chi_square", name=say("{name}, chi-square", name=word(name)), digits=1
            ),
            Column(key=f"{name}_p", name=say("p"), unit="probability"),
        )
    ]
    return Table(
        title=say("Tests by model"),
        columns=(
            Column(key="model", name=say("model")),
            *heads,
            Column(key="unread", name=say("no choice"), help=say("replies that chose no position")),
        ),
        rows=tuple(rows),
    )


def _shares(ranked: RankedValues, found: Sequence[PositionBias]) -> Table:
    rows = [
        (
            label,
            string.ascii_uppercase[each.position],
            each.right,
            each.accuracy,
            each.chosen,
            round(each.expected, 1),
        )
        for label, bias in zip(ranked.labels, found, strict=True)
        for each in bias.positions
    ]
    return Table(
        title=say("By position"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="position", name=say("position")),
            Column(
                key="right",
                name=say("right there"),
                help=say("replies to questions whose right option stood there"),
            ),
            Column(key="accuracy", name=say("score"), unit="points"),
            Column(key="chosen", name=say("chosen")),
            Column(
                key="expected",
                name=say("if even"),
                digits=1,
                help=say("choices if all positions were chosen alike"),
            ),
        ),
        rows=tuple(rows),
    )
