"""The parts of a page of verified triples after its leaderboard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.report.figures import (
    extreme_of,
    extreme_sentence,
    fictional_finding,
    fictional_section,
    plane_section,
)
from proofstone.methods.bequ.report.words import (
    MEASURE_HELP,
    counted_rows,
    headed,
    is_above,
    measure_name,
    part_name,
    shown_range,
    value_name,
)
from proofstone.methods.bequ.verification.records import Breakdown, Group, Measured
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Span,
    Table,
    estimate_mark,
    points,
    shown_estimate,
    shown_share,
)
from proofstone.records.runs import Estimate
from proofstone.results.board import RowGroup
from proofstone.results.cards import card_value, group_order
from proofstone.results.sentences import group_heading
from proofstone.wording.messages import counted, joined, paragraph, say, word

# The answer of a page of verified triples: who leads on F1, and what cannot be told apart.

_MOST_NAMED = 3


def ranked_rows(board: TripleBoard) -> list[TripleRow]:
    """The rows that are ranked with the first, in falling order of F1: those of models, or, where
    no model is ranked, simulated ones."""
    ranked = [row for row in board.rows if row.rank is not None]
    return [row for row in ranked if row.simulated == ranked[0].simulated]


def answer_of(board: TripleBoard) -> tuple[str, ...]:
    """Sentences, the reader's answer first; nothing is ranked where nothing was judged."""
    ranked = ranked_rows(board)
    if not board.rows:
        return (say("No triple has been verified yet, so there is nothing to rank."),)
    if not ranked and not board.is_common:
        return (say("These models were not held against the same entities, so nobody is ranked."),)
    if not ranked:
        return (
            say("Of no model were both directions judged yet, so there is no F1 and no ranking."),
        )
    return tuple(filter(None, (_leader(board, ranked), _made_of(ranked[0]), _rest(board, ranked))))


def partial_notes(board: TripleBoard) -> tuple[str, ...]:
    """What is not there yet; nothing of a whole board."""
    waiting = sum(row.waiting for row in board.rows)
    partial = say(
        "Partial: {triples} of the samples wait for a judge and are in no figure; score the runs "
        "again with the same judge.",
        triples=counted(waiting, "triple"),
    )
    bare = [row.label for row in board.rows if not row.measured.estimates and not row.waiting]
    nothing = say("Nothing was verified of {models}.", models=joined(bare))
    return (*([partial] if waiting else []), *([nothing] if bare else []))


def _leader(board: TripleBoard, ranked: list[TripleRow]) -> str:
    first = ranked[0]
    score, entities = shown_estimate(first.measured.estimates["f1"]), _entities(board)
    if len(ranked) == 1:
        return say(
            "{first} reaches an F1 of {score} on {entities}; no other model is ranked beside it.",
            first=first.label,
            score=score,
            entities=entities,
        )
    return say(
        "Of {models} on {entities}, {first} has the highest F1, {score}, {lead}",
        models=counted_rows(ranked),
        entities=entities,
        first=first.label,
        score=score,
        lead=_lead(ranked),
    )


def _lead(ranked: list[TripleRow]) -> str:
    """What the first place is worth, as the end of a sentence."""
    others = [row.label for row in ranked[1:] if row.rank is not None and row.rank.low == 1]
    high = ranked[0].rank.high if ranked[0].rank else 1
    if high == 1:
        return say("and its lead over every other model is statistically significant.")
    if len(others) != high - 1 or len(others) > _MOST_NAMED:
        named = counted(high - 1, "other")
    else:
        named = joined(others)
    return say("but its lead over {others} is not significant.", others=named)


def _made_of(row: TripleRow) -> str:
    """What the leader's F1 is made of."""
    estimates = row.measured.estimates
    said = say(
        "Of 100 triples that {model} said {precision} are supported (precision); of 100 that the "
        "reference knows it said {recall} (recall).",
        model=row.label,
        precision=shown_estimate(estimates["precision"]),
        recall=shown_estimate(estimates["recall"]),
    )
    against = estimates.get("contradiction")
    contradicted = (
        say("{share} of its triples contradict the reference.", share=shown_share(against.value))
        if against is not None
        else ""
    )
    abstained = (
        say("It abstained on {share} of entities.", share=shown_share(row.abstention.value))
        if row.abstention.n
        else ""
    )
    return paragraph(said, contradicted, abstained)


def _rest(board: TripleBoard, ranked: list[TripleRow]) -> str:
    n = sum(row.rank is None for row in board.rows)
    if not n:
        return ""
    return say(
        "{models} cannot be ranked yet: triples wait for a judge, or nothing of one direction was "
        "judged.",
        models=counted(n, "more model"),
    )


