"""Item browser of a page: one row per item with answer matrix, discrimination and flags.

It is computed from scores only, so audits of result files and reports of runs show the same. A
public page shows ids and outcomes, and neither texts nor answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.page.text import visible
from proofstone.records.ids import digest
from proofstone.records.runs import OUTCOMES
from proofstone.records.scores import ScoreTable
from proofstone.records.tables import Audience
from proofstone.results.page_pieces import (
    FileBeside,
    Piece,
    PiecedRows,
    folder_beside,
    safe_json,
    write_beside,
)
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.items import described_items
from proofstone.results.sections.strata import documents_text
from proofstone.stats.items import ItemFlag, ItemStatistics
from proofstone.wording.messages import noted, word

# The state of one answer: its code in rows, its symbol where no letter is known, its name. Codes
# are single characters, so that the answers of an item are one text.
STATES: Mapping[str, tuple[str, str]] = {
    "r": ("\u2713", noted("correct")),
    "p": ("~", noted("partly correct")),
    "w": ("\u2717", noted("wrong")),
    "x": ("\u2205", noted("refused")),
    "u": ("?", noted("unparsed")),
    "t": ("\u2026", noted("truncated")),
    "-": ("\u00b7", noted("no response")),
}


_CODES = {"refused": "x", "unparsed": "u", "truncated": "t", "failed": "-"}


# Flags as filters name them.
FLAG_NAMES: Mapping[ItemFlag, str] = {
    "strong-distractor": noted("strong models share a wrong answer"),
    "weak-beat-strong": noted("significant negative discrimination"),
    "nearly-all-wrong": noted("floor item"),
    "nearly-all-right": noted("ceiling item"),
}


TITLE = 100  # characters of a question in its row


ROWS_A_PIECE = 1_000


SHOWN_FIRST = 50  # rows of the page without its script


# Rows above this size are written to files next to the page, so that it opens quickly.
MOST_ROWS_IN_PAGE = 700_000


# Maximum responses and items in a file next to the page.
RESPONSES_A_FILE, ITEMS_A_FILE = 500, 50


class ItemShown(Struct, frozen=True, kw_only=True):
    """One item.

    ``cells`` has a code of ``STATES`` per model. ``answers`` has one character per model (a space
    if unknown), or is empty. ``share`` is the mean score in [0, 1]; ``discrimination`` is the
    item-rest correlation. Both are NaN if undefined. ``place`` is the index of its responses among
    those next to the page, -1 without responses.
    """

    name: str
    title: str = ""
    group: str = ""
    document: str = ""
    key: str = ""
    cells: str
    answers: str = ""
    share: float = math.nan
    discrimination: float = math.nan
    flags: tuple[ItemFlag, ...] = ()
    place: int = -1


class ItemBrowser(Struct, frozen=True, kw_only=True):
    """All items of a page, with the ``models`` in the order of the leaderboard.

    ``level`` names the groups.
    """

    models: tuple[str, ...]
    items: tuple[ItemShown, ...]
    level: str = ""

    @property
    def items_a_file(self) -> int:
        """Return the number of items per file of responses."""
        return max(1, min(ITEMS_A_FILE, RESPONSES_A_FILE // max(len(self.models), 1)))

    @property
    def has_responses(self) -> bool:
        """Return True if responses are written next to the page."""
        return any(item.place >= 0 for item in self.items)


def item_browser(
    evidence: Evidence,
    *,
    texts: Mapping[bytes, str] | None = None,
    has_responses: bool = False,
    audience: Audience = "internal",
) -> ItemBrowser | None:
    """Return the items behind a leaderboard; None without scores by item.

    ``texts`` maps item ids to questions. ``has_responses``: responses of all items will be written
    next to the page. For a public page, items have neither titles nor answers.
    """
    sheet = evidence.sheet
    rows = evidence.board.rows
    if sheet is None or not rows or not len(sheet.table.items):
        return None
    table = sheet.table
    at = {
        (who.name, who.prompt_method, who.settings, who.simulated): place
        for place, who in enumerate(table.respondents)
    }
    order = [at[row.name, row.prompt_method, row.settings, row.simulated] for row in rows]
    cells = _states(table, sheet.values)[:, order]
    is_public = audience == "public"
    letters = None if is_public else _letters(table, order)
    level, names = _groups(table)
    with np.errstate(invalid="ignore"):
        there = ~np.isnan(sheet.values[:, order])
        n = there.sum(axis=1)
        total = np.where(there, sheet.values[:, order], 0.0).sum(axis=1)
        share = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    found, ranked = described_items(evidence), ranked_values(evidence)
    known: dict[int, ItemStatistics] = {}
    if found is not None and ranked is not None:
        known = {int(ranked.units[item.unit]): item for item in found.items}
    titles = _titles(table, {} if is_public else texts or {})
    places = {item: place for place, item in enumerate(dict.fromkeys(table.items))}
    items = []
    for unit, item in enumerate(table.items):
        about = known.get(unit)
        documents = table.documents.of_unit(unit) if table.documents else ()
        items.append(
            ItemShown(
                name=_name(table, unit),
                title=titles[unit],
                group=names[unit] if names else "",
                document=documents_text(documents) if documents else "",
                key="" if is_public else table.answer_keys[int(table.answer_key[unit])],
                cells="".join(cells[unit].tolist()),
                answers="" if letters is None else "".join(letters[unit].tolist()),
                share=float(share[unit]),
                discrimination=math.nan if about is None else about.discrimination,
                flags=() if about is None else about.flags,
                place=places[item] if has_responses and not is_public else -1,
            )
        )
    return ItemBrowser(
        models=tuple(row.label for row in rows),
        items=tuple(items),
        level=level,
    )


def _states(table: ScoreTable, values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the state of each unit and model (units, models).

    With several samples, an answered one takes precedence; the value is the mean.
    """
    found = np.full(values.shape, "-", dtype="<U1")
    for outcome, code in _CODES.items():
        mine = table.outcome == OUTCOMES.index(outcome)
        found[table.unit[mine], table.respondent[mine]] = code
    mine = (table.outcome == OUTCOMES.index("answered")) & ~np.isnan(table.value)
    answered = np.zeros(values.shape, dtype=bool)
    answered[table.unit[mine], table.respondent[mine]] = True
    answered &= ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        states = np.where(values >= 1 - 1e-9, "r", np.where(values <= 1e-9, "w", "p"))
    return np.where(answered, states, found)


