"""What a page says of how it came about, as tables: files, forms, respondents, what they took."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.page_data import PageData
from proofstone.report.page_parts import same_recipe
from proofstone.report.sections.section import Column, Table
from proofstone.report.table_files.page_table import PageTable
from proofstone.wording import joined, listed, say, word

__all__ = ["asked_tables"]


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
