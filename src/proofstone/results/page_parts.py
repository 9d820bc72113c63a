"""Records of a results page, and parts that its templates show."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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
from proofstone.results.sentences import group_heading, intervals_mixed, scale_head
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

# Contents of a results page in addition to the leaderboard; the caller fills these records.


class FormShown(Struct, frozen=True, kw_only=True):
    """An item set: ``seed`` is None for an imported one; ``recipe`` as names and texts."""

    name: str
    id: str
    n_items: int
    seed: int | None = None
    recipe: tuple[tuple[str, str], ...] = ()


class Asked(Struct, frozen=True, kw_only=True):
    """Request settings of one model, and what the endpoint reported.

    ``settings`` were sent; ``dropped`` are those not supported. ``usage`` sums tokens over
    ``calls`` (None if never reported); ``cached_share`` of the prompt tokens came from the
    endpoint's prefix cache. ``cost_usd`` is None without a price; ``estimated_usd`` is
    its part for calls without reported usage. ``mean_logprob`` is the mean natural-log probability
    of response tokens.
    """

    label: str
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    reported_models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    calls: int = 0
    usage: Usage = Usage()
    cached_share: float | None = None
    cost_usd: float | None = None
    estimated_usd: float = 0.0
    mean_logprob: float | None = None
    median_latency_s: float | None = None
    first_call: str = ""
    last_call: str = ""


class Control(Struct, frozen=True, kw_only=True):
    """A sanity check: a simple completion, the response, and whether it is as expected."""

    label: str
    prompt: str
    response: str
    expected: str
    is_as_expected: bool


class FileRead(Struct, frozen=True, kw_only=True):
    """A file that was read: its ``kind`` (wide table, lm-eval samples, ...), columns and
    contents."""

    name: str
    kind: str
    columns: str
    holds: str


class Provenance(Struct, frozen=True, kw_only=True):
    """Version, runs and time (as printed, with time zone) of a page."""

    version: str
    made_at: str
    runs: tuple[str, ...] = ()
    command: str = ""


class PageData(Struct, frozen=True, kw_only=True):
    """A results page: title, leaderboard, conclusions and evidence.

    ``opening`` is the summary at the top; ``trust`` describes data quality. ``sections`` follow the
    leaderboard. ``files`` are result files without further records; runs of the workspace have
    ``forms``, ``asked`` and other records. ``notes`` appear first (kind of data, partial results).
    ``card_columns`` are card fields on the leaderboard. With a public ``audience`` the page shows
    no texts or answers of ``items`` and no responses to ``controls``. ``seed`` is the random seed
    of all resampling. ``manifest`` records how runs were made; None for result files. ``brief`` is
    the summary sheet.
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


class Download(NamedTuple):
    """A file within a page: the text of its link, its name, media type and bytes."""

    text: str
    name: str
    media: str
    content: bytes

    @property
    def address(self) -> str:
        """The ``data:`` address of the file."""
        packed = base64.b64encode(self.content).decode()
        return f"data:{self.media};charset=utf-8;base64,{packed}"


class EstimateTable(Struct, frozen=True, kw_only=True):
    """Several estimates per ranked row.

    Each of ``heads`` is a heading with its denominator (or ""), both as shown. ``cells`` has one
    estimate per column for each of ``group.ranked``. ``name`` and ``keys`` (one per column) are
    names for programs.
    """

    name: str
    keys: tuple[str, ...]
    about: str
    note: str
    heads: tuple[tuple[str, str], ...]
    cells: tuple[tuple[Estimate, ...], ...]


def estimate_tables(group: Standings, population: str) -> Iterator[EstimateTable]:
    """Yield estimates by target population, by level of averaging, and of other measures.

    Nothing without ranked rows, and no table that only repeats the leaderboard's column.
    """
    rows = group.ranked
    if not rows:
        return
    yield EstimateTable(
        name="by-population",
        keys=("bank", "domain"),
        about=say("by population"),
        note=say(
            "New questions from this item bank only, or also about other facts of its domain: "
            "see Definitions."
        ),
        heads=((word("this item bank"), ""), (word("the domain of this item bank"), "")),
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
    measures = {other.name: other for row in rows for other in row.others if other.estimate.n}
    if measures:
        yield EstimateTable(
            name="other-measures",
            keys=tuple(measures),
            about=say("other measures"),
            note=paragraph(say("Each with its own denominator."), _spoken_of(population)),
            heads=tuple(
                (
                    word(each.head),
                    say("of {denominator}", denominator=word(each.denominator)),
                )
                for each in measures.values()
            ),
            cells=tuple(tuple(_measured(row, name) for name in measures) for row in rows),
        )


def _spoken_of(population: str) -> str:
    return say("Intervals for {population}.", population=word(population))


def _measured(row: BoardRow, name: str) -> Estimate:
    """Return a row's estimate of another measure; undefined if it does not apply."""
    found = [other.estimate for other in row.others if other.name == name]
    undefined = Estimate(value=math.nan, n=0, low=math.nan, high=math.nan)
    return found[0] if found else undefined


class TableBody(Struct, frozen=True, kw_only=True):
    """Adjacent rows of the leaderboard; if grouped, under the heading of the group ``name``."""

    name: str = ""
    heading: str = ""
    rows: tuple[BoardRow, ...]


def table_bodies(board: Leaderboard, group: Standings) -> Iterator[TableBody]:
    """Yield the ranked rows of a standing by group, or all without a heading."""
    if not group.groups:
        yield TableBody(rows=group.ranked)
    for each in group.groups:
        if each.ranked:
            rows = tuple(group.ranked[place] for place in each.ranked)
            heading = group_heading(board.group_by, each)
            yield TableBody(name=word(each.name), heading=heading, rows=rows)


def by_remedy(group: Standings) -> dict[str, list[str]]:
    """Map each remedy to the models that it applies to."""
    found: dict[str, list[str]] = {}
    for row in group.rows:
        for advice in row.warnings:
            found.setdefault(advice.try_next, []).append(
                say("{who}: {what}", who=row.label, what=advice.what)
            )
    return found


def same_recipe(forms: Sequence[FormShown]) -> bool:
    """Return True if several forms have the same parameters, which are then stated once."""
    return len(forms) > 1 and len({form.recipe for form in forms}) == 1


# Limitations.


def open_questions(data: PageData) -> list[str]:
    """Return the limitations of sections, unranked models and evidence."""
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
                "Only scores were given: prompts, extraction of answers and answer keys are "
                "not known."
            )
        )
    return said


