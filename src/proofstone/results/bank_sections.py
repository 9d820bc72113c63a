"""The sections on how banks came about, from the folders that build, review and check them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from proofstone.page.section import Section
from proofstone.records.items import ItemSet
from proofstone.records.tables import Audience
from proofstone.store.store import Store

# Each has ``bank_sections(store, item_sets, audience)``; they stand on a page in this order.
_MAKERS = ("build.rows", "review.section", "check.semantic_map")


def bank_sections(
    store: Store, item_sets: Iterable[ItemSet], audience: Audience = "internal"
) -> tuple[Section, ...]:
    """How the banks of these item sets were built and reviewed, and where they and the sets lie in
    meaning, for a page."""
    sets = list(item_sets)
    makers = (import_module(f"proofstone.{name}").bank_sections for name in _MAKERS)
    return tuple(section for make in makers for section in make(store, sets, audience))
