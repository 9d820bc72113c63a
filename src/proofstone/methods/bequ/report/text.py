"""Print verified triples for a terminal: their leaderboard, and the verification of files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.judging.question import pose
from proofstone.methods.bequ.records import BREAKDOWNS, DIRECTIONS, Group, Measured
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.verification.plan import Told
from proofstone.methods.bequ.verification.triple_files import ToVerify, Verification
from proofstone.page.section import MISSING, points, shown_estimate, shown_rank, tie_letters
from proofstone.page.text import aligned, fits, narrowed, printable, tinted
from proofstone.records.runs import Estimate
from proofstone.results.board import RowGroup
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.results.cards import card_value, group_order
from proofstone.results.sentences import group_heading, where_lines
from proofstone.session.terminal import print_table, print_text
from proofstone.stats.ranks import RankInterval
from proofstone.wording.messages import counted, listed

# Common to both: ranks by F1, human labels, and measures in cells.

TIED = "Rows that share a letter do not differ significantly (adjusted for all pairs)."


_SAID = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "agreement": "agreement of judge and human labels",
    "kappa": "kappa",
    "corpus": "recall of the reference itself",
    "true_share": "true by any source",
}


def rank_cell(rank: RankInterval | None, ties: Sequence[int]) -> str:
    """Return ``1``, or ``1-2 a`` if it is tied with others that have the letter."""
    return " ".join([shown_rank(rank), *map(tie_letters, ties)])


def people_line(
    label: str,
    n: Mapping[str, int],
    estimates: Mapping[str, Estimate],
    scattered: Sequence[str] = (),
) -> str:
    """Return the line on human labels of one model's estimates."""
    figures = {name: _shown(estimates.get(name)) for name in _SAID}
    if kappa := estimates.get("kappa"):
        figures["kappa"] = f"{kappa.value:z.2f} ({kappa.low:z.2f} to {kappa.high:z.2f})"
    shown = "; ".join(
        f"{said} {figures[name]}" for name, said in _SAID.items() if name in estimates
    )
    labels = ", ".join(f"{side} {count:,}" for side, count in n.items() if count)
    told = f"{label}, with human labels ({labels}): {shown}"
    if not scattered:
        return told
    return (
        f"{told}. Labels of {' and '.join(scattered)} are not on the first sampled triples: "
        "corrections are valid only if the labeled triples are a random sample"
    )


def _shown(estimate: Estimate | None, *, full: bool = True, missing: str = MISSING) -> str:
    """Return a measure with its CI, or alone unless ``full``."""
    if estimate is None:
        return missing
    return shown_estimate(estimate) if full else points(estimate.value)


def _n(part: Measured, side: str) -> int:
    found = part.estimates.get(side)
    return 0 if found is None else found.n


# The leaderboard.

_LABEL = 11


_ASK_TWICE = 0.02  # of verdicts; above it, many triples in the denominator have no verdict


_FIGURES = ("f1", *DIRECTIONS)


_WARNED = {
    "unparsed": (
        "of verdicts on its triples are unparsed and count against it: see the judge's "
        "responses ('show'), or use another judge"
    ),
    "recall_unparsed": (
        "of verdicts on its recall are unparsed and count against it: see the judge's responses "
        "('show'), or use another judge"
    ),
    "without_reference": (
        "of its triples are about entities without a reference and count against it: "
        "precision_judged leaves them out (--json)"
    ),
}


