"""The leaderboard of a page as tables: the ranking, other averages, and who stands apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.report.board import BoardRow, Leaderboard, Standings
from proofstone.report.card_values import card_value
from proofstone.report.corrections_shown import RULING_HEADS, ruled_rows, ruling_cells
from proofstone.report.hand_sentences import HAND_MARK, deeds
from proofstone.report.numbers import shown_share
from proofstone.report.page_data import PageData
from proofstone.report.page_parts import EstimateTable, estimate_tables
from proofstone.report.sections.section import Cell, Column, Table
from proofstone.report.sentences import apart_name
from proofstone.report.table_files.page_table import PageTable
from proofstone.report.ties import tie_letters
from proofstone.wording import listed, paragraph, say, word

__all__ = ["board_tables"]

_OUTCOMES = ("truncated", "unparsed", "refused", "miss")


def board_tables(data: PageData) -> Iterator[PageTable]:
    """The tables of each standing: ranked, by estimand, level and measure, incomplete, hands,
    rulings; those without a row are left out."""
    for place, group in enumerate(data.board.standings):
        end = "" if place == 0 else f"-{place + 1}"
        head = _head(group)
        for name, table, notes in _of(data, group):
            if table.rows:
                titled = Table(
                    title=f"{head}{table.title}",
                    columns=table.columns,
                    rows=table.rows,
                    note=table.note,
                )
                yield PageTable(name=name + end, table=titled, notes=notes)


def _head(group: Standings) -> str:
    words = [say("Simulated")] if group.simulated else []
    words += [name] if (name := apart_name(group)) else []
    return say("{what}: ", what=listed(words)) if words else ""


def _of(data: PageData, group: Standings) -> Iterator[tuple[str, Table, tuple[str, ...]]]:
    board = data.board
    yield "leaderboard", _ranking(data, group), tuple(_ranking_notes(board, group))
    for averages in estimate_tables(group, board.estimand):
        yield averages.name, _averages(group, averages), ()
    yield "incomplete", _incomplete(data, group), ()
    yield "hands", _hands(group), ()
    yield "rulings", _rulings(group), ()


def _who(group: Standings) -> tuple[Column, ...]:
    """The columns that name a respondent: the way and settings only where any has one."""
    rows = (*group.ranked, *group.incomplete)
    columns = [Column(key="model", name=say("model"))]
    columns += [Column(key="way", name=say("way"))] if any(row.way for row in rows) else []
    columns += (
        [Column(key="settings", name=say("settings"))] if any(row.settings for row in rows) else []
    )
    columns += [Column(key="judge", name=say("judge"))] if any(row.judge for row in rows) else []
    return tuple(columns)


def _named(row: BoardRow, who: Sequence[Column]) -> tuple[Cell, ...]:
    texts = {"model": row.name, "way": row.way, "settings": row.settings, "judge": row.judge}
    return tuple(texts[column.key] for column in who)


def _facts(data: PageData) -> tuple[Column, ...]:
    return tuple(Column(key=f"card_{name}", name=word(name)) for name in data.card_columns)


def _ranking(data: PageData, group: Standings) -> Table:
    """The ranked rows. ``hand`` is marked, ``tied`` holds the letters that tied rows share."""
    board, who = data.board, _who(group)
    has_ranks = group.has_ranks
    has_hands = any(row.hand for row in group.ranked)
    has_samples = any(row.average is not None and row.average.k > 1 for row in group.ranked)
    told = [name for name in _OUTCOMES if any(row.rate(name).n for row in group.ranked)]
    columns = [
        *([Column(key="rank", name=say("rank")), Column(key="tied", name=say("tied"))] * has_ranks),
        *who,
        *([Column(key="hand", name=say("hand in items"))] * has_hands),
        *([Column(key="group", name=word(board.group_by))] * bool(group.groups)),
        *_facts(data),
        Column(key="n", name=say("n")),
        Column(key=board.measure, name=word(board.measure), unit="points"),
        *([Column(key="sd_samples", name=say("SD over samples"), unit="points")] * has_samples),
        *(Column(key=name, name=word(name), unit="share") for name in told),
    ]
    named = {place: each.name for each in group.groups for place in each.ranked}
    rows = [
        (
            *((row.rank, " ".join(tie_letters(tie) for tie in row.ties)) if has_ranks else ()),
            *_named(row, who),
            *([HAND_MARK if row.hand else ""] * has_hands),
            *([named.get(place, "")] * bool(group.groups)),
            *(word(card_value(row.card, name)) for name in data.card_columns),
            row.estimate.n,
            row.estimate,
            *([row.average.sd if row.average else None] * has_samples),
            *(row.rate(name).share for name in told),
        )
        for place, row in enumerate(group.ranked)
    ]
    return Table(title=say("Leaderboard"), columns=tuple(columns), rows=tuple(rows))


def _ranking_notes(board: Leaderboard, group: Standings) -> Iterator[str]:
    if board.level != "sample":
        yield say("Each {level} counts the same.", level=word(board.level))
    if group.ties:
        yield say("Models that share a letter are not significantly different (Holm-adjusted).")
    if group.has_ranks and group.is_paired:
        yield say(
            "Ranks come from paired comparisons on the same items, Holm-adjusted for all pairs. "
            "A rank range holds the ranks compatible with all of them."
        )
    if not group.is_common:
        yield say("These respondents share no item, so they are not ranked against each other.")
    if any(row.hand for row in group.ranked):
        yield say("{mark}: the model or one of its family had a hand in the items.", mark=HAND_MARK)
    if group.chance_sentence:
        yield paragraph(
            group.chance_sentence, say("Chance is {chance}.", chance=shown_share(group.chance))
        )


def _averages(group: Standings, averages: EstimateTable) -> Table:
    who = _who(group)
    columns = (
        *who,
        *(
            Column(key=key, name=name, help=denominator, unit="points")
            for key, (name, denominator) in zip(averages.keys, averages.heads, strict=True)
        ),
    )
    rows = tuple(
        (*_named(row, who), *cells) for row, cells in zip(group.ranked, averages.cells, strict=True)
    )
    title = averages.about[:1].upper() + averages.about[1:]
    return Table(title=title, columns=columns, rows=rows, note=averages.note)


def _incomplete(data: PageData, group: Standings) -> Table:
    """``failed`` stands only where calls are known to have: files of results do not tell it."""
    who = _who(group)
    has_failed = any(row.failed for row in group.incomplete)
    columns = (
        *who,
        *_facts(data),
        Column(key="replies", name=say("replies")),
        Column(key="missing", name=say("missing")),
        *([Column(key="failed", name=say("of these failed"))] if has_failed else []),
        Column(key="lowest", name=say("lowest"), unit="points"),
        Column(key="highest", name=say("highest"), unit="points"),
        Column(key="so_far", name=say("so far"), unit="points"),
    )
    rows = tuple(
        (
            *_named(row, who),
            *(word(card_value(row.card, name)) for name in data.card_columns),
            row.n_replies, row.missing, *([row.failed] if has_failed else []),
            row.bounds.low if row.bounds else None,
            row.bounds.high if row.bounds else None,
            row.estimate,
        )
        for row in group.incomplete
    )  # fmt: skip
    note = say(
        "Replies are missing. The bounds count them all wrong, then all right; the truth lies "
        "between."
    )
    return Table(title=say("Incomplete, not ranked"), columns=columns, rows=rows, note=note)


def _hands(group: Standings) -> Table:
    who = _who(group)
    columns = (
        *who,
        Column(key="did", name=say("what it did")),
        Column(key="touched", name=say("items it touched")),
        Column(key="rest", name=say("on the others"), unit="points"),
        Column(key="rank_rest", name=say("rank there")),
    )
    rows = tuple(
        (
            *_named(row, who), deeds(row.hand), row.hand.n_touched,
            row.hand.untouched if row.hand.untouched.n else None, row.hand.rank,
        )
        for row in (*group.ranked, *group.incomplete)
        if row.hand is not None
    )  # fmt: skip
    return Table(title=say("Contestants that had a hand in the items"), columns=columns, rows=rows)


def _rulings(group: Standings) -> Table:
    who = _who(group)
    heads = (Column(key=name.replace(" ", "_"), name=word(name)) for name in RULING_HEADS)
    rows = tuple((*_named(row, who), *ruling_cells(row)) for row in ruled_rows(group))
    return Table(title=say("Rulings by people"), columns=(*who, *heads), rows=rows)
