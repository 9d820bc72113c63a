"""The leaderboard of verified triples as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from proofstone.errors import BadUsage
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.verification.records import BREAKDOWNS, Group, Measured
from proofstone.page.section import MISSING, points, shown_estimate, shown_rank, tie_letters
from proofstone.page.text import aligned, fits, narrowed, printable, tinted
from proofstone.records.runs import Estimate
from proofstone.results.board import RowGroup
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.results.cards import card_value, group_order
from proofstone.results.sentences import group_heading, where_lines
from proofstone.stats.ranks import RankInterval
from proofstone.wording.messages import counted, listed

# What a terminal says of ranks by F1, of people's labels, and of rows in a narrow place.

TIED = "Rows that share a letter do not differ significantly (adjusted for all pairs)."


_SAID = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "agreement": "labels that are the judge's",
    "kappa": "kappa",
    "corpus": "recall of the reference itself",
    "true_share": "true by any source",
}


def rank_cell(rank: RankInterval | None, ties: Sequence[int]) -> str:
    """``1``, or ``1-2 a`` where it is tied with others that have the letter."""
    return " ".join([shown_rank(rank), *map(tie_letters, ties)])


def shown_name(board: TripleBoard, group: Group) -> str:
    """A row's model, with its setting where rows differ in it."""
    setting = "" if board.setting else group.setting
    return printable(" ".join(part for part in (group.model, setting) if part))


def people_line(
    label: str,
    n: Mapping[str, int],
    estimates: Mapping[str, Estimate],
    scattered: Sequence[str] = (),
) -> str:
    """What people's labels make of one model's figures."""
    shown = [f"{text} {_shown(name, estimates[name])}" for name, text in _SAID.items()
             if name in estimates]  # fmt: skip
    labels = ", ".join(f"{side} {count:,}" for side, count in n.items() if count)
    told = f"{label}, with people's labels ({labels}): {'; '.join(shown)}"
    if not scattered:
        return told
    return (
        f"{told}. Labels of {' and '.join(scattered)} are not on the triples drawn first: "
        "what they correct is right only if they are a random share"
    )


def _shown(name: str, estimate: Estimate) -> str:
    if name == "kappa":
        return f"{estimate.value:z.2f} ({estimate.low:z.2f} to {estimate.high:z.2f})"
    return shown_estimate(estimate)


_LABEL = 11


_ASK_TWICE = 0.02  # of verdicts: above it a figure's denominator holds too much that nobody judged


_BOTH = ("precision", "recall")


