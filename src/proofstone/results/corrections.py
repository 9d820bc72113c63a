"""Apply corrections to a score table: overrides and excluded items.

The input table is not modified, so that both leaderboards can be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proofstone.records.reviews import Verdict
from proofstone.records.runs import Measure, values_kind
from proofstone.records.scores import Corrections, HeldRole, ScoreTable
from proofstone.results.board import Board, BoardRow, Standings
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import counted_values, outcome_code
from proofstone.wording.messages import counted, noted, paragraph, say, say_of


@dataclass(frozen=True, slots=True)
class TableOverride:
    """An override of one response: model (by index), item and sample."""

    respondent: int
    item: bytes
    sample: int
    verdict: Verdict


def apply_overrides(
    table: ScoreTable, overrides: Sequence[TableOverride], measure: Measure
) -> ScoreTable:
    """Return the table with overridden scores and counts of overrides per model.

    ``correct`` sets the value to 1 and ``incorrect`` to 0 for every unit of the item, including
    each statement of a judged question. For units with a closed set of labels, the recorded answer
    follows: the answer key, or another label. ``invalidated`` removes the response from the
    denominator; it is not counted as missing. An item without any remaining sample leaves the items
    common to all models. Raised, lowered and upheld compare the scores under ``measure`` before and
    after.
    """
    verdicts = _by_row(table, overrides)
    if not verdicts:
        return table
    rows = np.array(sorted(verdicts), dtype=np.int64)
    invalidated = np.array([verdicts[row] == "invalidated" for row in rows.tolist()])
    worth = np.array([float(verdicts[row] == "correct") for row in rows.tolist()])
    outcome, value = table.outcome.copy(), table.value.copy()
    before = np.nan_to_num(counted_values(measure.counts, outcome[rows], value[rows]))
    outcome[rows], value[rows] = outcome_code("answered"), worth
    kept = np.ones(len(outcome), dtype=bool)
    kept[rows[invalidated]] = False
    expected = table.expected.copy()
    np.subtract.at(expected, table.respondent[rows[invalidated]], 1)
    expected = np.maximum(expected, 0)  # parts of responses have no expected number
    answer, answers = _overridden_answers(table, rows, worth > 0, measure)
    changed = replace(
        table, outcome=outcome, value=value, expected=expected, answer=answer, answers=answers
    )
    counts = _counts(table, rows, invalidated, worth - before)
    return replace(_rows(changed, kept), corrections=counts)


def _overridden_answers(
    table: ScoreTable, rows: NDArray[np.int64], right: NDArray[np.bool_], measure: Measure
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the answer codes and labels, made consistent with the overrides.

    Units without an answer key are unchanged, and so are items scored as a share of several
    answers.
    """
    places = {name: code for code, name in enumerate(table.answers)}
    answer = table.answer.copy()
    for row, is_right in zip(rows.tolist(), right.tolist(), strict=True):
        unit = int(table.unit[row])
        answer_key = table.answer_keys[int(table.answer_key[unit])]
        who = table.respondents[int(table.respondent[row])]
        if not answer_key or (values_kind(who.scale) and measure.unit == "item"):
            continue
        said = table.answers[int(answer[row])]
        wanted = answer_key if is_right else _wrong_answer(said, answer_key)
        answer[row] = places.setdefault(wanted, len(places))
    return answer, tuple(places)


def _wrong_answer(said: str, answer_key: str) -> str:
    """Return an incorrect answer: the opposite verdict, the option chosen if wrong, or ""."""
    other = {"true": "false", "false": "true"}.get(answer_key)
    if other is not None:
        return other
    return "" if said == answer_key else said


def leave_out(table: ScoreTable, items: Collection[bytes]) -> ScoreTable:
    """Return the table without these items and their rows; remaining units are renumbered.

    ``expected`` is unchanged, because the number expected for the remaining items is not known
    here.
    """
    kept = np.array([item not in items for item in table.items], dtype=bool)
    if kept.all():
        return table
    units = np.flatnonzero(kept)
    place = np.full(len(kept), -1, dtype=np.int32)
    place[units] = np.arange(len(units), dtype=np.int32)
    edges = SharedKeys(len(kept), table.cluster_unit, table.cluster_key).among(units)
    fewer = replace(
        _rows(table, kept[table.unit]),
        items=tuple(table.items[unit] for unit in units.tolist()),
        strata={level: codes[kept] for level, codes in table.strata.items()},
        answer_key=table.answer_key[kept],
        n_options=table.n_options[kept],
        form=table.form[kept],
        cluster_unit=edges.unit,
        cluster_key=edges.key,
        roles=tuple(_renumbered(held, place) for held in table.roles),
    )
    return replace(fewer, unit=place[fewer.unit])