def render_triple_board(
    board: TripleBoard,
    *,
    card_columns: Sequence[str] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """Render the leaderboard without breakdowns, ending in a newline.

    Models come first, then simulated models under a banner, each with the unranked ones last. If
    rows exceed ``width`` cells, CIs of the second table are dropped, then names are shortened.
    """
    lines = [*_heading(board, width), ""]
    for simulated in (False, True):
        rows = [row for row in board.rows if row.simulated == simulated]
        if rows:
            banner = [tinted(SIMULATED_BANNER, colour)] if simulated else []
            lines += [*banner, *_standing(board, rows, card_columns, width), ""]
    has_nonexistent = any(row.nonexistent_given for row in board.rows)
    nonexistent = "invented: entities that do not exist and got triples; " * has_nonexistent
    notes = [
        *_warnings(board, colour),
        *_people(board),
        *where_lines(board.where, board.left_out, board.notes),
        f"{100 * board.confidence:g}% confidence intervals: bootstrap over entities, jointly for "
        "both directions and all models. Rank ranges are simultaneous for all models.",
        "contradicted, unparsed, no ref.: percent of the sampled triples; abstained: percent of "
        f"entities; {nonexistent}per entity: elicited triples.",
    ]
    for note in notes:
        lines += textwrap.wrap(note, max(width, 40), break_on_hyphens=False, subsequent_indent="  ")
    return "".join(f"{line}\n" for line in lines)


def _name(board: TripleBoard, group: Group) -> str:
    """Return a row's model, with its setting if settings differ."""
    return printable(group.model if board.setting else group.label)


def _heading(board: TripleBoard, width: int) -> Iterator[str]:
    models, simulated = (
        len({row.group.model for row in board.rows if row.simulated == kind})
        for kind in (False, True)
    )
    said = counted(models, "model") + (f" and {simulated:,} simulated" if simulated else "")
    given, known = (
        _range(row.estimates[side].n for row in board.rows if side in row.estimates)
        for side in DIRECTIONS
    )
    labelled = {
        "triples": f"{said} over {counted(board.entities, 'entity', 'entities')}; in the sample "
        f"{given} triples of each, {known} of the reference",
        "asked": board.setting,
        "sample": board.sampling,
        "judge": board.judges,
        "reference": board.reference,
    }
    for label, text in labelled.items():
        lines = textwrap.wrap(printable(text), max(width - _LABEL, 30))
        for head, line in zip([label, *[""] * len(lines)], lines, strict=False):
            yield f"{head:<{_LABEL}}{line}"


def _range(numbers: Iterable[int]) -> str:
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
            yield "These runs have different entities, so they are not ranked against each other."
    experiments = [row for row in rows if row.experiment]
    if experiments:
        yield "experiments with other settings, not ranked (compare them with report --analysis):"
        cells = [
            [_name(board, row.group), *(_shown(row.estimates.get(name)) for name in _FIGURES)]
            for row in experiments
        ]
        yield from aligned(narrowed([["", "F1", "P", "R"], *cells], 0, width), left=[0])
    rest = [row for row in rows if row not in ranked and not row.experiment]
    if rest:
        yield "not ranked:"
        cells = [_not_ranked(board, row) for row in rest]
        yield from aligned(narrowed(cells, 0, width), left=[0, 1, 2])


def _table(
    board: TripleBoard, rows: Sequence[TripleRow], cards: Sequence[str], width: int
) -> Iterator[str]:
    """Render ranks, F1, precision and recall; under headings if rows are grouped by their cards."""
    has_ranks = any(row.rank for row in rows) and len(rows) > 1
    head = [*(["rank"] * has_ranks), "model", *cards, "F1", "P", "R"]
    body = [
        [
            *([rank_cell(row.rank, row.ties)] * has_ranks),
            _name(board, row.group),
            *(printable(card_value(row.card, column)) for column in cards),
            *(_shown(row.estimates.get(name)) for name in _FIGURES),
        ]
        for row in rows
    ]
    name = head.index("model")
    left = range(name + 1 + len(cards))
    first, *lines = aligned(narrowed([head, *body], name, width), left=left)
    yield first
    field = board.group_by
    if not field:
        yield from lines
        return
    values = [card_value(row.card, field) for row in rows]
    for value in sorted(set(values), key=lambda value: group_order(field, value)):
        places = tuple(place for place, own in enumerate(values) if own == value)
        yield group_heading(field, RowGroup(name=value, ranked=places))
        yield from (lines[place] for place in places)


def _beside(board: TripleBoard, rows: Sequence[TripleRow], width: int) -> list[str]:
    """Render the secondary measures, with CIs if there is room for them."""
    has_nonexistent = any(row.nonexistent_given for row in rows)
    head = ["model", "contradicted", "abstained", *(["invented"] * has_nonexistent),
            "per entity", "unparsed", "no ref."]  # fmt: skip

    def cells(row: TripleRow, *, full: bool) -> list[str]:
        said, estimates = row.elicited, row.estimates
        unparsed = [estimates[name].value for name in _UNPARSED if name in estimates]
        return [
            _name(board, row.group),
            _shown(estimates.get("contradiction"), full=full),
            _shown(row.abstention, full=full),
            *([f"{said.nonexistent_given:,} of {said.nonexistent:,}"] * has_nonexistent),
            MISSING if said.each is None else f"{said.each:.1f}",
            points(max(unparsed, default=float("nan"))),
            _shown(estimates.get("without_reference"), full=False),
        ]

    whole, short = ([head, *(cells(row, full=full) for row in rows)] for full in (True, False))
    return aligned(narrowed(whole if fits(whole, width) else short, 0, width), left=[0])


_UNPARSED = ("unparsed", "recall_unparsed")


def _not_ranked(board: TripleBoard, row: TripleRow) -> list[str]:
    n = sum(sum(side.values()) for side in row.measured.counts.values())
    if row.waiting:
        why = f"{row.waiting:,} of {counted(n, 'triple')} wait for a judge"
    elif not n:
        why = "no triple of it is verified"
    elif row.other_entities:
        differ = counted(row.other_entities, "entity", "entities")
        why = f"verified on other entities than most: {differ} differ"
    else:
        side = next(side for side in DIRECTIONS if side not in row.estimates)
        why = f"no verdicts on its {side}"
    so_far = ", ".join(
        f"{_SAID[name]} {points(row.estimates[name].value)}"
        for name in DIRECTIONS
        if name in row.estimates
    )
    return [_name(board, row.group), why, f"so far {so_far}" if so_far else ""]


def _warnings(board: TripleBoard, colour: bool) -> Iterator[str]:
    for row in board.rows:
        for name, what in _WARNED.items():
            found = row.estimates.get(name)
            if found is not None and found.value > _ASK_TWICE:
                text = f"! {_name(board, row.group)}: {100 * found.value:.1f}% {what}"
                yield tinted(text, colour)


def _people(board: TripleBoard) -> Iterator[str]:
    for row in board.rows:
        if (said := row.people) is not None:
            name = _name(board, row.group)
            yield printable(people_line(name, said.n, said.estimates, said.scattered))
    if board.people_elsewhere:
        yield f"human labels on triples that are in no row: {board.people_elsewhere:,}"


# Verified triples by domain, popularity, source or predicate family.

_NAMES = {"family": "predicate family"}


_FEW = 30  # with fewer triples of a direction, a part has wide intervals


def read_breakdowns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without duplicates. Raises BadUsage for an unknown breakdown."""
    wrong = [name for name in names if name not in BREAKDOWNS]
    if wrong:
        raise BadUsage(
            f"unknown breakdown of verified triples: {', '.join(wrong)}",
            hint=f"expected one of: {', '.join(BREAKDOWNS)} (of the predicate)",
        )
    return tuple(dict.fromkeys(names))


def render_triple_parts(board: TripleBoard, by: str, *, width: int = 100) -> str:
    """Render each value of a breakdown with the leaderboard's rows, ending in a newline.

    CIs of precision and recall are dropped first if there is no room.
    """
    order = {row.group: place for place, row in enumerate(board.rows) if not row.stands_apart}
    parts = [part for part in board.parts if part.by == by and part.group in order]
    called = _NAMES.get(by, by)
    if not parts:
        return f"no judged triple here has a {called}\n"
    parts.sort(key=lambda part: (part.value, order[part.group]))

    def rows(*, full: bool) -> Iterator[list[str]]:
        last = ""
        for part in parts:
            yield [
                "" if part.value == last else printable(part.value),
                _name(board, part.group),
                *(f"{_n(part, side):,}" for side in DIRECTIONS),
                _shown(part.estimates.get("f1")),
                *(_shown(part.estimates.get(side), full=full) for side in DIRECTIONS),
            ]
            last = part.value

    head = [called, "model", "n P", "n R", "F1", "P", "R"]
    whole, short = ([head, *rows(full=full)] for full in (True, False))
    lines = aligned(narrowed(whole if fits(whole, width) else short, 1, width), left=[0, 1])
    few = sorted({part.value for part in parts for side in DIRECTIONS if 0 < _n(part, side) < _FEW})
    if few:
        told = f"groups with fewer than {_FEW} triples of a direction (wide intervals)"
        lines.append(f"{told}: {listed(few, 5)}")
    if by == "source":
        lines.append(
            "P by the source of the evidence passage; R by the source of the reference triple"
        )
    return "".join(f"{line}\n" for line in lines)


# Results of verifying a file.

_SHOWN = {
    "F1": "f1",
    "P": "precision",
    "R": "recall",
    "contradicted": "contradiction",
    "neutral": "neutral",
}


_BESIDE = {
    "P judged": "precision_judged",
    "P decided": "precision_decided",
    "R judged": "recall_judged",
    "R contradicted": "recall_contradiction",
    "P unparsed": "unparsed",
    "R unparsed": "recall_unparsed",
    "no reference": "without_reference",
}


_OF_PARTS = {
    "F1": "f1",
    "P": "precision",
    "R": "recall",
    "P unparsed": "unparsed",
    "R unparsed": "recall_unparsed",
}


_NAMED = 3  # entities without a reference, listed by name


_DRAWS = {
    "entities": "an entity, then one of its triples",
    "triples": "uniformly over triples",
}


_TROUBLES = {
    "not_shown": "cites a passage that was not given",
    "rests_on_nothing": "cites no passage",
    "no_label": "no label",
    "unknown_label": "a label that is none",
}


def print_to_verify(found: ToVerify) -> None:
    """Print the estimated work, and the example questions."""
    print_text("\n".join(_told_lines(found.told)))
    rules = ", ".join(f"{name} {n:,}" for name, n in found.by_rule.items()) or "none"
    print_text(
        f"sampled: {found.precision:,} elicited, {found.recall:,} of the reference; decided by "
        f"rule: {rules}\nquestions to each judge: {found.questions:,}, {found.characters:,} "
        "characters"
    )
    for example in found.examples:
        print_text(f"\n--- {example.direction}")
        print_text("\n\n".join(message.text for message in pose(example.question, "json")))


def print_verification(made: Verification, by: Sequence[str]) -> None:
    """Print the table of all groups, the best first; then breakdowns ``by``, and limitations."""
    settings, ranked = made.settings, made.ranked
    drawn = "all triples are verified"
    if settings.sample:
        per = "" if settings.sample_per == "all" else f" and {settings.sample_per}"
        drawn = (
            f"sampled with seed {settings.seed}: {_DRAWS[settings.sampling]}, up to "
            f"{settings.sample:,} per direction{per}"
        )
    print_text("\n".join([*_told_lines(made.told), drawn]))
    print_text("")
    best = _best_first(made)
    rows = _rows(best, _SHOWN, with_n=True)
    if len(ranked.intervals) > 1:
        ranks = [
            rank_cell(
                ranked.intervals[place] if place < len(ranked.intervals) else None,
                [tie for tie, (low, high) in enumerate(ranked.ties) if low <= place <= high],
            )
            for place in range(len(best))
        ]
        rows = [(cell, *row) for cell, row in zip(["rank", *ranks], rows, strict=True)]
    print_table(rows)
    print_text("")
    print_table(_rows(best, _BESIDE))
    for name in dict.fromkeys(part.by for part in made.parts if part.by in by):
        print_text(f"\nby {_NAMES.get(name, name)}")
        parts = [part for part in made.parts if part.by == name]
        print_table(_rows(parts, _OF_PARTS, with_n=True))
    notes = list(_notes(made))
    if notes:
        print_text("\n" + "\n".join(notes))


def _best_first(made: Verification) -> list[Measured]:
    """Order ranked rows first, then those with F1; others keep their order."""
    f1 = [each.estimates["f1"].value if "f1" in each.estimates else -1.0 for each in made.measured]
    ranked = made.ranked.groups
    rest = [at for at in range(len(f1)) if at not in ranked]
    order = [*ranked, *sorted(rest, key=lambda at: -f1[at])]
    return [made.measured[at] for at in order]


def _told_lines(told: Told) -> Iterator[str]:
    yield (
        f"{told.elicited:,} triples of {told.entities:,} entities by "
        f"{told.groups:,} (model, setting); reference: {told.reference_triples:,} triples of "
        f"{told.reference_entities:,} entities"
    )
    bare = told.without_reference
    if bare:
        named = ", ".join(bare[:_NAMED]) + (", ..." if len(bare) > _NAMED else "")
        yield f"without a reference: {len(bare):,} entities ({named})"
    if told.of_others:
        yield f"about another subject than their entity: {told.of_others:,} triples"
    if told.without_object:
        yield f"without an object: {told.without_object:,} triples"


def _rows(
    measured: Sequence[Measured], columns: Mapping[str, str], *, with_n: bool = False
) -> list[tuple[Any, ...]]:
    has_parts = any(each.by for each in measured)
    head = ["model", *(["value"] * has_parts), *(["n P", "n R"] * with_n), *columns]
    rows = [
        (
            each.group.label,
            *([each.value] * has_parts),
            *([_n(each, side) for side in DIRECTIONS] * with_n),
            *(_shown(each.estimates.get(name), missing="-") for name in columns.values()),
        )
        for each in measured
    ]
    return [tuple(head), *rows]


def _notes(made: Verification) -> Iterator[str]:
    """Return notes on ranks, sample sizes, unparsed verdicts, and human labels."""
    ranked = made.ranked
    if ranked.ties:
        yield TIED
    if not ranked.is_common:
        yield "not ranked: no two groups were verified on reference triples of the same entities"
    for group, n in ranked.elsewhere.items():
        who, differ = made.measured[group].group.label, counted(n, "entity", "entities")
        yield f"{who}: not ranked, verified on other entities than most ({differ} differ)"
    for each in made.measured:
        bare = each.estimates.get("without_reference")
        wanted = ", ".join(f"{n:,} more for {name}" for name, n in each.more.items() if n)
        if wanted and (
            bare is None or bare.value != 1.0
        ):  # otherwise more triples do not narrow the interval
            yield (
                f"{each.group.label}: similar triples needed for intervals within 2 points: "
                f"{wanted}"
            )
    if made.troubles:
        why = ", ".join(f"{_TROUBLES.get(name, name)} {n:,}" for name, n in made.troubles.items())
        yield f"unparsed verdicts, counted as published in the denominator: {why}"
    for said in made.corrected:
        yield people_line(said.group.label, said.n_people, said.figures(), said.scattered)
    if made.people_elsewhere:
        yield f"human labels on triples outside this sample: {made.people_elsewhere:,}"
