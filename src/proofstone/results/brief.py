"""One-sheet summary of results for a decision: HTML, or PDF set by typst without a browser."""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.errors import BadUsage, ExtraMissing
from proofstone.page.section import MISSING, points, shown_interval, shown_rank, two_digits
from proofstone.page.text import printable
from proofstone.records.items import CONTEXT
from proofstone.results.board import BoardRow, Standings
from proofstone.results.sections.evidence import Evidence, values_of
from proofstone.results.summary import (
    bounded_cell,
    called,
    cost_of_thousand,
    least_cost,
    named,
    shown_usd,
    top_group,
)
from proofstone.stats.intervals import interval_against
from proofstone.stats.ranks import Comparison
from proofstone.wording.messages import counted, language_tag, paragraph, say, say_of, word

# Records of the sheet, shared by HTML and PDF.

_MOST_ROWS = 6


_MOST_NEEDED = 1_000_000  # a larger number of questions is not practical


class BriefRow(Struct, frozen=True, kw_only=True):
    """One model in the table, with rank range, score and cost as text.

    ``low``, ``at`` and ``high`` are the ends and the center of its interval on an axis from 0 to 1.
    Without an interval all three are equal.
    """

    rank: str
    model: str
    score: str
    interval: str
    cost: str
    low: float
    at: float
    high: float


class BriefPart(Struct, frozen=True):
    """A labeled paragraph."""

    label: str
    text: str


class Brief(Struct, frozen=True, kw_only=True):
    """Contents of the sheet; without a time, so the same results give the same bytes.

    ``context`` is one line under the title. ``mark`` is a warning about simulated models or empty.
    ``axis`` names the score column. ``note`` counts models that the table omits. ``limits`` is one
    line.
    """

    title: str
    context: str
    mark: str
    answer: str
    axis: str
    rows: tuple[BriefRow, ...]
    note: str
    parts: tuple[BriefPart, ...]
    limits: str


def make_brief(evidence: Evidence, title: str) -> Brief:
    """Return the brief of the first ranking, preferring real models over simulated ones."""
    board = evidence.board
    groups = [group for group in board.standings if not group.experiment]
    real = [group for group in groups if not group.simulated]
    group = next(iter(real or groups), None)
    if group is None or not group.rows:
        nothing = say("There are no scores, so no model is ranked.")
        return Brief(
            title=printable(title), context="", mark="", answer=nothing, axis="", rows=(), note="",
            parts=(), limits=say("No conclusion about any model is possible."),
        )  # fmt: skip
    parts = {
        say("Certainty"): paragraph(*_certainty(board.confidence, group)),
        say("Documents"): _documents(evidence, group),
        say("Cost"): paragraph(*_cost(evidence, group)),
        say("Next step"): paragraph(*_next(evidence, group)),
    }
    shown = group.ranked[:_MOST_ROWS]
    more = len(group.ranked) - len(shown)
    return Brief(
        title=printable(title),
        context=_context(evidence, group),
        mark=say("Simulated models: no model was called.") if group.simulated else "",
        answer=_answer(word(board.measure), group),
        axis=say(
            "{measure}, % [{confidence:g}% CI]",
            measure=word(board.measure),
            confidence=100 * board.confidence,
        ),
        rows=tuple(_rows(group, shown)),
        note=say_of(
            more, "{n:,} more ranked model in the full report.",
            "{n:,} more ranked models in the full report.", n=more,
        ) if more else "",
        parts=tuple(BriefPart(label, text) for label, text in parts.items() if text),
        limits=paragraph(*_limits(evidence, groups, group)),
    )  # fmt: skip


def _context(evidence: Evidence, group: Standings) -> str:
    counts = [counted(len(group.rows), "model")]
    if group.n_items:
        counts.append(counted(group.n_items, "item"))
    return " \u00b7 ".join([*counts, word(evidence.board.measure)])