def render_triple_board(
    board: TripleBoard,
    *,
    card_columns: Sequence[str] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """All of it but the breakdowns, ending in a newline. Models first, simulated respondents apart
    under a banner, each with those below that cannot be ranked. Where rows do not fit in ``width``
    cells, intervals of the second table give way, then names are cut."""
    lines = [*_heading(board, width), ""]
    for simulated in (False, True):
        rows = [row for row in board.rows if row.simulated == simulated]
        if rows:
            banner = [tinted(SIMULATED_BANNER, colour)] if simulated else []
            lines += [*banner, *_standing(board, rows, card_columns, width), ""]
    notes = [
        *_warnings(board, colour),
        *_people(board),
        *where_lines(board.where, board.left_out, board.notes),
    ]
    lines += [line for note in notes for line in _wrapped(note, width)]
    lines += [*_wrapped(_how(board), width), *_wrapped(_legend(board), width)]
    return "".join(f"{line}\n" for line in lines)


def _heading(board: TripleBoard, width: int) -> Iterator[str]:
    who = {simulated: len({row.group.model for row in board.rows if row.simulated == simulated})
           for simulated in (False, True)}  # fmt: skip
    said = counted(who[False], "model") + (f" and {who[True]:,} simulated" if who[True] else "")
    said += f" over {counted(board.entities, 'entity', 'entities')}"
    each = [_range(row.measured.estimates[side].n for row in board.rows
                   if side in row.measured.estimates) for side in _BOTH]  # fmt: skip
    judged = f"{each[0]} triples of each, {each[1]} of the reference"
    labelled = {
        "triples": f"{said}; in the sample {judged}",
        "asked": board.setting,
        "sample": board.sampling,
        "judge": board.judges,
        "reference": board.reference,
    }
    for label, text in labelled.items():
        if text:
            first, *others = textwrap.wrap(printable(text), max(width - _LABEL, 30))
            yield f"{label:<{_LABEL}}{first}"
            yield from (" " * _LABEL + line for line in others)


def _range(numbers: Iterator[int]) -> str:
    found = sorted(numbers)
    if not found:
        return "no"
    low, high = found[0], found[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _standing(
    board: TripleBoard, rows: Sequence[TripleRow], cards: Sequence[str], width: int
) -> Iterator[str]:
    ranked = [row for row in rows if not row.stands_apart]
    if ranked:
        yield from _table(board, ranked, cards, width)
        yield ""
        yield from _beside(board, ranked, width)
        if any(row.ties for row in ranked):
            yield TIED
        if not board.is_common and len(ranked) > 1 and ranked[0].rank is None:
            yield "These runs are of different entities, so they are not ranked against each other."
    experiments = [row for row in rows if row.experiment]
    if experiments:
        yield "experiments with other settings, not ranked (report --study compares them):"
        head = ["", "F1", "P", "R"]
        cells = [
            [shown_name(board, row.group), *(_estimate(row, name) for name in ("f1", *_BOTH))]
            for row in experiments
        ]
        yield from aligned(narrowed([head, *cells], 0, width), left=[0])
    rest = [row for row in rows if row not in ranked and not row.experiment]
    if rest:
        yield "not ranked:"
        yield from aligned(
            narrowed([_not_ranked(board, row) for row in rest], 0, width), left=[0, 1, 2]
        )


def _table(
    board: TripleBoard, rows: Sequence[TripleRow], cards: Sequence[str], width: int
) -> list[str]:
    """Ranks, F1, precision and recall; under headings where rows are grouped by their cards."""
    has_ranks = any(row.rank for row in rows) and len(rows) > 1
    head = [*(["rank"] * has_ranks), "model", *cards, "F1", "P", "R"]
    body = [
        [
            *([rank_cell(row.rank, row.ties)] * has_ranks),
            shown_name(board, row.group),
            *(printable(card_value(row.card, column)) for column in cards),
            *(_estimate(row, name) for name in ("f1", *_BOTH)),
        ]
        for row in rows
    ]
    name = head.index("model")
    left = range(name + 1 + len(cards))
    first, *lines = aligned(narrowed([head, *body], name, width), left=left)
    return [first, *_by_group(board, rows, lines)]


def _by_group(board: TripleBoard, rows: Sequence[TripleRow], lines: Sequence[str]) -> list[str]:
    """The lines of rows, those whose cards say the same under their heading."""
    field = board.group_by
    if not field:
        return list(lines)
    values = [card_value(row.card, field) for row in rows]
    found: list[str] = []
    for value in sorted(set(values), key=lambda value: group_order(field, value)):
        places = tuple(place for place, own in enumerate(values) if own == value)
        found.append(group_heading(field, RowGroup(name=value, ranked=places)))
        found += [lines[place] for place in places]
    return found


def _beside(board: TripleBoard, rows: Sequence[TripleRow], width: int) -> list[str]:
    """What stands beside the headline, with intervals where there is room for them."""
    has_fictional = any(row.fictional_given for row in rows)
    head = ["model", "contradicted", "abstained", *(["fictional"] * has_fictional), "per entity",
            "unparsed", "no ref."]  # fmt: skip
    tables = [
        [
            head,
            *(
                [
                    shown_name(board, row.group),
                    *_beside_cells(row, has_fictional, with_intervals=full),
                ]
                for row in rows
            ),
        ]
        for full in (True, False)
    ]
    chosen = tables[0] if fits(tables[0], width) else tables[1]
    return aligned(narrowed(chosen, 0, width), left=[0])


def _beside_cells(row: TripleRow, has_fictional: bool, *, with_intervals: bool) -> list[str]:
    def shown(estimate: Estimate | None) -> str:
        if estimate is None:
            return MISSING
        return shown_estimate(estimate) if with_intervals else points(estimate.value)

    said, estimates = row.volunteered, row.measured.estimates
    unparsed = [estimates.get(name) for name in ("unparsed", "recall_unparsed")]
    return [
        shown(estimates.get("contradiction")),
        shown(row.abstention),
        *([f"{said.fictional_given:,} of {said.fictional:,}"] * has_fictional),
        f"{said.triples / said.entities:.1f}" if said.entities else MISSING,
        points(max((each.value for each in unparsed if each), default=float("nan"))),
        _points(estimates.get("without_reference")),
    ]


def _not_ranked(board: TripleBoard, row: TripleRow) -> list[str]:
    counts = row.measured.counts
    n = sum(sum(side.values()) for side in counts.values())
    if row.waiting:
        why = f"{row.waiting:,} of {counted(n, 'triple')} wait for a judge"
    elif not n:
        why = "nothing of it is verified"
    elif row.other_entities:
        differ = counted(row.other_entities, "entity", "entities")
        why = f"held against other entities than most: {differ} differ"
    else:
        side = next(side for side in _BOTH if side not in row.measured.estimates)
        why = f"nothing is known of its {side}"
    so_far = [f"{text} {points(row.measured.estimates[name].value)}"
              for name, text in (("precision", "P"), ("recall", "R"))
              if name in row.measured.estimates]  # fmt: skip
    return [shown_name(board, row.group), why, f"so far {', '.join(so_far)}" if so_far else ""]


def _warnings(board: TripleBoard, colour: bool) -> Iterator[str]:
    for row in board.rows:
        estimates = row.measured.estimates
        for name, what in _WARNED.items():
            found = estimates.get(name)
            if found is not None and found.value > _ASK_TWICE:
                text = f"! {shown_name(board, row.group)}: {100 * found.value:.1f}% {what}"
                yield tinted(text, colour)


_WARNED = {
    "unparsed": "of verdicts on its triples could not be read, and count against it: see what "
    "the judge said ('show'), or ask another judge",
    "recall_unparsed": "of verdicts on what it may have said could not be read, and count against "
    "it: see what the judge said ('show'), or ask another judge",
    "without_reference": "of its triples are about entities without a reference, and count against "
    "it: precision over the others is precision_judged (--json)",
}


def _people(board: TripleBoard) -> Iterator[str]:
    for row in board.rows:
        if row.people is not None:
            yield printable(
                people_line(
                    shown_name(board, row.group),
                    row.people.n,
                    row.people.estimates,
                    row.people.scattered,
                )
            )
    if board.people_elsewhere:
        yield f"people's labels on triples that are in no row: {board.people_elsewhere:,}"


def _how(board: TripleBoard) -> str:
    share = f"{100 * board.confidence:g}%"
    return (
        f"{share} intervals: entities are drawn again, in both directions and for all models at "
        "once. Rank ranges hold for all models together."
    )


def _legend(board: TripleBoard) -> str:
    has_fictional = any(row.fictional_given for row in board.rows)
    fictional = "fictional: entities that do not exist and got triples; " * has_fictional
    return (
        "contradicted, unparsed, no ref.: points of the triples in the sample; abstained: of the "
        f"entities; {fictional}per entity: triples that a model gave."
    )


def _estimate(row: TripleRow, name: str) -> str:
    found = row.measured.estimates.get(name)
    return MISSING if found is None else shown_estimate(found)


def _points(estimate: Estimate | None) -> str:
    return MISSING if estimate is None else points(estimate.value)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 40), break_on_hyphens=False, subsequent_indent="  ")


