"""What the page arranges of a leaderboard: tables of estimates, warnings by remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape
from msgspec import Struct, structs

from proofstone.page.section import Section
from proofstone.records.knowledge import RoleName
from proofstone.records.runs import Estimate, Usage
from proofstone.records.tables import Audience
from proofstone.results.board import BoardRow, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.brief import Brief
from proofstone.results.item_browser import ItemBrowser, without_texts
from proofstone.results.sentences import group_heading, scale_head
from proofstone.results.summary import Opening
from proofstone.results.trust import DataQualityLine
from proofstone.wording.messages import (
    counted,
    filled,
    joined,
    language,
    language_tag,
    listed,
    paragraph,
    say,
    say_of,
    word,
)

# All that a results page shows besides the leaderboard; plain records, filled by the caller.


class FormShown(Struct, frozen=True, kw_only=True):
    """An item set that was asked: ``seed`` is None for an imported one; ``recipe`` in words."""

    name: str
    id: str
    n_items: int
    seed: int | None = None
    recipe: tuple[tuple[str, str], ...] = ()


class Asked(Struct, frozen=True, kw_only=True):
    """How one respondent was asked, and what the endpoint said of itself.

    ``settings`` as sent, ``dropped`` those it does not take. ``usage`` sums tokens over ``calls``
    (None where the endpoint never said); ``cost_usd`` is None where no price is known, and
    ``estimated_usd`` the part of it for calls that the endpoint did not count;
    ``mean_logprob`` the mean natural-log probability of reply tokens, evidence that it was asked.
    """

    label: str
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    reported_models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    estimated_usd: float = 0.0
    mean_logprob: float | None = None
    median_latency_s: float | None = None
    first_call: str = ""
    last_call: str = ""


class Control(Struct, frozen=True, kw_only=True):
    """A simple completion that any working model manages: what came, and whether it fits."""

    label: str
    prompt: str
    response: str
    expected: str
    is_as_expected: bool


class FileRead(Struct, frozen=True, kw_only=True):
    """A file that was read: its ``kind`` (wide table, lm-eval samples, ...), how its columns were
    understood, and what it holds."""

    name: str
    kind: str
    columns: str
    holds: str


class Provenance(Struct, frozen=True, kw_only=True):
    """Which version made the page, from which runs, and when (as printed, with its zone)."""

    version: str
    made_at: str
    runs: tuple[str, ...] = ()
    command: str = ""


class PageData(Struct, frozen=True, kw_only=True):
    """A results page: its title, the leaderboard, what follows from it, and the evidence beside it.

    ``opening`` is the half page at the top, ``trust`` how far to believe all of it. ``sections``
    are the parts after the leaderboard. ``files`` are those of other people's results, of which
    nothing else is known; of our own runs there are ``forms``, ``asked`` and the others.

    ``notes`` stand above everything else (what the data are, what is partial). ``card_columns`` are
    facts of the models' cards to show on the leaderboard. ``audience``: a page for the public shows
    neither texts nor answers of ``items``, and no replies to ``controls``.
    ``seed`` is that of all draws. ``manifest`` is what is recorded of how runs of our own came
    about; None for other people's results. ``brief`` is half a page for a decision.
    """

    title: str
    board: Leaderboard
    provenance: Provenance
    seed: int | None = None
    manifest: Manifest | None = None
    opening: Opening = Opening()
    trust: tuple[DataQualityLine, ...] = ()
    sections: tuple[Section, ...] = ()
    files: tuple[FileRead, ...] = ()
    notes: tuple[str, ...] = ()
    card_columns: tuple[str, ...] = ()
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    items: ItemBrowser | None = None
    brief: Brief | None = None
    audience: Audience = "internal"


class EstimateTable(Struct, frozen=True, kw_only=True):
    """Several estimates a ranked row: a heading and its denominator in words (or nothing) a
    column, and as many estimates for each of ``group.ranked``, in order. ``name`` and ``keys`` (one
    a column) name it and its columns for programs."""

    name: str
    keys: tuple[str, ...]
    about: str
    note: str
    heads: tuple[tuple[str, str], ...]
    cells: tuple[tuple[Estimate, ...], ...]


def estimate_tables(group: Standings, population: str) -> Iterator[EstimateTable]:
    """By estimand, by level of averaging, and the other measures; none without ranked rows, and
    no table that would only repeat the leaderboard's column."""
    rows = group.ranked
    if not rows:
        return
    yield EstimateTable(
        name="by-population",
        keys=("bank", "domain"),
        about=say("by population"),
        note=say(
            "Fresh questions from this bank alone, or other facts as well: see How to read these "
            "numbers."
        ),
        heads=(("this item bank", ""), ("the domain of this item bank", "")),
        cells=tuple((row.bank, row.knowledge) for row in rows),
    )
    if len(rows[0].levels) > 1:
        yield EstimateTable(
            name="by-level",
            keys=tuple(level.name for level in rows[0].levels),
            about=say("by level of averaging"),
            note=paragraph(
                say("Sample-wise counts each item the same."),
                say("A coarser level counts each of its groups the same, whatever its size."),
                _spoken_of(population),
            ),
            heads=tuple(
                (say("{level}-wise", level=word(level.name)), "") for level in rows[0].levels
            ),
            cells=tuple(tuple(level.estimate for level in row.levels) for row in rows),
        )
    measures = {other.name: other.denominator for row in rows for other in row.others}
    if measures:
        yield EstimateTable(
            name="other-measures",
            keys=tuple(measures),
            about=say("other measures"),
            note=paragraph(say("Each with its own denominator."), _spoken_of(population)),
            heads=tuple(measures.items()),
            cells=tuple(tuple(_measured(row, name) for name in measures) for row in rows),
        )