def _entities(board: TripleBoard) -> str:
    return counted(board.entities, "entity", "entities")


# The leaderboard of verified triples as a table, and its figure.

LEADING = ("f1", "precision", "recall", "contradiction", "unparsed", "recall_unparsed")


_OPENNESS = {"closed": "commercial", "open weights": "open", "fully open": "open"}


def openness_of(row: TripleRow) -> str:
    """Commercial, open or unknown, by the model's card."""
    said = card_value(row.card, "openness")
    return word(_OPENNESS.get(said, said))


def triples_an_entity(row: TripleRow) -> float | None:
    """Triples said of an entity with a reply; None where there is none."""
    said = row.volunteered
    return said.triples / said.entities if said.entities else None


class RowsTogether(Struct, frozen=True):
    """Rows that stand together, under a heading where there is more than one such part; ``name``
    is that of their group by the models' cards."""

    name: str
    heading: str
    rows: tuple[TripleRow, ...]


def rows_together(board: TripleBoard) -> Iterator[RowsTogether]:
    """The rows of models and then simulated ones, which are ranked among themselves, each by what
    their cards say where the board is grouped."""
    both = len({row.simulated for row in board.rows}) > 1
    for simulated in (False, True):
        own = [row for row in board.rows if row.simulated == simulated]
        kind = say("Simulated respondents") if simulated and both else ""
        if not board.group_by:
            if own:
                yield RowsTogether("", kind, tuple(own))
            continue
        found: dict[str, list[TripleRow]] = {}
        for row in own:
            found.setdefault(card_value(row.card, board.group_by), []).append(row)
        for value in sorted(found, key=lambda value: group_order(board.group_by, value)):
            places = tuple(range(len(found[value])))
            heading = group_heading(board.group_by, RowGroup(name=value, ranked=places))
            shown = say("; ").join(filter(None, (kind, heading)))
            yield RowsTogether(word(value), shown, tuple(found[value]))


def why_unranked(row: TripleRow) -> str:
    """Why a row has no rank, in words."""
    if row.experiment:
        return say("not ranked: an experiment with another setting")
    if row.waiting:
        return say("not ranked: {triples} wait for a judge", triples=counted(row.waiting, "triple"))
    if row.other_entities:
        return say(
            "not ranked: held against other entities than most, {entities} differ",
            entities=counted(row.other_entities, "entity", "entities"),
        )
    if "f1" not in row.measured.estimates:
        return say("not ranked: nothing of one direction was judged")
    return say("not ranked: no other model was held against the same entities")


def standing_table(board: TripleBoard) -> Table:
    """The leaderboard as a table that files hold, too."""
    return Table(
        title=say("Leaderboard"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="rank", name=say("rank"), unit="rank"),
            Column(key="openness", name=say("openness")),
            *(
                Column(
                    key=name, name=measure_name(name), unit="points", help=word(MEASURE_HELP[name])
                )
                for name in LEADING
            ),
            Column(key="abstention", name=say("abstention"), unit="points"),
            Column(key="triples_an_entity", name=say("triples an entity"), digits=1),
            Column(key="fictional_given", name=say("fictional given"), unit="points"),
            Column(key="waiting", name=say("waiting")),
            Column(key="config", name=say("configuration")),
        ),
        rows=tuple(_row(row) for row in board.rows),
    )


def _row(row: TripleRow) -> tuple[Cell, ...]:
    estimates = row.measured.estimates
    return (
        row.label,
        row.rank,
        openness_of(row),
        *(estimates.get(name) for name in LEADING),
        row.abstention,
        triples_an_entity(row),
        row.fictional_given,
        row.waiting,
        row.config,
    )


def f1_figure(board: TripleBoard) -> Figure | None:
    """F1 of the ranked rows with ties as bars; None where no row is ranked."""
    rows = [row for row in ranked_rows(board) if not math.isnan(_f1(row).low)]
    if not rows:
        return None
    return Figure(
        name="f1",
        kind="dots",
        title=say("{measure} by model", measure=measure_name("f1")),
        subtitle=say(
            "{entities}; {level:g}% intervals over entities, both directions drawn together",
            entities=counted(board.entities, "entity", "entities"),
            level=100 * board.confidence,
        ),
        marks=tuple(_mark(row) for row in rows),
        spans=tuple(Span(first=first, last=last) for first, last in board.ties),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("ranks left open"),
    )


def _f1(row: TripleRow) -> Estimate:
    return row.measured.estimates["f1"]


