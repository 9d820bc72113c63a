"""Leaderboard as aligned plain text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from proofstone.errors import BadUsage
from proofstone.page.section import (
    MISSING,
    points,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
)
from proofstone.page.text import (
    aligned,
    cell_width,
    fits,
    fitted,
    narrowed,
    padded,
    printable,
    tinted,
    widths,
    wrapped,
)
from proofstone.records.runs import Estimate
from proofstone.results.board import WARN_ABOVE, Advice, Board, BoardRow, Breakdown, Rate, Standings
from proofstone.results.cards import card_value
from proofstone.results.corrections import (
    OVERRIDE_HEADS,
    correction_notes,
    overridden_rows,
    override_cells,
)
from proofstone.results.plan import plan_lines
from proofstone.results.sentences import (
    SELF_EVALUATION_MARK,
    apart_name,
    apart_reason,
    group_heading,
    marked,
    self_evaluation_sentence,
    standing_answer,
    where_lines,
)
from proofstone.stats.intervals import Bounds
from proofstone.wording.messages import counted, listed, noted, paragraph, say, word

SIMULATED_BANNER = noted(
    "SIMULATED models: a program generated these responses, not a language model"
)


_LABEL = 8


class Leaderboard(Board, frozen=True, kw_only=True):
    """A board that prints as the terminal table, also in a notebook."""

    def __str__(self) -> str:
        return render_terminal(self).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)


def render_terminal(
    board: Board,
    *,
    heading: Sequence[tuple[str, str]] = (),
    next_steps: Sequence[tuple[str, str]] = (),
    card_columns: Sequence[str] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """Return the leaderboard as text ending in a newline, one fact per line.

    ``heading`` and ``next_steps`` are labeled lines above and below the table. If rows exceed
    ``width`` cells, columns of outcomes that never occurred become a sentence. Names are shortened
    next, to no less than 12 cells. ``card_columns`` are fields of the model cards to show next to
    the names. ``colour`` applies to the banner and warnings only.
    """
    lines = [_labelled(word(label), text) for label, text in heading]
    if board.is_of_labels:
        lines.append(say("labels only: there are no scores and no ranking"))
    elif not board.standings:
        lines.append(say("no scores yet: nothing to rank"))
    for group in board.standings:
        lines += _standings(board, group, card_columns, width=width, colour=colour)
    lines += plan_lines(board)
    lines += where_lines(board.where, board.left_out, board.notes)
    lines += correction_notes(board)
    if any(row.estimate.n for group in board.standings for row in group.ranked):
        lines.append(
            say(
                "{share:g}% intervals for {population}; {level}",
                share=100 * board.confidence,
                population=word(board.population),
                level=_level(board),
            )
        )
    lines += [_labelled(word(label), text) for label, text in next_steps]
    return "".join(f"{line}\n" for line in lines)


LONGEST_NAME = 200  # cells of a model's name in a sentence; names of models are shorter


def long_names(board: Board) -> list[str]:
    """Return names and labels of models too long for a sentence, longest first.

    A shorter one may be part of a longer one.
    """
    rows = board.rows
    names = {name for row in rows for name in (row.label, row.name)}
    return sorted(
        (name for name in names if cell_width(name) > LONGEST_NAME), key=len, reverse=True
    )


def with_short_names(text: str, long: Sequence[str]) -> str:
    """Return a sentence in which these names are shortened."""
    for name in long:
        text = text.replace(name, fitted(name, LONGEST_NAME))
    return text


def to_json(board: Board) -> str:
    """Return the whole leaderboard as indented JSON; shares in [0, 1], null if undefined."""
    return msgspec.json.format(msgspec.json.encode(board), indent=2).decode()


def _standings(
    board: Board, group: Standings, cards: Sequence[str], *, width: int, colour: bool
) -> list[str]:
    lines = [tinted(say(SIMULATED_BANNER), colour)] if group.simulated else []
    if name := apart_name(group):
        lines.append(
            say(
                "{scale}, not ranked: {what}."
                if group.experiment
                else "{scale}, ranked separately: {what}.",
                scale=printable(name),
                what=apart_reason(group),
            )
        )
    if group.ranked:
        lines += _table(board, group, cards, width)
    if len(group.ranked) > 1 and not group.experiment:
        told = with_short_names(standing_answer(group), long_names(board))
        lines += wrapped(printable(told), width)
    if group.chance_sentence:
        chance = say("Chance is {chance}.", chance=shown_share(group.chance))
        lines.append(paragraph(group.chance_sentence, chance))
    lines += _people(group)
    lines += _graded_by(group)
    if group.incomplete:
        lines.append(
            say("incomplete, not ranked: missing responses counted as all wrong .. all right")
        )
        lines += _incomplete(board, group, cards, width)
    for row in group.rows:
        if row.self_evaluation is not None:
            text = say(
                "{who}: {what}",
                who=row.label,
                what=self_evaluation_sentence(row, row.self_evaluation),
            )
            lines.append(f"{SELF_EVALUATION_MARK} {printable(text)}")
    lines += _overrides(group, width)
    lines += _spending(group.ranked)
    for row in group.rows:
        for advice in row.warnings:
            text = say(
                "! {who}: {what}: {remedy}",
                who=printable(row.label),
                what=advice.what,
                remedy=advice.try_next,
            )
            lines.append(tinted(text, colour))
    return lines


def _people(group: Standings) -> list[str]:
    """Return the results of people: a heading, and a row for each."""
    rows = [
        [word(each.name), f"{each.estimate.n:,}", shown_estimate(each.estimate)]
        for each in group.people
    ]
    return [word(group.people_note), *aligned(rows, left=[0])] if rows else []


def _graded_by(group: Standings) -> list[str]:
    """Return a line naming the judges, if the standings do not already have one in the heading."""
    judges = dict.fromkeys(row.judge for row in group.ranked if row.judge)
    if not judges or group.judge is not None:
        return []
    return [say("graded by {judge}", judge=printable(", ".join(judges)))]


def _table(board: Board, group: Standings, cards: Sequence[str], width: int) -> list[str]:
    columns = _optional_columns(group)
    header = ["rank", "model", "", *cards, "n", printable(board.measure), *columns]
    digits = max(len(points(row.estimate.value)) for row in group.ranked)
    body = [_cells(row, cards, columns, max(digits, 4)) for row in group.ranked]
    if len(group.ranked) < 2 or group.experiment:
        header, body = header[1:], [cells[1:] for cells in body]
    name = header.index("model")
    spare = [] if fits([header, *body], width) else _all_nought(group)
    kept = [place for place, column in enumerate(header) if column not in spare]
    spoken = [word(column) for column in header]
    rows = [[cells[place] for place in kept] for cells in (spoken, *body)]
    first = name + 2 + len(cards) + 2  # the first column after the estimate
    lines = []
    for places in _parts(rows, name, first, width):
        part = narrowed([[cells[at] for at in places] for cells in rows], places.index(name), width)
        left = [
            at for at, place in enumerate(places) if name <= place < first - 2 or place == first - 1
        ]
        shown = aligned(part, left=left)
        lines += _by_group(board, group, shown) if group.groups else shown
    return [*lines, say(_NONE_SPARE[len(spare) - 1], outcome=word(spare[0]))] if spare else lines


def _parts(rows: Sequence[Sequence[str]], name: int, first: int, width: int) -> Iterator[list[int]]:
    """Yield the columns of each part of a table whose rows do not fit in ``width`` cells.

    The first part has the columns before ``first``, later ones repeat the model and its prompting
    method. Names are narrowed only if the first part does not fit.
    """
    places = list(range(min(first, len(rows[0]))))
    is_whole = fits([cells[: len(places)] for cells in rows], width)
    for place in range(first, len(rows[0])):
        more = [[cells[at] for at in (*places, place)] for cells in rows]
        shown = more if is_whole else narrowed(more, places.index(name), width)
        if not fits(shown, width) and len(places) > 2:
            yield places
            places = [name, name + 1]
        places.append(place)
    yield places


# Sentences that replace columns of outcomes that no response had, if columns do not fit.
_NONE_SPARE = (
    noted("No response was {outcome}."),
    noted("No response was {outcome} or unparsed."),
)


def _all_nought(group: Standings) -> list[str]:
    """Return the outcomes that have a column and that no response had."""
    recorded = {rate.outcome for row in group.ranked for rate in row.rates}
    met = {rate.outcome for row in group.ranked for rate in row.rates if rate.count}
    return [name for name in ("truncated", "unparsed") if name in recorded - met]


def _by_group(board: Board, group: Standings, lines: Sequence[str]) -> list[str]:
    """Return the lines of a table, with a heading above each group."""
    head, *body = lines
    arranged = [head]
    for each in group.groups:
        if each.ranked:
            arranged += [group_heading(board.group_by, each), *(body[i] for i in each.ranked)]
    return arranged


def _optional_columns(group: Standings) -> list[str]:
    """Return the columns after the estimate: fixed ones, then those with a nonzero count."""
    rows = group.ranked
    recorded = {rate.outcome for row in rows for rate in row.rates}
    shown = [str(name) for name in ("truncated", "unparsed") if name in recorded]
    if any(row.rate("refused").count for row in rows):
        shown.append("refused")
    if any(row.failed for row in rows):
        shown.append("failed")
    if any(row.spent.cost_usd for row in rows):
        shown.append("USD")
    samples = max(row.average.k if row.average else 0 for row in rows)
    before = [f"avg@{samples} sd"] if samples > 1 else []
    labels = dict.fromkeys(
        other.label for row in rows for other in row.others if other.label and other.estimate.n
    )
    return [*before, *labels, *shown]


def _cells(row: BoardRow, cards: Sequence[str], columns: Sequence[str], digits: int) -> list[str]:
    estimate = row.estimate
    interval = shown_interval(estimate.low, estimate.high)
    value = f"{points(estimate.value):>{digits}} {interval}"
    return [
        shown_rank(row.rank),
        *_who(row, cards),
        f"{estimate.n:,}" if estimate.n else MISSING,
        value,
        *(_optional_cell(row, column) for column in columns),
    ]


def _optional_cell(row: BoardRow, column: str) -> str:
    if column == "failed":
        return str(row.failed)
    if column == "USD":
        return row.spent.cost_text
    if column.startswith("avg@"):
        return points(row.average.sd) if row.average else ""
    for other in row.others:
        if other.label == column:
            return shown_share(other.estimate.value)
    if column not in {rate.outcome for rate in row.rates}:
        return MISSING
    return shown_share(row.rate(column).share)


def _incomplete(board: Board, group: Standings, cards: Sequence[str], width: int) -> list[str]:
    order = [place for each in group.groups for place in each.incomplete]
    listed = [group.incomplete[place] for place in order] or group.incomplete
    shown = list(dict.fromkeys([*([board.group_by] if board.group_by else []), *cards]))
    rows = [_incomplete_cells(row, shown, row.bounds) for row in listed if row.bounds]
    texts = range(2 + len(shown))
    lines = aligned(narrowed(rows, 0, width), left=[*texts, texts.stop + 1, texts.stop + 2])
    if any(row.unscored for row in group.incomplete):
        command = "proofstone grade RUN"
        lines.append(
            say("Responses that are not scored yet get their scores by {command}.", command=command)
        )
    return lines


def _spending(rows: Sequence[BoardRow]) -> list[str]:
    """Explain the marks next to costs, if any cost is shown."""
    costs = "".join(row.spent.cost_text for row in rows)
    if not any(row.spent.cost_usd for row in rows):
        return []
    notes = {
        "~": say("~ what endpoints did not count is estimated, on the safe side"),
        "+": say("+ and calls of which no price is known"),
        "?": say("? no price is known"),
    }
    return [note for mark, note in notes.items() if mark in costs]


def _overrides(group: Standings, width: int) -> list[str]:
    """Return a table of overrides by model; empty if there are none."""
    rows = [
        [printable(row.name), _asked(row), *(f"{n:,}" for n in override_cells(row))]
        for row in overridden_rows(group)
    ]
    if not rows:
        return []
    head = [say("overrides"), "", *map(word, OVERRIDE_HEADS)]
    return aligned(narrowed([head, *rows], 0, width), left=[0, 1])


def _incomplete_cells(row: BoardRow, cards: Sequence[str], bounds: Bounds) -> list[str]:
    expected = counted(row.n_responses + row.missing, "response", "responses")
    score = shown_estimate(row.estimate)
    return [
        *_who(row, cards),
        say("{n:,} of {responses}", n=row.n_responses + row.unscored, responses=expected),
        f"{points(bounds.low)} .. {points(bounds.high)}",
        listed([say("so far {score}", score=score), *_shortfalls(row)]),
    ]


def _shortfalls(row: BoardRow) -> Iterator[str]:
    if row.failed:
        yield say("{n:,} failed", n=row.failed)
    if row.not_asked:
        yield say("{n:,} not asked", n=row.not_asked)
    if row.unscored:
        yield say("{n:,} not scored yet", n=row.unscored)


def _asked(row: BoardRow) -> str:
    """Return the prompting method and its settings."""
    return printable(f"{row.prompt_method} {row.settings}".strip())


def _who(row: BoardRow, cards: Sequence[str]) -> list[str]:
    """Return the cells that identify a model: name, prompting method, fields of its card."""
    facts = (printable(word(card_value(row.card, column))) for column in cards)
    return [printable(marked(row)), _asked(row), *facts]


def _labelled(label: str, text: str) -> str:
    return f"{padded(label, _LABEL)}{printable(text)}"


def _level(board: Board) -> str:
    level = "item" if board.level == "sample" else board.level
    return say(
        "each {level} counts the same ({denominator})",
        level=word(level),
        denominator=word(board.denominator),
    )


# A group of fewer items has wide intervals.
FEW_ITEMS = 30


_ALIASES = {"position": "answer key position"}


_NAMED = 8


def render_breakdowns(board: Leaderboard, by: Sequence[str], *, width: int = 100) -> Iterator[str]:
    """Yield each breakdown named in ``by`` as text ending in a newline; ``width`` is in cells.

    Raises BadUsage for an unknown breakdown and lists the available ones.
    """
    for name in by:
        wanted = _ALIASES.get(name, name)
        found = [
            text
            for group in board.standings
            for breakdown in group.all_breakdowns
            if breakdown.is_named(wanted)
            for text in _tables(board, group, breakdown, width)
        ]
        if not found:
            named = {b.by for group in board.standings for b in group.all_breakdowns}
            known = sorted({*named, *(["document"] if board.has_documents else [])})
            raise BadUsage(f"no breakdown by {name!r}", hint=_instead(board, known))
        yield from found


def _instead(board: Leaderboard, known: Sequence[str]) -> str:
    """List the available breakdowns, or explain why there are none."""
    if known:
        return f"there is: {', '.join(known)}"
    if any(group.ranked for group in board.standings):
        return "these items are in no groups"
    return "no model is complete yet: the leaderboard without --by lists what is missing"


def _tables(
    board: Leaderboard, group: Standings, breakdown: Breakdown, width: int
) -> Iterator[str]:
    """Yield the headline measure by group, then the other measures shown by group."""
    others, notes = breakdown.other_measures, _few(breakdown)
    labels = [printable(row.label) for row in group.ranked]
    of_score = [each.estimates for each in breakdown.groups]
    of_others = [[other.estimates for other in each.others] for each in breakdown.groups]

    def table(head: str, names: Sequence[str], cells: Iterable[Sequence[Estimate]]) -> list[str]:
        rows = [
            [printable(each.name) or "not stated", str(each.n), *map(_cell, own)]
            for each, own in zip(breakdown.groups, cells, strict=True)
        ]
        return _fitted([head, "n", *names], rows, width)

    if len(labels) == 1 and others:
        names = [board.measure, *(other.label for other in others)]
        own = [
            (*score, *(each[0] for each in more))
            for score, more in zip(of_score, of_others, strict=True)
        ]
        yield _text([*table(breakdown.by, names, own), *notes])
        return
    title = f"{breakdown.by}, {board.measure}" if others else breakdown.by
    yield _text([*table(title, labels, of_score), *notes])
    for place, other in enumerate(others):
        cells = [more[place] for more in of_others]
        yield _text(table(f"{breakdown.by}, {other.label}", labels, cells))


def _cell(estimate: Estimate) -> str:
    """Return the value with its interval, or a dash for the interval of a single item or
    cluster."""
    shown = points(estimate.value)
    if shown == MISSING:
        return shown
    if estimate.effective_n < 2:
        return f"{shown} {MISSING}"
    return f"{shown} {shown_interval(estimate.low, estimate.high)}"


def _few(breakdown: Breakdown) -> list[str]:
    """Return a line that lists groups with fewer than ``FEW_ITEMS`` items; empty without any."""
    few = [each for each in breakdown.groups if each.n < FEW_ITEMS]
    small = [f"{printable(each.name)} ({each.n})" for each in few]
    if not small:
        return []
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    named = ", ".join(small[:_NAMED]) + more
    lone = any(e.effective_n < 2 for each in breakdown.groups for e in each.estimates)
    dash = (
        f"; {MISSING} marks fewer than two independent groups of questions, which leave no interval"
        if lone
        else ""
    )
    return [f"groups with fewer than {FEW_ITEMS} questions (wide intervals): {named}{dash}"]


def _fitted(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the table with groups as rows, split into blocks that fit the width.

    Column names that are too long are replaced by numbers that the lines above the table explain.
    """
    lines = aligned([head, *rows], left=[0])
    if max(map(cell_width, lines)) <= width:
        return lines
    labels = head[2:]
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    keys = aligned([[f"{n})", label] for n, label in zip(numbers, labels, strict=True)], left=[1])
    return [*keys, *_blocks([[*head[:2], *numbers], *rows], width)]