def _spoken_of(population: str) -> str:
    return say("Intervals for {population}.", population=word(population))


def _measured(row: BoardRow, name: str) -> Estimate:
    """A row's estimate of another measure; an undefined one where nothing of its kind was asked."""
    found = [other.estimate for other in row.others if other.name == name]
    undefined = Estimate(value=math.nan, n=0, low=math.nan, high=math.nan)
    return found[0] if found else undefined


class TableBody(Struct, frozen=True, kw_only=True):
    """Rows of the leaderboard that stand together, where it is grouped under the heading of the
    group ``name``."""

    name: str = ""
    heading: str = ""
    rows: tuple[BoardRow, ...]


def table_bodies(board: Leaderboard, group: Standings) -> Iterator[TableBody]:
    """The ranked rows of a standing, by group; all in one without a heading where there is none."""
    if not group.groups:
        yield TableBody(rows=group.ranked)
    for each in group.groups:
        if each.ranked:
            rows = tuple(group.ranked[place] for place in each.ranked)
            heading = group_heading(board.group_by, each)
            yield TableBody(name=word(each.name), heading=heading, rows=rows)


def by_remedy(group: Standings) -> dict[str, list[str]]:
    """What to try, and which respondents it is for: one remedy said once, not once a row."""
    found: dict[str, list[str]] = {}
    for row in group.rows:
        for advice in row.warnings:
            found.setdefault(advice.try_next, []).append(
                say("{who}: {what}", who=row.label, what=advice.what)
            )
    return found


def same_recipe(forms: Sequence[FormShown]) -> bool:
    """Whether several forms were made with the same parameters, which is then said once."""
    return len(forms) > 1 and len({form.recipe for form in forms}) == 1


# What nobody can conclude from these data.


def open_questions(data: PageData) -> list[str]:
    """What these data leave open: of each section, of those who are not ranked, of the evidence."""
    said = [section.cannot for section in data.sections if section.cannot]
    short = [
        row.label for group in data.board.standings for row in group.incomplete if group.ranked
    ]
    if short:
        said.append(
            say_of(
                len(short),
                "{models} is not ranked: too many scores are missing to say where it belongs.",
                "{models} are not ranked: too many scores are missing to say where they belong.",
                models=joined(short),
            )
        )
    if data.files:
        said.append(
            say(
                "Nothing here is known of how the models were asked, how replies were read, or "
                "whether the right answers are right: only the scores were given."
            )
        )
    return said


# Texts of the page that its templates say: messages as HTML, and headings made of several.


def page_texts() -> Mapping[str, Callable[..., Any]]:
    """What templates say texts with, by name. Messages come out as HTML: what fills their places
    is escaped unless it is HTML already."""
    return {
        "band_sentence": _band_sentence,
        "code": lambda text: Markup("<code>{}</code>").format(text),
        "counted": counted,
        "estimates_heading": _estimates_heading,
        "joined": joined,
        "language_tag": language_tag,
        "listed": listed,
        "paragraph": _paragraph,
        "plot_label": _plot_label,
        "say": _say,
        "say_of": lambda n, one, many, **values: _say(one if n == 1 else many, **values),
        "scale_sentence": _scale_sentence,
        "stressed": lambda text: Markup("<em>{}</em>").format(text),
        "word": word,
    }


def _say(message: str, /, **values: object) -> Markup:
    if language() == "en":
        return escape(message).format(**values)
    return Markup(filled(str(escape(word(message))), values, _escaped))  # noqa: S704 - escaped


