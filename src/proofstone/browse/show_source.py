"""Sources and passages as ``show`` prints them: with their pages, and what was not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from proofstone.errors import NotFound
from proofstone.ingest.ingest import SURE
from proofstone.records.ids import short
from proofstone.records.knowledge import Passage, Source, Stratum
from proofstone.records.licences import permits_publication
from proofstone.records.pages import Box, Page, model_that_read, naming_request, requests_named
from proofstone.session.dates import minute
from proofstone.session.description import Description
from proofstone.store.lookup import Found
from proofstone.store.pages import PlacedPassage
from proofstone.store.store import Store

_PASSAGES = 5


_CUT = 100


def describe_source(store: Store, found: Found) -> Description:
    """A source: what is known of it, its pages and those not read, and its first passages."""
    source = store.knowledge.sources([found.id])[found.id]
    count = store.pages.count(found.id)
    lines = [*_about(source), *_placed(store, found.id)]
    if count.pages:
        lines.append(("pages", f"{count.pages:,}"))
    for reason, numbers in sorted(count.unread.items()):
        lines.append(("unread", f"{len(numbers):,} ({reason}): page {page_ranges(numbers)}"))
    for model, seen in _read_by_models(store, found.id).items():
        lines.append(("from images", f"{len(seen):,} by {model}: page {page_ranges(seen)}"))
    sure = store.pages.confidences(found.id)
    if sure:
        lines.append(("from images", f"{len(sure):,}: page {page_ranges(list(sure))}"))
    doubtful = [number for number, sureness in sure.items() if sureness < SURE]
    if doubtful:
        lines.append(("doubtful", f"confidence below {SURE}: page {page_ranges(doubtful)}"))
    passages = list(islice(store.knowledge.passages_of(found.id), _PASSAGES + 1))
    if passages:
        n = count.passages or sum(1 for _ in store.knowledge.passages_of(found.id))
        lines.append(("passages", f"{n:,}"))
    shown = [line for passage in passages[:_PASSAGES] for line in [_in_a_line(passage)]]
    more = ["..."] if len(passages) > _PASSAGES else []
    texts = ("\n".join([*shown, *more]),) if shown else ()
    return Description(title=f"source:{short(found.id)}", lines=tuple(lines), texts=texts)


def describe_passage(store: Store, found: Found) -> Description:
    """A passage: its place, its headings, where it is printed, and its text."""
    passage = store.knowledge.passage(found.id)
    if passage is None:
        raise NotFound(f"passage {short(found.id)} is gone")
    placed = store.pages.placed([found.id]).get(found.id)
    lines = [
        ("source", f"source:{short(passage.source)}"),
        ("place", _place(passage, placed)),
        ("heading", passage.heading),
        ("language", passage.language),
        *(_printed(placed) if placed else ()),
    ]
    return Description(
        title=f"passage:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if value),
        texts=(passage.text,),
    )


def describe_page(store: Store, page: Page) -> Description:
    """A page as it was read last: by what, how surely, its passages and its text."""
    places = page.places
    kinds = Counter(mark.kind for mark in places.marks)
    calls = [f"call:{short(request)}" for request in requests_named(page.detail)]
    detail = _without_requests(page.detail)
    unread = f"{page.reason}  {detail}".strip() if page.state == "unread" else ""
    lines = [
        ("source", f"source:{short(page.source)}"),
        ("printed", page.label),
        ("size", f"{_size(page)} points" if page.width else ""),
        ("reader", page.reader),
        ("asked", ", ".join(calls)),
        ("unread", unread),
        ("confidence", _confidence(page.confidence)),
        ("lines", f"{len(places.lines):,}" if places.lines else ""),
        ("holds", ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))),
    ]
    passages = [_in_a_line(passage) for passage in store.pages.passages_on(page.id)]
    texts = ["\n".join(passages)] if passages else []
    return Description(
        title=f"page:{short(page.source)}/{page.number}",
        lines=tuple((name, value) for name, value in lines if value),
        texts=(*texts, page.text) if page.text else tuple(texts),
    )


def page_ranges(numbers: Sequence[int]) -> str:
    """Page numbers as people write them: 3, 7-12."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def _read_by_models(store: Store, source: bytes) -> dict[str, list[int]]:
    """The pages that models wrote down from their images, by the model."""
    found: dict[str, list[int]] = {}
    for number, reader in store.pages.readers(source).items():
        if model := model_that_read(reader):
            found.setdefault(model, []).append(number)
    return found


def _without_requests(detail: str) -> str:
    """A detail for people: what it names by its hash stands in a line of its own."""
    for request in requests_named(detail):
        detail = detail.replace(naming_request(request), "")
    return detail.strip("; ")


def _about(source: Source) -> Iterator[tuple[str, str]]:
    shown: dict[str, Any] = msgspec.to_builtins(source, builtin_types=(bytes,))
    shown.pop("stratum")
    for name, value in shown.items():
        if value not in (None, "", [], ()):
            yield name, _plain(value)
    if source.stratum != Stratum():
        yield "stratum", _path(source.stratum)
    if not source.licence:
        yield "licence", "not stated"
    if permits_publication(source.licence):
        yield "audience", "public, by its license"
    else:
        yield "audience", "private: no license that is known to permit publication is stated"


def _placed(store: Store, source: bytes) -> Iterator[tuple[str, str]]:
    """The placements of a source, oldest first; the last one holds."""
    for one in store.placements.of_source(source):
        by = ", ".join(one.models) or f"actor {short(one.actor or b'')}"
        of = f" of {one.taxonomy}" if one.taxonomy else ""
        why = f": {one.reason}" if one.reason else ""
        yield "placed", f"{_path(one.stratum)}{of}   by {by}, {minute(one.at)}{why}"


def _path(stratum: Stratum) -> str:
    return " / ".join(level for level in msgspec.structs.astuple(stratum) if level)


def _in_a_line(passage: Passage) -> str:
    page = "" if passage.page is None else f"page {passage.page}  "
    text = " ".join(passage.text.split())
    text = text if len(text) <= _CUT else text[: _CUT - 1] + "\u2026"
    return f"passage:{short(passage.id)}  {page}{text or '(purged)'}"


def _place(passage: Passage, placed: PlacedPassage | None) -> str:
    within = f"characters {passage.start} to {passage.end}"
    if passage.page is None:
        return within
    label = f" (printed {placed.page.label})" if placed and placed.page.label else ""
    return f"page {passage.page}{label}, {within}"


def _printed(placed: PlacedPassage) -> Iterator[tuple[str, str]]:
    """Where the lines of a passage stand on its page, and what they are."""
    places, passage = placed.page.places, placed.passage
    kinds = places.kinds(passage.start, passage.end)
    yield "holds", ", ".join(kinds)
    yield "read by", model_that_read(placed.page.reader)
    boxes = places.boxes(passage.start, passage.end)
    if boxes:
        yield "confidence", _confidence(places.confidence(passage.start, passage.end))
        yield "printed", f"{len(boxes)} lines, {_around(boxes)} of {_size(placed.page)} points"


def _confidence(sure: float) -> str:
    """How sure the reader of an image is; nothing of what was not read from one."""
    return f"{sure:.2f}" if sure < 1 else ""


def _around(boxes: Sequence[Box]) -> str:
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    return f"from {left:.0f}, {top:.0f} to {right:.0f}, {bottom:.0f}"


def _size(page: Page) -> str:
    return f"{page.width:.0f} x {page.height:.0f}"


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return value.hex() if isinstance(value, bytes) else str(value)


# A plan as ``show`` prints it.
