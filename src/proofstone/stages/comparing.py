"""What a comparison is told besides its numbers: scorers, and the first words of its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import structs

from proofstone.engines.store import Store
from proofstone.errors import TextPurged
from proofstone.ports import Method
from proofstone.records import LoadedItem
from proofstone.report.between import Compared, Moved, PairCompared
from proofstone.stages.ancestry import PURGED

__all__ = ["annotated", "with_texts"]

_LONGEST = 200


def annotated(compared: Compared, *, stale: Sequence[str], rescored: int) -> Compared:
    """The comparison with what to know of its scorers: how many runs were scored again for it, and
    which of its sides (``stale``, named A and B) another version than today's scored."""
    if rescored:
        noun = "run was" if rescored == 1 else "runs were"
        note = f"{rescored} {noun} scored again from stored replies; nobody was asked"
        compared = structs.replace(compared, notes=(note, *compared.notes))
    if not stale:
        return compared
    verb = "was" if len(stale) == 1 else "were"
    return structs.replace(
        compared,
        rescore=f"{' and '.join(stale)} {verb} scored by another version than today's scorer: "
        "--rescore scores the stored replies with today's, asking nobody",
    )


def with_texts(
    store: Store, method_of: Callable[[str], Method], compared: Compared, most: int | None
) -> Compared:
    """The comparison with the first words of the items that moved: of ``most`` won and lost ones of
    each pair, or of all."""
    moved = [
        item.item
        for pair in compared.pairs
        for items in (pair.won, pair.lost)
        for item in items[:most]
    ]
    texts = _texts(store, method_of, dict.fromkeys(moved))
    return structs.replace(compared, pairs=tuple(_told(pair, texts) for pair in compared.pairs))


def _told(pair: PairCompared, texts: Mapping[str, str]) -> PairCompared:
    def told(items: Sequence[Moved]) -> tuple[Moved, ...]:
        return tuple(structs.replace(each, text=texts.get(each.item, "")) for each in items)

    return structs.replace(pair, won=told(pair.won), lost=told(pair.lost))


def _texts(
    store: Store, method_of: Callable[[str], Method], items: Iterable[str]
) -> dict[str, str]:
    """The first words of items of this workspace; those of a file have none."""
    found = {}
    ids = [bytes.fromhex(item) for item in items if _is_id(item)]
    for identity, key in store.items.keys_of(ids).items():
        try:
            loaded = store.items.one(key)
        except TextPurged:
            found[identity.hex()] = PURGED
            continue
        method = method_of(loaded.item.kind.partition(".")[0])
        name = f"{loaded.label.name}: " if loaded.label.name else ""
        found[identity.hex()] = (name + " ".join(_asked(method, loaded).split()))[:_LONGEST]
    return found


def _asked(method: Method, loaded: LoadedItem) -> str:
    """What an item asks; of one composed of several facts, without the line that all such have."""
    question = str(method.write_item(loaded).get("question") or method.show(loaded))
    head, _line, rest = question.strip().partition("\n")
    return rest if rest.strip() and len(loaded.facts) > 1 else f"{head}\n{rest}"


def _is_id(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")
