"""Where the texts of a bank or form lie in meaning, and how far their groups stand apart."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.results import Estimate

__all__ = ["GroupSeparation", "GroupsApart", "StoredMap"]


class GroupSeparation(Struct, frozen=True, kw_only=True):
    """One group of ``n`` texts: the share of their neighbours that are of it too, and by chance."""

    name: str
    n: int
    agreement: float
    chance: float


class GroupsApart(Struct, frozen=True, kw_only=True):
    """``agreement``: the share of a text's ``k`` nearest neighbours that are of its own group, the
    mean over texts; ``chance``: what it would be, were neighbours drawn from all texts that could
    be one. ``index`` is (agreement - chance) / (1 - chance): 0 where groups are mixed, 1 where no
    text has a neighbour of another group; below 0 where they avoid their own."""

    k: int
    n: int
    agreement: Estimate
    chance: float
    index: Estimate
    groups: tuple[GroupSeparation, ...]


class StoredMap(Struct, frozen=True, kw_only=True):
    """A map as it is kept, without its texts: ``rows`` are the ids of facts or items, each with the
    place of its group among those of ``separation``, and where t-SNE put it (``places``). Drawn by
    ``seed`` from ``n_all`` texts."""

    nature: str
    level: str
    embedder: str
    seed: int
    n_all: int
    separation: GroupsApart
    rows: tuple[bytes, ...]
    group: tuple[int, ...]
    places: tuple[tuple[float, float], ...]