def _blocks(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield the rows in blocks of whole columns: the first two, then at least one other."""
    widest = widths(rows)
    place = 2
    while place < len(widest):
        end, taken = place + 1, sum(widest[:2]) + 4 + widest[place]
        while end < len(widest) and taken + 2 + widest[end] <= width:
            taken += 2 + widest[end]
            end += 1
        yield from aligned([[*row[:2], *row[place:end]] for row in rows], left=[0])
        place = end


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# Warnings on a row, each with what to try.

_TRY: Mapping[str, str] = {
    "truncated": noted("raise --max-tokens, or lower --reasoning-effort, and run again"),
    "unparsed": noted(
        "read some (proofstone show RUN --outcome unparsed -n 5), or try another --prompt-method"
    ),
}


_TRY_IN_FILES: Mapping[str, str] = {
    "truncated": noted("the score counts them as wrong: rerun with a higher limit on tokens"),
    "unparsed": noted(
        "the score counts them as wrong, so it measures answer extraction too: read some "
        "responses, or score them again with another filter or scorer"
    ),
}


_TRY_JUDGED = noted(
    "the judge's responses had no label, which is not the model's fault: read some (proofstone "
    "show RUN --outcome unparsed -n 5), or try another judge (proofstone grade RUN --judge "
    "OTHER)"
)


def advise(
    rates: Sequence[Rate], *, judged: bool = False, is_ours: bool = True
) -> tuple[Advice, ...]:
    """Return a warning for each of truncated and unparsed that exceeds 2% of the responses.

    ``judged``: an unparsed response is one of the judge. ``is_ours``: the scores come from runs of
    a workspace, so remedies name commands; otherwise they come from a file.
    """
    remedies = _TRY if is_ours else _TRY_IN_FILES
    return tuple(
        Advice(
            what=say(
                "{share} {outcome} ({count:,} of {n:,})",
                share=shown_share(rate.share),
                outcome=word(rate.outcome),
                count=rate.count,
                n=rate.n,
            ),
            try_next=say(
                _TRY_JUDGED if judged and rate.outcome == "unparsed" else remedies[rate.outcome]
            ),
        )
        for rate in rates
        if rate.outcome in _TRY and rate.share > WARN_ABOVE
    )


def advise_of_reported(reported: Sequence[tuple[str, int]]) -> tuple[Advice, ...]:
    """Return a warning if the endpoint reported more than one model version."""
    if len(reported) < 2:
        return ()
    models = listed([f"{model} {responses:,}" for model, responses in reported])
    return (
        Advice(
            what=say("answered by {n} served models ({models})", n=len(reported), models=models),
            try_next=say(
                "use a dated model name, or ask all questions again with --replicate NAME"
            ),
        ),
    )
