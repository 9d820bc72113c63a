"""Texts about entities among the workspace's own sources: passages that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from msgspec import structs

from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.reference.rows import EntityText, Taken
from proofstone.ports import Drop, FoundText, Kept, Step, StepContext

__all__ = ["SEARCH", "names_it", "search_step"]

SEARCH = "search:bm25"
_NO_ARTICLE = "no article"
# Digits, and the letters of Latin, Greek, Cyrillic, Armenian and Georgian, between whose words
# spaces stand and to which nothing is joined, as it is in Arabic, Hebrew and Korean.
_OF_WORDS = (
    "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u03ff\u0400-\u052f"
    "\u0531-\u0556\u0561-\u0587\u10a0-\u10fa\u1e00-\u1fff]"
)


def search_step(most: int) -> Step:
    """The passages that name an entity, at most ``most`` of each of its names: those nearest to
    the name. Others go on as they are."""

    async def search(row: EntityText, context: StepContext) -> Kept:
        if not row.names or context.search is None:
            return row
        found: dict[tuple[bytes, int], FoundText] = {}
        for name in row.names:
            for each in await context.search(name, most):
                if names_it(each, row.names):
                    found.setdefault((each.passage, each.start), each)
        if not found:
            return Drop(_NO_ARTICLE, f"{row.about.name}: looked for {', '.join(row.names)}")
        return [_with(row, each) for each in found.values()]

    return Step(
        name="search",
        version=1,
        takes=EntityText,
        work=search,
        reasons=(_NO_ARTICLE,),
        config={"most": most},
        reads=(SEARCH,),
    )


def names_it(found: FoundText, names: Sequence[str]) -> bool:
    """Whether a text, or its document's title, holds one of the names as whole words; in scripts
    that join others to a word, or set no spaces between words, wherever it stands."""
    text = plain_name(f"{found.title}\n{found.text}")
    return any(_pattern(plain_name(name)).search(text) for name in names)


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    before = rf"(?<!{_OF_WORDS})" if re.match(_OF_WORDS, name) else ""
    after = rf"(?!{_OF_WORDS})" if re.match(_OF_WORDS, name[-1:]) else ""
    return re.compile(before + re.escape(name) + after)


def _with(row: EntityText, found: FoundText) -> EntityText:
    taken = Taken(
        text=found.text, source="documents", title=found.title, url=found.address,
        content=sha256(found.text.encode()).hexdigest(),
        source_id=found.source, passage_id=found.passage,
    )  # fmt: skip
    return structs.replace(row, taken=taken, names=())