def _mark(row: TripleRow) -> Mark:
    found = _f1(row)
    return estimate_mark(
        found,
        row=row.label,
        text=shown_estimate(found),
        x_low=float("nan") if row.rank is None else row.rank.low,
        x_high=float("nan") if row.rank is None else row.rank.high,
    )


# Key findings of a page of verified triples: each computed, and said only as far as its interval
# carries it.


def findings_of(board: TripleBoard) -> tuple[str, ...]:
    """Sentences, those first that say most of the models. None where nothing was judged."""
    return tuple(filter(None, (make(board) for make in _FINDINGS)))


def _ties(board: TripleBoard) -> str:
    """Which models share a place, by the first run of places that is tied."""
    rows = ranked_rows(board)
    if len(rows) < 2 or not board.ties:
        return (
            say("Models with adjacent ranks all differ significantly in F1.")
            if len(rows) > 1
            else ""
        )
    first, last = board.ties[0]
    return say(
        "The F1 of {models} does not differ significantly.",
        models=joined([row.label for row in rows[first : last + 1]], 6),
    )


def _gap(board: TripleBoard) -> str:
    """Whose precision and recall lie furthest apart."""
    rows = [row for row in board.rows if {"precision", "recall"} <= row.measured.estimates.keys()]
    apart = [row for row in rows if _is_apart(row, len(rows))]
    if not rows:
        return ""
    if not apart:
        return say("No model's precision differs from its recall beyond their intervals.")
    widest = max(apart, key=lambda row: abs(_precision(row).value - _recall(row).value))
    lower, upper = sorted((_precision(widest), _recall(widest)), key=lambda each: each.value)
    is_careful = _precision(widest) is upper
    return say(
        "The widest gap between precision and recall is that of {model}: {what} {high} against "
        "{other} {low}. They differ beyond their intervals in {n} of {models}.",
        model=widest.label,
        what=measure_name("precision" if is_careful else "recall"),
        other=measure_name("recall" if is_careful else "precision"),
        high=shown_estimate(upper),
        low=shown_estimate(lower),
        n=len(apart),
        models=counted_rows(rows),
    )


def _is_apart(row: TripleRow, looked: int) -> bool:
    precision, recall = _precision(row), _recall(row)
    return is_above(precision, recall, looked) or is_above(recall, precision, looked)


def _precision(row: TripleRow) -> Estimate:
    return row.measured.estimates["precision"]


def _recall(row: TripleRow) -> Estimate:
    return row.measured.estimates["recall"]


def _by(by: Breakdown, measure: str) -> Callable[[TripleBoard], str]:
    def made(board: TripleBoard) -> str:
        said = extreme_of(board, by, measure)
        return "" if said is None else extreme_sentence(said)

    return made


def _undecided(board: TripleBoard) -> str:
    """How much the reference leaves open: it bounds every precision from above."""
    shares = [found.value for row in board.rows if (found := row.measured.estimates.get("neutral"))]
    if not shares:
        return ""
    return say(
        "The reference decides neither way {share} of what models said: no precision here can be "
        "above what it knows.",
        share=shown_range(shares),
    )


_FINDINGS: tuple[Callable[[TripleBoard], str], ...] = (
    _ties,
    _gap,
    _by("popularity", "f1"),
    _by("domain", "f1"),
    _by("family", "contradiction"),
    fictional_finding,
    _undecided,
)


# What became of the triples that models said: supported, contradicted, or not decided.

_MEASURES = (
    "precision", "contradiction", "neutral", "without_reference", "unparsed", "precision_judged",
    "precision_decided", "recall_judged", "recall_contradiction", "recall_unparsed",
)  # fmt: skip


def rates_section(board: TripleBoard) -> Section | None:
    """Contradiction and neutral rates, and precision by what it is divided by; None where no
    triple that a model said was judged."""
    rows = [row for row in board.rows if "contradiction" in row.measured.estimates]
    if not rows:
        return None
    return Section(
        name="rates",
        title=say("Contradicted, and not decided"),
        finding=_finding(rows),
        plain=say(
            "Neutral is not false: the reference says nothing either way. Precision of what was "
            "decided leaves neutral triples out, and is the other end of what may be true."
        ),
        tables=(_table(rows),),
        figures=(_figure(board, rows, "contradiction"), _figure(board, rows, "neutral")),
    )