def _letters(table: ScoreTable, order: Sequence[int]) -> NDArray[np.str_] | None:
    """Return each model's first letter (units, models in ``order``); a space if unknown.

    None if no answer is a single character.
    """
    names = [name if len(name) == 1 else " " for name in table.answers]
    if not any(name.strip() for name in names):
        return None
    shape = (len(table.items), len(table.respondents))
    found = np.full(shape, " ", dtype="<U1")
    first = np.argsort(-table.sample, kind="stable")  # sample 0 is written last
    found[table.unit[first], table.respondent[first]] = np.array(names)[table.answer[first]]
    return found[:, list(order)]


def _groups(table: ScoreTable) -> tuple[str, list[str]]:
    """Return the level with the fewest groups, and each unit's group."""
    several = [level for level, names in table.stratum_names.items() if len(set(names)) > 1]
    if not several:
        return "", []
    level = min(several, key=lambda name: len(table.stratum_names[name]))
    names = table.stratum_names[level]
    return level, [names[code] for code in table.strata[level].tolist()]


def _name(table: ScoreTable, unit: int) -> str:
    """Return the item's name in its file, or its id as commands accept it."""
    if table.item_names:
        return table.item_names[unit]
    item = table.items[unit]
    return f"item:{table.called.get(item) or item.hex()[:8]}"


def _titles(table: ScoreTable, texts: Mapping[bytes, str]) -> list[str]:
    """Return the beginning of each question, without a first line that all share."""
    found = [texts.get(item, "") for item in table.items]
    if not texts and table.item_texts:
        found = list(table.item_texts)
    given = [text for text in found if text]
    first = {text.strip().partition("\n")[0] for text in given}
    if len(first) == 1 and len(given) > 1:
        found = [text.strip().partition("\n")[2] or text for text in found]
    return [_cut(" ".join(text.split())) for text in found]


def _cut(text: str) -> str:
    return text if len(text) <= TITLE else f"{text[: TITLE - 1].rstrip()}\u2026"


# Items within a page.


class HeldItems(Struct, frozen=True, kw_only=True):
    """Rows of items in pieces, within the page or in the ``folder`` next to it."""

    stamp: str
    folder: str
    names: tuple[str, ...]
    pieces: tuple[Piece, ...]

    @property
    def is_beside(self) -> bool:
        """Return True if the page needs its folder to show its rows."""
        return bool(self.names) and not self.pieces


def hold_items(
    browser: ItemBrowser, page: Path | None = None, files: Iterable[FileBeside] = ()
) -> HeldItems:
    """Write ``files``, and rows that are too many for the page, to the folder next to it.

    Without a ``page`` all rows are kept. Raises as ``write_beside`` does.
    """
    rows = PiecedRows("items", ROWS_A_PIECE)
    pieces = _pieces(browser, rows)
    stamp = digest("\n".join((*browser.models, *(item.name for item in browser.items))).encode(
        "utf-8", "backslashreplace")).hex()[:16]  # fmt: skip
    if page is None:
        return HeldItems(stamp=stamp, folder="", pieces=tuple(pieces), names=tuple(rows.names))
    kept = write_beside(page, stamp, pieces, files, most_in_page=MOST_ROWS_IN_PAGE)
    return HeldItems(
        stamp=stamp, folder=folder_beside(page).name, pieces=kept, names=tuple(rows.names)
    )


def _pieces(browser: ItemBrowser, rows: PiecedRows) -> Iterator[Piece]:
    flags = list(FLAG_NAMES)
    for item in browser.items:
        yield from rows.add(
            [
                visible(item.name), visible(item.title), visible(item.group),
                visible(item.document), visible(item.key), item.cells, visible(item.answers),
                _rounded(item.share), _rounded(item.discrimination),
                [flags.index(flag) for flag in item.flags], item.place,
            ]
        )  # fmt: skip
    yield from rows.rest()


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def items_json(browser: ItemBrowser, held: HeldItems) -> Markup:
    """Return the data that a page's script reads first: names of pieces, models, codes, words."""
    told: dict[str, Any] = {
        "stamp": held.stamp,
        "folder": held.folder,
        "pieces": held.names,
        "models": [visible(model) for model in browser.models],
        "level": word(browser.level),
        "flags": [word(name) for name in FLAG_NAMES.values()],
        "states": {code: [symbol, word(name)] for code, (symbol, name) in STATES.items()},
        "each": browser.items_a_file if browser.has_responses else 0,
    }
    return Markup(safe_json(told))  # noqa: S704 - no tag can begin in it


def without_texts(browser: ItemBrowser) -> ItemBrowser:
    """Return the items for a public page: ids, outcomes and statistics."""
    items = tuple(
        structs.replace(item, title="", key="", answers="", place=-1) for item in browser.items
    )
    return structs.replace(browser, items=items)