def _rows(group: Standings, shown: Sequence[BoardRow]) -> Iterator[BriefRow]:
    ends = [
        end
        for row in shown
        for end in (row.estimate.low, row.estimate.value, row.estimate.high)
        if not math.isnan(end)
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    span = (high - low) or 1.0
    for row in shown:
        own = row.estimate
        at = own.value
        edges = [at if math.isnan(end) else end for end in (own.low, own.high)]
        places = [round((end - low) / span, 4) for end in (edges[0], at, edges[1])]
        cost = bounded_cell(row, cost_of_thousand(row), 2)
        yield BriefRow(
            rank=shown_rank(row.rank),
            model=printable(called(group, row)),
            score=points(at),
            interval="" if math.isnan(own.low) else shown_interval(own.low, own.high),
            cost=shown_usd(cost) if isinstance(cost, float) else cost or "",
            low=places[0],
            at=places[1],
            high=places[2],
        )


# The sentences.


def _answer(measure: str, group: Standings) -> str:
    """Return a sentence on which model leads and whether its lead is significant."""
    if not group.ranked:
        return say("No model has a complete set of responses, so none is ranked.")
    first = group.ranked[0]
    own = first.estimate
    score = points(own.value)
    if len(group.ranked) == 1:
        return say(
            "{model} scores {score}%. It is the only ranked model, so there is no comparison.",
            model=called(group, first),
            score=score,
        )
    if not group.has_ranks:
        return say(
            "{model} has the highest {measure} ({score}%). These data do not support a "
            "significance test.",
            model=called(group, first), measure=measure, score=score,
        )  # fmt: skip
    best = top_group(group)
    if len(best) == 1:
        return say(
            "{model} ranks first with {score}%. Its lead over every other model is statistically "
            "significant.",
            model=called(group, first), score=score,
        )  # fmt: skip
    level = [row for row in group.ranked if math.isclose(row.estimate.value, own.value)]
    if len(level) > 1:
        leads = say("{models} share the highest {measure} ({score}%).",
                    models=named(group, level), measure=measure, score=score)  # fmt: skip
    else:
        leads = say("{model} has the highest {measure} ({score}%).",
                    model=called(group, first), measure=measure, score=score)  # fmt: skip
    if len(best) == len(group.ranked):
        return paragraph(leads, say("No model is significantly better than any other."))
    tied = say("{n} models are statistically tied for first.", n=len(best))
    return paragraph(leads, tied)


def _certainty(confidence: float, group: Standings) -> Iterator[str]:
    if not group.ranked:
        return
    if group.has_ranks:
        yield say(
            "Differences are tested at {alpha:g}%, Holm-adjusted for {pairs}.",
            alpha=round(100 * (1 - confidence), 6),
            pairs=counted(len(group.compared), "pair"),
        )
        yield from _gap(group)
    leader = group.ranked[0]
    if not math.isnan(group.chance):
        place = interval_against(group.chance, leader.estimate)
        sentences = {
            "above": say(
                "The interval of {model} is above the chance level ({chance}%).",
                model=called(group, leader), chance=points(group.chance),
            ),
            "inside": say(
                "The interval of {model} includes the chance level ({chance}%).",
                model=called(group, leader), chance=points(group.chance),
            ),
            "below": say(
                "The interval of {model} is below the chance level ({chance}%).",
                model=called(group, leader), chance=points(group.chance),
            ),
        }  # fmt: skip
        yield sentences.get(place, "")


def _gap(group: Standings) -> Iterator[str]:
    """Yield the leader's margin over the first model that is not tied for first."""
    best = top_group(group)
    after = next((place for place in range(len(group.ranked)) if place not in best), None)
    if after is None or not _differs(group, 0, after):
        return
    yield say(
        "{leader} is significantly ahead of {model}, by {gap} points.",
        leader=called(group, group.ranked[0]),
        model=called(group, group.ranked[after]),
        gap=points(group.ranked[0].estimate.value - group.ranked[after].estimate.value),
    )


def _differs(group: Standings, first: int, second: int) -> bool:
    pair = _pair(group, first, second)
    return pair is not None and pair.resolved


def _pair(group: Standings, first: int, second: int) -> Comparison | None:
    wanted = {first, second}
    return next((pair for pair in group.compared if {pair.first, pair.second} == wanted), None)


def _documents(evidence: Evidence, group: Standings) -> str:
    """Return sentences on whether models were given documents, and their effect on the score.

    The effect is that of the highest-ranked model that was asked both ways.
    """
    if _is_of_files(evidence):
        return say("Not recorded: whether the models were given documents (open-book).")
    rows = group.ranked or group.rows
    opened = [row for row in rows if _context_of(row)]
    if not opened:
        return say("All models answered closed-book, that is, without documents.")
    if len(opened) == len(rows):
        return say("All models were given documents (open-book).")
    for place, row in enumerate(group.ranked):
        without = [
            other
            for other, each in enumerate(group.ranked)
            if not _context_of(each) and _bare(each) == _bare(row) and _context_of(row)
        ]
        if without:
            return _with_documents(group, place, without[0])
    return say("Some models were given documents (open-book), others answered closed-book.")


def _with_documents(group: Standings, opened: int, closed: int) -> str:
    scores = say(
        "{model} scores {open}% with documents and {closed}% closed-book.",
        model=group.ranked[opened].name,
        open=points(group.ranked[opened].estimate.value),
        closed=points(group.ranked[closed].estimate.value),
    )
    if _pair(group, opened, closed) is None:
        return scores
    if _differs(group, opened, closed):
        return paragraph(scores, say("The difference is statistically significant."))
    return paragraph(scores, say("The difference is not statistically significant."))


def _context_of(row: BoardRow) -> str:
    return next((part for part in row.settings.split() if part.startswith(f"{CONTEXT}=")), "")


def _bare(row: BoardRow) -> tuple[str, ...]:
    """Return what identifies a row, without its context setting."""
    context = _context_of(row)
    return (
        row.name,
        row.prompt_method,
        *(part for part in row.settings.split() if part != context),
    )


def _is_of_files(evidence: Evidence) -> bool:
    return evidence.sheet is None or bool(evidence.sheet.table.item_names)


def _cost(evidence: Evidence, group: Standings) -> Iterator[str]:
    if group.simulated:
        return
    if _is_of_files(evidence):
        yield say("Not recorded in these files.")
        return
    leaders = [group.ranked[place] for place in top_group(group)] or list(group.ranked[:1])
    known = [(cost, row) for row in leaders if (cost := cost_of_thousand(row)) is not None]
    if not known:
        yield say("Not recorded: the leading models have no price.")
        return
    for row in leaders[:1]:
        cost = cost_of_thousand(row)
        if cost is not None:
            at_most = "{model} costs at most {usd} USD per 1,000 questions."
            exact = "{model} costs {usd} USD per 1,000 questions."
            yield say(at_most if row.spent.estimated_usd else exact,
                      model=called(group, row), usd=shown_usd(cost))  # fmt: skip
    cheapest = _cheapest(leaders)
    if cheapest is not None and cheapest is not leaders[0]:
        yield say(
            "The least expensive model tied for first is {model} ({usd} USD).",
            model=called(group, cheapest), usd=shown_usd(cost_of_thousand(cheapest) or 0.0),
        )  # fmt: skip


def _cheapest(rows: Sequence[BoardRow]) -> BoardRow | None:
    """Return the model with the lowest cost; None if a price is unknown or the lowest is shared."""
    costs = [cost_of_thousand(row) for row in rows]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(rows) or len(rows) < 2:
        return None
    place = min(range(len(rows)), key=known.__getitem__)
    others = (least_cost(row) or 0.0 for other, row in enumerate(rows) if other != place)
    return rows[place] if all(known[place] < least for least in others) else None


def _next(evidence: Evidence, group: Standings) -> Iterator[str]:
    if not group.ranked:
        yield say("Resume the incomplete runs.")
        return
    best = top_group(group)
    if len(group.ranked) == 1:
        yield say("Run a second model on the same questions.")
    elif not group.has_ranks:
        yield say("Collect scores of all models on the same items, item by item.")
    elif len(best) == 1:
        yield say(
            "No more questions are needed to establish that {model} is first on this test.",
            model=called(group, group.ranked[0]),
        )
    else:
        yield say("Decide among the tied models by cost, speed or risk, or ask more questions.")
        yield from _needed(evidence, group, best)
    if group.incomplete:
        yield say_of(
            len(group.incomplete),
            "{n} model is incomplete and not ranked: resume its run.",
            "{n} models are incomplete and not ranked: resume their runs.",
            n=len(group.incomplete),
        )


def _needed(evidence: Evidence, group: Standings, best: Sequence[int]) -> Iterator[str]:
    ranked = values_of(evidence, group)
    if ranked is None:
        return
    (pair,) = ranked.separations([(best[0], best[1])])
    n_items = len(ranked.units)
    if points(pair.difference) == points(0.0) or not n_items < pair.needed <= _MOST_NEEDED:
        return
    yield say(
        "About {n:,} questions give 80% power to separate {first} from {second}, if the true "
        "difference is {gap} points ({have:,} were asked).",
        n=two_digits(pair.needed),
        first=called(group, group.ranked[pair.first]),
        second=called(group, group.ranked[pair.second]),
        gap=points(abs(pair.difference)),
        have=n_items,
    )


def _limits(evidence: Evidence, groups: Sequence[Standings], group: Standings) -> Iterator[str]:
    if _is_of_files(evidence):
        yield say("Only scores were read: prompts and answer keys were not checked.")
    else:
        yield say("The scores hold for questions and prompts of this kind only.")
    others = sum(other is not group for other in groups)
    if others:
        yield say_of(
            others,
            "{n} other ranking is in the full report.",
            "{n} other rankings are in the full report.",
            n=others,
        )


# Writing the sheet.

_ENDINGS = (".html", ".pdf")


_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


# Font families with Chinese glyphs, permissively licensed ones first.
_CHINESE_FAMILIES = (
    "noto serif cjk sc", "noto sans cjk sc", "noto sans sc", "noto serif sc",
    "source han serif sc", "source han sans sc", "source han sans cn", "wenquanyi micro hei",
    "pingfang sc", "microsoft yahei", "songti sc", "simsun",
)  # fmt: skip


class BriefAsked(Struct, frozen=True):
    """Output path of a brief (.html or .pdf), and a folder of ``fonts`` in addition to system
    fonts."""

    path: Path
    fonts: Path | None = None


def check_brief(asked: BriefAsked) -> None:
    """Raise BadUsage for an unknown file name ending, ExtraMissing if PDF support is missing."""
    if asked.path.suffix.lower() not in _ENDINGS:
        raise BadUsage(
            f"cannot write '{asked.path}': expected a name ending in .html or .pdf",
            hint="--brief brief.pdf",
        )
    if asked.path.suffix.lower() == ".pdf":
        _typst()


def brief_bytes(brief: Brief, asked: BriefAsked) -> bytes:
    """Return the sheet as a file's bytes, the same for the same results and fonts.

    Raises as ``check_brief`` does, and BadUsage if a PDF has Chinese text and no font for it.
    """
    check_brief(asked)
    if asked.path.suffix.lower() == ".html":
        return brief_html(brief).encode()
    return brief_pdf(brief, asked.fonts)


def brief_html(brief: Brief) -> str:
    """Return the sheet as one HTML page without scripts; all text is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - heavy

    environment = Environment(
        loader=PackageLoader("proofstone.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("brief.html.jinja").render(
        brief=brief,
        heads=_heads(brief),
        language=language_tag(),
        limits=_limits_line(brief),
        missing=MISSING,
        style=environment.get_template("brief.css.jinja").render(),
    )


def _limits_line(brief: Brief) -> str:
    return say("{who}: {what}", who=say("Limits"), what=brief.limits)


def _heads(brief: Brief) -> Mapping[str, str]:
    """Return the table headers; the cost column is omitted if no cost is known."""
    heads = {"rank": say("rank"), "model": say("model"), "score": brief.axis}
    if any(row.cost for row in brief.rows):
        heads["cost"] = say("USD per 1,000")
    return heads


def brief_pdf(brief: Brief, fonts: Path | None = None) -> bytes:
    """Return the sheet as a PDF of one A4 page, set by typst.

    Uses the fonts that typst embeds (Libertinus Serif, OFL). Other fonts are read only for Chinese
    text: first those of ``fonts``, then those of the system.
    """
    typst = _typst()
    import msgspec  # noqa: PLC0415

    data = {
        **msgspec.to_builtins(brief),
        "heads": _heads(brief),
        "limits_line": _limits_line(brief),
        "lang": language_tag()[:2],
    }
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    has_chinese = _CJK.search(text) is not None
    paths = [str(fonts)] if fonts is not None else []
    found = typst.Fonts(include_system_fonts=has_chinese, font_paths=paths)
    families = {family.lower() for family in found.families()}
    chinese = [family for family in _CHINESE_FAMILIES if family in families]
    if has_chinese and not chinese:
        raise BadUsage(
            "the PDF has Chinese text, and no Chinese font was found",
            hint="install one (apt-get install fonts-noto-cjk), give its folder with --fonts DIR, "
            "or write the brief as .html",
        )
    source = resources.files("proofstone.page") / "templates" / "brief.typ"
    compiler = typst.Compiler(
        source.read_bytes(),
        font_paths=found,
        sys_inputs={"data": text, "fonts": json.dumps(["Libertinus Serif", *chinese[:1]])},
    )
    made: bytes = compiler.compile(format="pdf", timestamp=0)
    return made


def _typst() -> Any:
    try:
        return importlib.import_module("typst")
    except ImportError as cause:
        raise ExtraMissing(
            "a brief as PDF needs typst, which is not installed",
            hint="pip install 'proofstone[brief]', or name a file ending in .html",
        ) from cause


def write_brief(brief: Brief, asked: BriefAsked) -> str:
    """Write the sheet and return its path."""
    content = brief_bytes(brief, asked)
    asked.path.write_bytes(content)
    return str(asked.path)
