"""What must not be told apart without knowledge: true and falsified statements, gold and other
options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion
from proofstone.ports import Contrast
from proofstone.records import Fact, LoadedItem

__all__ = ["KINDS", "fact_contrasts", "item_contrasts"]

KINDS: Mapping[Literal["fact", "item"], tuple[str, str]] = MappingProxyType(
    {"fact": ("true", "falsified"), "item": ("other options", "right options")}
)
_ROMAN = (
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x",
    "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx",
)  # fmt: skip


def fact_contrasts(facts: Iterable[Fact]) -> Iterator[Contrast]:
    """Statements, the falsified ones being the second kind."""
    for fact in facts:
        yield Contrast(
            text=fact.payload.text,
            is_second=not fact.payload.correct,
            source=_source(fact),
            row=fact.id,
        )


def item_contrasts(items: Iterable[LoadedItem]) -> Iterator[Contrast]:
    """Options, the gold ones being the second kind; of a composed question as the numerals that
    they are made of. An item about a single statement offers none."""
    for loaded in items:
        payload = loaded.item.payload
        if isinstance(payload, ComposedQuestion):
            texts = [" ".join(map(_numeral, option)) for option in payload.options]
        elif isinstance(payload, ChoiceQuestion):
            texts = list(payload.options)
        else:
            continue
        source = _source(loaded.facts[0]) if loaded.facts else loaded.item.id.hex()
        for place, text in enumerate(texts):
            yield Contrast(
                text=text, is_second=place == payload.gold, source=source, row=loaded.item.id
            )


def _source(fact: Fact) -> str:
    """The book, else the document, else the fact itself: nothing says that it shares one."""
    return fact.stratum.book or (fact.source or fact.id).hex()


def _numeral(place: int) -> str:
    return _ROMAN[place] if place < len(_ROMAN) else str(place + 1)