def _finding(rows: Sequence[TripleRow]) -> str:
    against = [row.measured.estimates["contradiction"].value for row in rows]
    neutral = [
        found.value for row in rows if (found := row.measured.estimates.get("neutral")) is not None
    ]
    if len(rows) == 1 and neutral:
        return say(
            "Of what {model} said the reference contradicts {against} and does not decide "
            "{neutral}.",
            model=rows[0].label,
            against=shown_share(against[0]),
            neutral=shown_share(neutral[0]),
        )
    if not neutral:
        return say(
            "The reference contradicts {share} of what models said.", share=shown_range(against)
        )
    return say(
        "The reference contradicts {against} of what models said, and does not decide {neutral}.",
        against=shown_range(against),
        neutral=shown_range(neutral),
    )


def _table(rows: Sequence[TripleRow]) -> Table:
    held = [name for name in _MEASURES if any(name in row.measured.estimates for row in rows)]
    return Table(
        title=say("Verdict rates and denominators"),
        columns=(
            Column(key="model", name=word("model")),
            *(
                Column(
                    key=name, name=measure_name(name), unit="points", help=word(MEASURE_HELP[name])
                )
                for name in held
            ),
        ),
        rows=tuple((row.label, *_cells(row, held)) for row in rows),
    )


def _cells(row: TripleRow, held: Sequence[str]) -> list[Cell]:
    return [row.measured.estimates.get(name) for name in held]


def _figure(board: TripleBoard, rows: Sequence[TripleRow], measure: str) -> Figure:
    known = [
        (row, found)
        for row in rows
        if (found := row.measured.estimates.get(measure)) and not math.isnan(found.value)
    ]
    known.sort(key=lambda pair: (-pair[1].value, pair[0].label))
    return Figure(
        name=measure,
        kind="dots",
        title=say("{measure} by model", measure=headed(measure)),
        subtitle=say(
            "{models}; of all triples sampled; {level:g}% intervals",
            models=counted_rows([row for row, _found in known]),
            level=100 * board.confidence,
        ),
        marks=tuple(_rates_mark(row, found) for row, found in known),
        row_axis=word("model"),
        value_axis=say("points"),
        table=1,
    )


def _rates_mark(row: TripleRow, found: Estimate) -> Mark:
    return estimate_mark(found, row=row.label, text=shown_estimate(found))


# F1 and what it is made of by domain, popularity, source and predicate family.

# What each breakdown is read by, first the measure of its finding. The precision of a source is
# that of what its passages decided, so that no F1 is made of it.
PART_MEASURES: Mapping[Breakdown, tuple[str, ...]] = {
    "domain": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "popularity": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "source": ("recall", "precision", "recall_unparsed"),
    "family": ("contradiction", "f1", "precision", "recall", "unparsed", "recall_unparsed"),
}


_MOST_VALUES = 30  # rows of a figure that fits on a printed page


_MOST_MODELS = 30


_FIGURE_OF: Mapping[Breakdown, str] = {
    "domain": "f1", "popularity": "f1", "source": "recall", "family": "f1"
}  # fmt: skip


def part_sections(board: TripleBoard) -> Iterator[Section]:
    """A section for each breakdown of which there are two values or more."""
    for by, measures in PART_MEASURES.items():
        parts = _Parts(board, by)
        if len(parts.values) > 1:
            yield _section(parts, measures)


class _Parts:
    """The measures of one breakdown: values down, rows of the board across."""

    def __init__(self, board: TripleBoard, by: Breakdown) -> None:
        found = [part for part in board.parts if part.by == by]
        self.board, self.by = board, by
        self.rows: Sequence[TripleRow] = board.rows
        self.values = sorted({part.value for part in found})
        self._at: dict[tuple[Group, str], Measured] = {
            (part.group, part.value): part for part in found
        }

    def estimate(self, row: TripleRow, value: str, measure: str) -> Estimate | None:
        """One of the measures; None where nothing counts in it."""
        found = self._at.get((row.group, value))
        return None if found is None else found.estimates.get(measure)

    def triples(self, value: str) -> int:
        """How many triples of all rows and both directions have a value."""
        return sum(
            n
            for row in self.rows
            if (found := self._at.get((row.group, value)))
            for counts in found.counts.values()
            for n in counts.values()
        )


def _section(parts: _Parts, measures: Sequence[str]) -> Section:
    by = part_name(parts.by)
    tables = [_parts_table(parts, measure) for measure in measures if _known(parts, measure)]
    return Section(
        name=f"by-{parts.by}",
        title=say("By {by}", by=by),
        finding=_parts_finding(parts, measures[0]),
        plain=_beside(parts, measures[1]) if parts.by in ("source", "family") else "",
        cannot=_limits(parts),
        how=say(
            "The same measures over the triples of each part. Parts were not drawn: an interval "
            "speaks of other entities of the same part."
        ),
        tables=tuple(tables),
        figures=tuple(_figures(parts, [each for each in measures if "unparsed" not in each])),
    )


