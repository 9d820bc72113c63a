"""Regions of pages as rows of a build: chosen by rule or by a person, drawn, and kept as images."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct, structs

from proofstone.build.inputs import BuildSpec, builder_of, named_sources, placed_source
from proofstone.documents.passages import box_around
from proofstone.documents.reader import Draw
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.ingest.pages import DPI, draw_all
from proofstone.ingest.vision import check_sees
from proofstone.records.builds import Maker, role_of_slot
from proofstone.records.calls import Model
from proofstone.records.knowledge import Passage, Source
from proofstone.records.pages import Box, Page, PageLayout, PageRegion, PlacedLine
from proofstone.records.tables import Row
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages

# Regions of pages that people chose: a table with a row a box.

_SIDES = ("left", "top", "right", "bottom")


class ChosenRegion(Struct, frozen=True):
    """A box on a page, and the place of its row; ``file`` is empty where there is one source."""

    page: int
    box: Box
    place: str
    file: str = ""
    heading: str = ""


def read_regions(path: Path | str) -> tuple[ChosenRegion, ...]:
    """The rows of a table (CSV, JSONL, ...): page, left, top, right, bottom; where there are
    several sources also file (a source's origin or title), and heading where one is known.

    Points from the top left corner of the page as displayed. Raises BadInput with every problem.
    """
    return read_checked(Path(path), _rows)


def _rows(rows: Iterable[Row]) -> tuple[ChosenRegion, ...]:
    problems: list[Problem] = []
    found = []
    for row in rows:
        fields = Fields(row, problems)
        page = fields.number("page")
        box = Box(*(_side(row, side, problems) for side in _SIDES))
        if page is None:
            fields.wrong("page", "is missing: the number of the page, from 1")
        elif box.left >= box.right or box.top >= box.bottom:
            fields.wrong("right", "right and bottom must be more than left and top")
        else:
            heading, file = fields.text("heading").strip(), fields.text("file", "source").strip()
            found.append(ChosenRegion(page, box, row.place, file, heading))
    if problems:
        raise BadInput("The regions cannot be read.", problems)
    return tuple(found)


def _side(row: Row, side: str, problems: list[Problem]) -> float:
    value = row.values.get(side)
    try:
        points = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        points = float("nan")
    if not 0 <= points < 1e6:
        problems.append(Problem(f"{row.place}, {side}", f"expected points, not {value!r}"))
        return 0.0
    return points


Rule = Literal["passages", "points"]


RULES: tuple[Rule, ...] = get_args(Rule)


_BETWEEN = "\n\n"


_POINT = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})*\.?\s*)?"
    r"(?:(?:Definition|Theorem|Lemma|Corollary|Proposition|Axiom|Postulate|Law|Principle|Rule)\b"
    r"|(?:定义|定理|引理|推论|命题|公理|公设|定律|原理|法则))",
    re.IGNORECASE,
)


_ENDS_POINT = re.compile(
    r"(?:Proof|Remark|Example|Exercise|Solution)\b|证明|例\s*\d|习题|注[：:]", re.IGNORECASE
)


_BELONGING = {"equation", "list", "table"}


class Region(Struct, frozen=True):
    """Where a region is printed, what the page's text has there, and the passage that holds most
    of it."""

    boxes: tuple[Box, ...]
    text: str
    passage: Passage | None = None


def regions_by_rule(page: Page, passages: Sequence[Passage], rule: Rule) -> Iterator[Region]:
    """The regions of a page, in order of its text: one a passage, or one a knowledge point.

    A point is a paragraph that begins as definitions, theorems and laws do, with the formulas,
    lists and continuations that belong to it. None of a page without boxes.
    """
    places = page.places
    spans: Iterable[tuple[int, int]]
    if rule == "passages":
        spans = [(passage.start, passage.end) for passage in passages]
    else:
        spans = _points(page.text, places)
    for start, end in spans:
        boxes = places.boxes(start, end)
        if boxes:
            yield Region(boxes, page.text[start:end], _holding(passages, [(start, end)]))


def region_in_box(page: Page, passages: Sequence[Passage], box: Box) -> Region:
    """The region that a person chose, with the lines whose middle is in it; no text where the page
    has none there."""
    inside = [line for line in page.places.lines if _is_within(line.box, box)]
    spans = [(line.start, line.end) for line in inside]
    return Region((box,), _text_of_lines(page.text, inside), _holding(passages, spans))


def _points(text: str, places: PageLayout) -> Iterator[tuple[int, int]]:
    open_at: int | None = None
    end = 0
    for start, stop in _paragraphs(text):
        block, kinds = text[start:stop], set(places.kinds(start, stop))
        belongs = (
            open_at is not None
            and "heading" not in kinds
            and not _POINT.match(block)
            and not _ENDS_POINT.match(block)
            and (bool(kinds & _BELONGING) or block[:1].islower())
        )
        if belongs:
            end = stop
            continue
        if open_at is not None:
            yield open_at, end
            open_at = None
        if _POINT.match(block) and "heading" not in kinds:
            open_at, end = start, stop
    if open_at is not None:
        yield open_at, end


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for block in text.split(_BETWEEN):
        if block.strip():
            yield start, start + len(block)
        start += len(block) + len(_BETWEEN)


def _is_within(line: Box, box: Box) -> bool:
    across, down = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    return box.left <= across <= box.right and box.top <= down <= box.bottom


def _text_of_lines(text: str, lines: Sequence[PlacedLine]) -> str:
    """Return the text of lines; consecutive lines keep the page's text between them."""
    parts: list[list[int]] = []
    for line in sorted(lines, key=lambda line: line.start):
        if parts and not text[parts[-1][1] : line.start].strip():
            parts[-1][1] = line.end
        else:
            parts.append([line.start, line.end])
    return "\n".join(text[start:end].strip() for start, end in parts)


def _holding(passages: Sequence[Passage], spans: Sequence[tuple[int, int]]) -> Passage | None:
    shared = [
        (sum(max(0, min(p.end, end) - max(p.start, start)) for start, end in spans), -place, p)
        for place, p in enumerate(passages)
    ]
    most = max(shared, key=lambda entry: entry[:2], default=None)
    return most[2] if most is not None and most[0] else None


_Chosen = tuple[Page, Region, str]


def region_rows(
    store: Store,
    names: Sequence[str],
    regions: str,
    document_of: Callable[[bytes], Path],
    limit: int | None = None,
    languages: Collection[str] = (),
) -> tuple[PageRegion, ...]:
    """The regions of the sources and books that are named, each drawn and kept: by a rule, or those
    of a table; of ``languages`` where any is named.

    Raises BadUsage where ``regions`` is neither, BadInput with every row of the table that names no
    page, or where there is no region at all; and what finding and drawing documents raises.
    """
    named = dict.fromkeys(each for name in names for each in named_sources(store, name))
    sources = [placed_source(store, each) for each in named]
    chosen = _by_table(store, sources, regions) if regions not in RULES else {
        source.id: _by_rule(store, source, regions) for source in sources
    }  # fmt: skip
    rows: list[PageRegion] = []
    for source in sources:
        left = None if limit is None else limit - len(rows)
        wanted = list(islice(_in_languages(chosen[source.id], source, languages), left))
        if wanted:
            rows += _drawn(store, source, wanted, document_of(source.id))
    if not rows:
        raise BadInput(
            f"there are no {regions} to be seen on the pages of {', '.join(names)}",
            hint="pages of PDF and image files have boxes: ingest such a file, or give a table of "
            "boxes: --from-regions FILE",
        )
    return tuple(rows)


def with_regions(
    store: Store,
    spec: BuildSpec,
    method: Maker,
    models: Mapping[str, Model],
    document_of: Callable[[bytes], Path],
) -> BuildSpec:
    """Return the spec with the sampled pictures that enter, if it asks for pictures; ``models`` are
    by slot. Raises as ``check_sees`` and ``region_rows``."""
    named = builder_of(method, spec.kind).regions
    if named is None or not (regions := spec.params.get(named[0])):
        return spec
    if spec.per_input is not None:
        raise BadUsage("a number of rows of each input does not go with regions of pages")
    for slot, model in models.items():
        if role_of_slot(slot) == named[1]:
            check_sees(model)
    rows = region_rows(store, spec.inputs, str(regions), document_of, spec.limit, spec.languages)
    return structs.replace(spec, regions=rows)


def _by_rule(store: Store, source: Source, rule: str) -> Iterator[_Chosen]:
    for page in store.pages.pages(source.id):
        if page.number is None or not page.width:
            continue
        passages = store.pages.passages_on(page.id)
        for region in regions_by_rule(page, passages, rule):  # type: ignore[arg-type]
            yield page, region, ""


def _by_table(store: Store, sources: Sequence[Source], file: str) -> dict[bytes, Iterator[_Chosen]]:
    path = Path(file)
    if not path.is_file():
        raise BadUsage(
            f"--from-regions {file} is neither {' nor '.join(RULES)}, nor a file that is there",
            hint="a table has page, left, top, right, bottom",
        )
    problems: list[Problem] = []
    found: dict[bytes, list[_Chosen]] = {source.id: [] for source in sources}
    for chosen in read_regions(path):
        source = _named(sources, chosen, problems)
        page = None if source is None else store.pages.page(source.id, chosen.page)
        if source is None:
            continue
        if page is None or not page.width:
            problems.append(Problem(chosen.place, f"{source.title} has no page {chosen.page}"))
            continue
        region = region_in_box(page, store.pages.passages_on(page.id), chosen.box)
        found[source.id].append((page, region, chosen.heading))
    if problems:
        raise BadInput(f"{path.name}: regions that are on no page.", problems)
    return {source: iter(entries) for source, entries in found.items()}


def _named(
    sources: Sequence[Source], chosen: ChosenRegion, problems: list[Problem]
) -> Source | None:
    """The source of a region: the only one, or the one that its row names."""
    if not chosen.file and len(sources) == 1:
        return sources[0]
    fitting = [source for source in sources if chosen.file in (source.origin, source.title)]
    if len(fitting) == 1 and chosen.file:
        return fitting[0]
    known = ", ".join(source.origin for source in sources)
    problems.append(Problem(f"{chosen.place}, file", f"expected one of {known}"))
    return None


def _drawn(
    store: Store, source: Source, chosen: Sequence[_Chosen], document: Path
) -> Iterator[PageRegion]:
    draws = [
        Draw(page=page.number or 1, dpi=DPI, keep=region.boxes, crop=box_around(region.boxes))
        for page, region, _heading in chosen
    ]
    for (page, region, heading), png in zip(chosen, draw_all(document, draws), strict=True):
        passage = region.passage
        yield PageRegion(
            source=source,
            page=page.number or 1,
            image=store.images.add(png, f"page {page.number} of {source.title}"),
            boxes=region.boxes,
            text=region.text,
            passage=passage,
            heading=heading or (passage.heading if passage else ""),
            language=_language(source, region),
        )


def _in_languages(
    chosen: Iterator[_Chosen], source: Source, languages: Collection[str]
) -> Iterator[_Chosen]:
    return (each for each in chosen if in_languages(_language(source, each[1]), languages))


def _language(source: Source, region: Region) -> str:
    return (region.passage.language if region.passage else "") or source.language
