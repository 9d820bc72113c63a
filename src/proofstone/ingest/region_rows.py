"""Rows of a build that are regions of pages: chosen, drawn, and kept as images."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import structs

from proofstone.build.plan import BuildSpec, builder_of, named_sources, placed_source
from proofstone.documents.reader import Draw
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.ingest.pages import DPI, around, draw_all
from proofstone.ingest.regions import (
    RULES,
    ChosenRegion,
    Region,
    read_regions,
    region_in_box,
    regions_by_rule,
)
from proofstone.records.building import Maker
from proofstone.records.builds import role_of_seat
from proofstone.records.calls import Model
from proofstone.records.knowledge import Source
from proofstone.records.pages import Page, PageRegion
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages

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
    """The spec with the pictures that are to enter, drawn, where it asks for such; ``models`` are
    by seat. Raises as ``check_sees`` and ``region_rows`` do."""
    named = builder_of(method, spec.kind).regions
    if named is None or not (regions := spec.params.get(named[0])):
        return spec
    if spec.per_input is not None:
        raise BadUsage("a number of rows of each input does not go with regions of pages")
    for seat, model in models.items():
        if role_of_seat(seat) == named[1]:
            check_sees(model)
    rows = region_rows(store, spec.inputs, str(regions), document_of, spec.limit, spec.languages)
    return structs.replace(spec, regions=rows)


def check_sees(model: Model) -> None:
    """Raises BadUsage for a model of which nothing says that it takes images."""
    if model.limits.images is not True:
        raise BadUsage(
            f"{model.name} is not known to take images, and pages are shown as images",
            hint="ask a model that does; if this one does, say so in proofstone.toml: "
            f'images = true under [models."{model.name}"]',
        )


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
        Draw(page=page.number or 1, dpi=DPI, keep=region.boxes, crop=around(region.boxes))
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