def _by_row(table: ScoreTable, overrides: Sequence[TableOverride]) -> Mapping[int, Verdict]:
    """Return the verdict by row for each overridden row."""
    wanted = {(r.respondent, r.item, r.sample): r.verdict for r in overrides}
    overridden_items = {override.item for override in overrides}
    units = [unit for unit, item in enumerate(table.items) if item in overridden_items]
    found: dict[int, Verdict] = {}
    for row in np.flatnonzero(np.isin(table.unit, units)).tolist():
        who, sample = int(table.respondent[row]), int(table.sample[row])
        verdict = wanted.get((who, table.items[table.unit[row]], sample))
        if verdict is not None:
            found[row] = verdict
    return found


def _counts(
    table: ScoreTable,
    rows: NDArray[np.int64],
    invalidated: NDArray[np.bool_],
    change: NDArray[np.float64],
) -> tuple[Corrections, ...]:
    """Count the overridden rows by kind of change, one record per model."""
    who = table.respondent[rows]
    kinds = (
        ~invalidated & (change > 0),
        ~invalidated & (change < 0),
        ~invalidated & (change == 0),
        invalidated,
    )
    by_kind = [np.bincount(who[kind], minlength=len(table.respondents)) for kind in kinds]
    return tuple(Corrections(*map(int, counts)) for counts in zip(*by_kind, strict=True))


def _rows(table: ScoreTable, kept: NDArray[np.bool_]) -> ScoreTable:
    """Return the table with the rows selected by a mask (N)."""
    return replace(
        table,
        unit=table.unit[kept],
        respondent=table.respondent[kept],
        sample=table.sample[kept],
        outcome=table.outcome[kept],
        value=table.value[kept],
        answer=table.answer[kept],
        confidence=None if table.confidence is None else table.confidence[kept],
        tokens=None if table.tokens is None else table.tokens[kept],
    )


def _renumbered(held: HeldRole, place: NDArray[np.int32]) -> HeldRole:
    units = place[held.units]
    return replace(held, units=units[units >= 0])


# Corrections on a leaderboard: overrides by model, excluded items.

OVERRIDE_HEADS = (
    noted("ruled on"),
    noted("responses"),
    noted("raised"),
    noted("lowered"),
    noted("upheld"),
    noted("invalidated"),
)


def overridden_rows(group: Standings) -> Sequence[BoardRow]:
    """Return all rows of a group if any response in it was overridden, otherwise none.

    Rows without overrides are included so that unequal numbers are visible.
    """
    return group.rows if any(row.corrections.total for row in group.rows) else ()


def override_cells(row: BoardRow) -> tuple[int, ...]:
    """Return the numbers under OVERRIDE_HEADS, including the number of responses."""
    overridden = row.corrections
    responses = row.n_responses + overridden.invalidated
    return (
        overridden.total,
        responses,
        overridden.raised,
        overridden.lowered,
        overridden.upheld,
        overridden.invalidated,
    )


def correction_notes(board: Board) -> Iterator[str]:
    """Yield sentences on excluded items and invalidated responses, and on how to ignore both."""
    if board.n_excluded:
        yield say_of(
            board.n_excluded,
            "{items} is excluded.",
            "{items} are excluded.",
            items=counted(board.n_excluded, "item"),
        )
    for group in board.standings:
        n_invalidated = sum(row.corrections.invalidated for row in group.rows)
        left_out = board.n_items - group.n_items
        if n_invalidated and group.is_common and group.ranked and left_out > 0:
            yield paragraph(
                say_of(
                    n_invalidated,
                    "{responses} is invalidated.",
                    "{responses} are invalidated.",
                    responses=counted(n_invalidated, "response", "responses"),
                ),
                say(
                    "An item invalidated for one model is left out for all: {n:,} of {items}.",
                    n=left_out,
                    items=counted(board.n_items, "item"),
                ),
            )
    if board.is_corrected:
        yield say("As people corrected it; before any correction: --ignore-corrections.")
    elif board.ignore_corrections:
        yield say("Corrections are ignored: no override and no exclusion is applied.")
