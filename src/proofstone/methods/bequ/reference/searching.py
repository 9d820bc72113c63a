"""Texts about entities among the workspace's own sources: passages that name them."""

from __future__ import annotations

from hashlib import sha256

from msgspec import structs

from proofstone.methods.bequ.names import is_named
from proofstone.methods.bequ.reference.rows import EntityText, Taken
from proofstone.ports import Drop, FoundText, Kept, Step, StepContext

__all__ = ["SEARCH", "search_step"]

SEARCH = "search:bm25"
_NO_ARTICLE = "no article"


def search_step(most: int) -> Step:
    """The passages that name an entity, at most ``most`` of each of its names: those nearest to
    the name. Others go on as they are."""

    async def search(row: EntityText, context: StepContext) -> Kept:
        if not row.names or context.search is None:
            return row
        found: dict[tuple[bytes, int], FoundText] = {}
        for name in row.names:
            for each in await context.search(name, most):
                if is_named(f"{each.title}\n{each.text}", row.names):
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


def _with(row: EntityText, found: FoundText) -> EntityText:
    taken = Taken(
        text=found.text, source="documents", title=found.title, url=found.address,
        content=sha256(found.text.encode()).hexdigest(),
        source_id=found.source, passage_id=found.passage,
    )  # fmt: skip
    return structs.replace(row, taken=taken, names=())