# Verified triples by domain, popularity, source or predicate family, as text for a terminal.

_NAMES = {"family": "predicate family"}


_FEW = 30  # a part of fewer triples of a direction has wide intervals


def read_breakdowns(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once. Raises BadUsage for one that is no breakdown of triples."""
    wrong = [name for name in names if name not in BREAKDOWNS]
    if wrong:
        raise BadUsage(
            f"no breakdown of verified triples by {', '.join(wrong)}",
            hint=f"there is: {', '.join(BREAKDOWNS)} (of the predicate)",
        )
    return tuple(dict.fromkeys(names))


def render_triple_parts(board: TripleBoard, by: str, *, width: int = 100) -> str:
    """Each value of a breakdown with the rows of the board under it, ending in a newline; intervals
    of precision and recall give way first where there is no room."""
    order = {row.group: place for place, row in enumerate(board.rows) if not row.stands_apart}
    parts = [part for part in board.parts if part.by == by and part.group in order]
    if not parts:
        return f"no judged triple here has a {_NAMES.get(by, by)}\n"
    parts.sort(key=lambda part: (part.value, order[part.group]))
    head = [_NAMES.get(by, by), "model", "n P", "n R", "F1", "P", "R"]
    tables = [[head, *_rows(board, parts, with_intervals=full)] for full in (True, False)]
    chosen = tables[0] if fits(tables[0], width) else tables[1]
    lines = [*aligned(narrowed(chosen, 1, width), left=[0, 1]), *_notes(parts)]
    return "".join(f"{line}\n" for line in lines)


def _rows(
    board: TripleBoard, parts: Sequence[Measured], *, with_intervals: bool
) -> Iterator[list[str]]:
    last = ""
    for part in parts:
        cells = [
            _cell(part, name, with_interval=with_intervals) for name in ("precision", "recall")
        ]
        yield [
            "" if part.value == last else printable(part.value),
            shown_name(board, part.group),
            *(_n(part, side) for side in ("precision", "recall")),
            _cell(part, "f1", with_interval=True),
            *cells,
        ]
        last = part.value


def _cell(part: Measured, name: str, *, with_interval: bool) -> str:
    found = part.estimates.get(name)
    if found is None:
        return MISSING
    return shown_estimate(found) if with_interval else points(found.value)


def _n(part: Measured, side: str) -> str:
    found = part.estimates.get(side)
    return "0" if found is None else f"{found.n:,}"


def _notes(parts: Sequence[Measured]) -> Iterator[str]:
    few = {
        part.value
        for part in parts
        for side in ("precision", "recall")
        if side in part.estimates and part.estimates[side].n < _FEW
    }
    if few:
        named = listed(sorted(few), 5)
        yield f"groups with fewer than {_FEW} triples of a direction (wide intervals): {named}"
    if parts[0].by == "source":
        yield (
            "P by the source of the passage that a verdict rests on; R by where the reference has "
            "a triple from"
        )
