"""The leaderboard of a page as tables: the ranking, other averages, and who stands apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.page.numbers import shown_share, tie_letters
from proofstone.page.section import (
    Cell,
    Column,
    Table,
)
from proofstone.page.table import PageTable
from proofstone.results.board import BoardRow, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.cards import card_value
from proofstone.results.corrections import RULING_HEADS, ruled_rows, ruling_cells
from proofstone.results.page_parts import (
    EstimateTable,
    PageData,
    estimate_tables,
    same_recipe,
)
from proofstone.results.sentences import HAND_MARK, apart_name, deeds
from proofstone.wording.messages import joined, listed, paragraph, say, word

# What a page says of how it came about, as tables: files, forms, respondents, what they took.


def asked_tables(data: PageData) -> Iterator[PageTable]:
    """Those that have rows. Nothing of any question or reply stands in them."""
    tables = {
        "outcomes": _outcomes(data),
        "files": _files(data),
        "forms": _forms(data),
        "respondents": _respondents(data),
        "spent": _spent(data),
    }
    for name, table in tables.items():
        if table.rows:
            yield PageTable(name=name, table=table)


def _outcomes(data: PageData) -> Table:
    board = data.board
    counts = board.counts if board.standings else ()
    return Table(
        title=say("What each outcome counts as"),
        columns=(
            Column(key="outcome", name=say("outcome")),
            Column(key="counts_as", name=say("counts as")),
        ),
        rows=tuple((word(outcome), word(worth)) for outcome, worth in counts),
        note=say(
            "Denominator of {measure}: {denominator}.",
            measure=word(board.measure),
            denominator=word(board.denominator),
        ),
    )


def _files(data: PageData) -> Table:
    return Table(
        title=say("Files that were read"),
        columns=(
            Column(key="file", name=say("file")),
            Column(key="kind", name=say("what it is")),
            Column(key="holds", name=say("what it holds")),
            Column(key="columns", name=say("columns, as they were understood")),
        ),
        rows=tuple((file.name, file.kind, file.holds, file.columns) for file in data.files),
    )


def _forms(data: PageData) -> Table:
    once = same_recipe(data.forms)
    recipes = [_pairs(form.recipe) for form in data.forms]
    return Table(
        title=say("Forms that were asked"),
        columns=(
            Column(key="form", name=say("form")),
            Column(key="seed", name=say("seed")),
            Column(key="n", name=say("items")),
            Column(key="recipe", name=say("made with")),
            Column(key="id", name=say("id")),
        ),
        rows=tuple(
            (form.name, form.seed, form.n_items, recipe, form.id)
            for form, recipe in zip(data.forms, recipes, strict=True)
        ),
        note=say("All were made with the same parameters.") if once else "",
    )


def _respondents(data: PageData) -> Table:
    return Table(
        title=say("Respondents and their settings"),
        columns=(
            Column(key="respondent", name=say("respondent")),
            Column(key="settings", name=say("settings sent")),
            Column(key="dropped", name=say("not taken")),
            Column(key="served", name=say("model the endpoint named")),
            Column(key="fingerprints", name=say("fingerprints")),
            Column(key="first", name=say("first reply")),
            Column(key="last", name=say("last reply")),
        ),
        rows=tuple(
            (
                each.label, _pairs(each.settings), joined(each.dropped) or None,
                joined(each.served_models) or None, joined(each.fingerprints) or None,
                each.first_call or None, each.last_call or None,
            )
            for each in data.asked
        ),
    )  # fmt: skip


def _spent(data: PageData) -> Table:
    return Table(
        title=say("Tokens, cost and time"),
        columns=(
            Column(key="respondent", name=say("respondent")),
            Column(key="calls", name=say("calls")),
            Column(key="prompt_tokens", name=say("prompt tokens")),
            Column(key="reply_tokens", name=say("reply tokens")),
            Column(key="reasoning_tokens", name=say("of these reasoning")),
            Column(key="cost_usd", name=say("cost, USD"), digits=4),
            Column(key="estimated_usd", name=say("of this estimated"), digits=4),
            Column(key="mean_logprob", name=say("mean log-probability"), digits=3),
            Column(key="median_latency_s", name=say("median latency, s")),
        ),
        rows=tuple(
            (
                each.label, each.calls, each.usage.prompt, each.usage.completion,
                each.usage.reasoning, each.cost_usd, each.estimated_usd, each.mean_logprob,
                each.median_latency_s,
            )
            for each in data.asked
        ),
    )  # fmt: skip


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    return listed([f"{name} {value}" for name, value in pairs])


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