# Texts for templates: messages as HTML, and composed headings.


def page_texts() -> Mapping[str, Callable[..., Any]]:
    """Return the text functions for templates by name.

    Messages are HTML: values of placeholders are escaped unless they are HTML already.
    """
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
        "intervals_mixed": intervals_mixed,
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
    """Return a sentence on the scores, the number of items, and the intervals."""
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
    """Return a sentence on how ties are drawn; empty without ties."""
    if not group.ties:
        return ""
    if has_lanes:
        return say("Models that share a letter are not significantly different (Holm-adjusted).")
    return say("Bars show the rank range, first place at the left.")


def _plot_label(plot: Any) -> str:
    """Return a text alternative for the axis of the leaderboard."""
    said = say(
        "Axis labels from {low} to {high}, in %", low=plot.ticks[0].text, high=plot.ticks[-1].text
    )
    return said if plot.chance is None else say("; ").join((said, plot.chance.text))


def _estimates_heading(group: Standings, table: EstimateTable) -> str:
    """Return the heading with its first letter in upper case."""
    simulated = say("simulated: {said}", said="") if group.simulated else ""
    said = f"{simulated}{scale_head(group)}{table.about}"
    return said[:1].upper() + said[1:]


# Footer of printed sheets, and texts for style sheets.

# A longer list of runs is on the last sheet only.
MOST_RUNS = 4


MOST_TITLE = 160


def paper_line(title: str, made: Provenance) -> str:
    """Return the footer of every sheet: title, runs, time and version."""
    runs = ", ".join(made.runs[:MOST_RUNS])
    if len(made.runs) > MOST_RUNS:
        runs += f" +{len(made.runs) - MOST_RUNS}"
    return " \u00b7 ".join(
        filter(None, (title[:MOST_TITLE], runs, made.made_at, f"proofstone {made.version}"))
    )


def css_string(text: str) -> Markup:
    """Return ``text`` as a CSS string in which all but letters and digits are escaped."""
    return Markup('"{}"').format("".join(c if c.isalnum() else f"\\{ord(c):x} " for c in text))


def page_for(data: PageData) -> PageData:
    """Return the page as its audience may see it.

    A public page has no texts or answers of items and no responses to sanity checks, whose prompts
    are in the source code.
    """
    if data.audience == "internal":
        return data
    controls = tuple(structs.replace(control, response="") for control in data.controls)
    items = None if data.items is None else without_texts(data.items)
    return structs.replace(data, items=items, controls=controls)


# Records of how runs were made, for the methods text.


class BankUsed(Struct, frozen=True):
    """A bank that forms were composed from, and its number of facts."""

    name: str
    n_facts: int


class AskedAs(Struct, frozen=True, kw_only=True):
    """Request settings of one model.

    ``name`` is the model's name. ``own_prompt`` is a custom template that replaces the method's.
    ``settings`` were sent; ``dropped`` are those not supported. ``first`` and ``last`` are the
    times of responses, empty without responses.
    """

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


class RecordedRole(Struct, frozen=True):
    """A role that a model had in ``n_items`` of the items."""

    role: RoleName
    model: str
    n_items: int


class Manifest(Struct, frozen=True, kw_only=True):
    """Record of how runs were made.

    ``method`` is the method's title. ``banks`` are those that items were sampled from. ``scorers``
    are scorer versions, ``judges`` the models that judged responses.
    """

    method: str
    banks: tuple[BankUsed, ...] = ()
    asked: tuple[AskedAs, ...] = ()
    scorers: tuple[int, ...] = ()
    judges: tuple[str, ...] = ()
    roles_held: tuple[RecordedRole, ...] = ()