def _escaped(value: object, spec: str) -> str:
    return str(value if isinstance(value, Markup) and not spec else escape(format(value, spec)))


def _paragraph(*sentences: str) -> Markup:
    return Markup(paragraph(*(str(escape(sentence)) for sentence in sentences)))  # noqa: S704


def _scale_sentence(board: Leaderboard, group: Standings) -> str:
    """What the leaderboard's numbers are, of how many items, and what their intervals cover."""
    measure = word(board.measure).capitalize()
    if all(math.isnan(row.estimate.low) for row in group.ranked):
        return say("{measure} in %, without confidence intervals.", measure=measure)
    said = say(
        "{measure} in % on {items} with {confidence:g}% confidence intervals (population: "
        "{population}).",
        measure=measure,
        items=counted(group.n_items, "item"),
        confidence=100 * board.confidence,
        population=word(board.population),
    )
    if board.level == "sample":
        return said
    return paragraph(said, say("Every {level} has equal weight.", level=word(board.level)))


def _band_sentence(group: Standings, has_lanes: bool) -> str:
    """How ties are drawn; empty where there are none."""
    if not group.ties:
        return ""
    if has_lanes:
        return say("Models that share a letter are not significantly different (Holm-adjusted).")
    return say("Bars show the rank range, first place at the left.")


def _plot_label(plot: Any) -> str:
    """What the axis of the leaderboard is, for those who do not see it."""
    ends = f"{plot.ticks[0].text}-{plot.ticks[-1].text}"
    said = say("Axis from {ends}, in %", ends=ends)
    return said if plot.chance is None else f"{said}; {plot.chance.text}"


def _estimates_heading(group: Standings, table: EstimateTable) -> str:
    """The first letter is large, the others as they are."""
    simulated = say("simulated: {said}", said="") if group.simulated else ""
    said = f"{simulated}{scale_head(group)}{table.about}"
    return said[:1].upper() + said[1:]


# What a printed page says on every sheet, and texts as style sheets write them.

# More runs than these are named once, on the last sheet.
MOST_RUNS = 4


MOST_TITLE = 160


def paper_line(title: str, made: Provenance) -> str:
    """The foot of every sheet: what the page is of, which runs, when it was made, by which
    version."""
    runs = ", ".join(made.runs[:MOST_RUNS])
    if len(made.runs) > MOST_RUNS:
        runs += f" +{len(made.runs) - MOST_RUNS}"
    return " \u00b7 ".join(
        filter(None, (title[:MOST_TITLE], runs, made.made_at, f"proofstone {made.version}"))
    )


def css_string(text: str) -> Markup:
    """``text`` between quotes, so that no character of it ends the text or the style sheet: all
    but letters and digits are written as their numbers."""
    return Markup('"{}"').format("".join(c if c.isalnum() else f"\\{ord(c):x} " for c in text))


def page_for(data: PageData) -> PageData:
    """Return the page as its audience may see it.

    For the public it has no texts or answers of items and no responses to control completions,
    whose prompts are in the program's source.
    """
    if data.audience == "internal":
        return data
    controls = tuple(structs.replace(control, response="") for control in data.controls)
    items = None if data.items is None else without_texts(data.items)
    return structs.replace(data, items=items, controls=controls)


# What a workspace knows of how runs came about, as a methods paragraph needs it.


class BankUsed(Struct, frozen=True):
    """A bank that forms were composed from, and how many facts it holds."""

    name: str
    n_facts: int


class AskedAs(Struct, frozen=True, kw_only=True):
    """How one respondent was asked. ``name`` is the model's; ``own_prompt`` is a person's template
    in place of the method's; ``settings`` are those that were sent, ``dropped`` those of them that
    were not taken; ``first`` and ``last`` say when replies came, empty where none did."""

    name: str
    prompt_method: str
    shots: int = 0
    samples: int = 1
    own_prompt: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    simulated: bool = False


class HandRecorded(Struct, frozen=True):
    """A role that a model had in ``n_items`` of the items."""

    role: RoleName
    model: str
    n_items: int


class Manifest(Struct, frozen=True, kw_only=True):
    """``method`` is the method's title. ``banks`` are what the item sets were drawn from;
    ``scorers`` the versions of its scorer that read the replies, ``judges`` the models that judged
    them."""

    method: str
    banks: tuple[BankUsed, ...] = ()
    asked: tuple[AskedAs, ...] = ()
    scorers: tuple[int, ...] = ()
    judges: tuple[str, ...] = ()
    hands: tuple[HandRecorded, ...] = ()