def _known(parts: _Parts, measure: str) -> bool:
    return any(parts.estimate(row, value, measure) for row in parts.rows for value in parts.values)


def _parts_finding(parts: _Parts, measure: str) -> str:
    said = extreme_of(parts.board, parts.by, measure)
    groups = counted(len(parts.values), "group")
    if said is None:
        return say(
            "{measure} by {by}: {groups}; no model has values in two of them to compare.",
            measure=headed(measure),
            by=part_name(parts.by),
            groups=groups,
        )
    return extreme_sentence(said)


def _beside(parts: _Parts, measure: str) -> str:
    """What another measure says, where its intervals carry it."""
    said = extreme_of(parts.board, parts.by, measure)
    return extreme_sentence(said) if said is not None and said.carried else ""


def _limits(parts: _Parts) -> str:
    if parts.by == "source":
        return say(
            "The recall of a source is of what was taken from it. Its precision is of the triples "
            "that its passages were cited for: it says which source settles more, not how much is "
            "true."
        )
    if parts.by == "family":
        return say(
            "Families go by words of the predicate: models make predicates up, so there is no "
            "closed list of them."
        )
    return ""


def _parts_table(parts: _Parts, measure: str) -> Table:
    return Table(
        title=say("{measure} by {by}", measure=headed(measure), by=part_name(parts.by)),
        columns=(
            Column(key=parts.by, name=part_name(parts.by)),
            Column(
                key="n", name=say("triples"), help=say("of all models and both directions, sampled")
            ),
            *(Column(key=row.label, name=row.label, unit="points") for row in parts.rows),
        ),
        rows=tuple(_table_row(parts, value, measure) for value in parts.values),
    )


def _table_row(parts: _Parts, value: str, measure: str) -> tuple[Cell, ...]:
    cells = [parts.estimate(row, value, measure) for row in parts.rows]
    return (value_name(value), parts.triples(value), *cells)


def _figures(parts: _Parts, measures: Sequence[str]) -> Iterator[Figure]:
    """Of the figure's measure all models on a line a value, and, of several, the same in cells."""
    measure = _FIGURE_OF[parts.by]
    marks = tuple(_marks(parts, measure))
    if len({mark.row for mark in marks}) < 2:
        return
    shown = parts.values[:_MOST_VALUES]
    table = 1 + measures.index(measure) if _known(parts, measures[0]) else 0
    said = say(
        "the first three models with {level:g}% intervals, a tick for every other",
        level=100 * parts.board.confidence,
    )
    cut = say("the first {n} of {all} groups", n=len(shown), all=len(parts.values))
    title = say("{measure} by {by}", measure=headed(measure), by=part_name(parts.by))
    axis = say("points")
    yield Figure(
        name=f"{measure}-by-{parts.by}", kind="strips", title=title,
        subtitle=f"{said}; {cut}" if len(shown) < len(parts.values) else said,
        marks=marks, row_axis=part_name(parts.by), column_axis=word("model"), value_axis=axis,
        table=table,
    )  # fmt: skip
    if len(parts.rows) > 1 and len(parts.rows) * len(shown) > 6:
        yield Figure(
            name=f"{measure}-by-{parts.by}-cells", kind="heat", title=title,
            subtitle=say("points out of 100; darker is higher"),
            marks=tuple(_parts_cells(marks)), row_axis=word("model"),
            column_axis=part_name(parts.by),
            value_axis=axis, table=table,
        )  # fmt: skip


def _marks(parts: _Parts, measure: str) -> Iterator[Mark]:
    for value in parts.values[:_MOST_VALUES]:
        for row in parts.rows:
            found = parts.estimate(row, value, measure)
            if found is not None and not math.isnan(found.value):
                yield estimate_mark(
                    found, row=value_name(value), column=row.label, text=shown_estimate(found)
                )


def _parts_cells(marks: Sequence[Mark]) -> Iterator[Mark]:
    """The same with models down and values across."""
    models = list(dict.fromkeys(mark.column for mark in marks))[:_MOST_MODELS]
    for model in models:
        for mark in marks:
            if mark.column == model:
                yield structs.replace(mark, row=model, column=mark.row, text=points(mark.value))


def triple_sections(board: TripleBoard) -> tuple[Section, ...]:
    """Each that these results can carry; none where nothing was judged."""
    made = (plane_section(board), *part_sections(board), fictional_section(board))
    return tuple(part for part in (*made, rates_section(board)) if part is not None)
