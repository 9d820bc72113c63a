"""What steps of a build read of the workspace: a search of its sources, and banks; with the state
of each, which is in the keys of those steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.engines.retrieval import SearchWay
from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.ports import Pipeline, Searcher
from proofstone.records import Fact
from proofstone.stages.indexing import SourceIndex
from proofstone.stages.retrieved import read_search
from proofstone.stages.searchers import LocalSearcher

__all__ = ["BuildReads", "OpenIndex", "open_reads"]

OpenIndex = Callable[[SearchWay], SourceIndex]
_SEARCH, _BANK = "search:", "bank:"


class BuildReads(Struct, frozen=True):
    """What is read, by its names in ``Step.reads``: ``keys`` are the states."""

    keys: dict[str, Any] = {}
    searches: dict[str, Searcher] = {}
    banks: dict[str, Sequence[Fact]] = {}

    def search(self, reads: Sequence[str]) -> Searcher | None:
        """The search that a step reads; None where it reads none."""
        return next((self.searches[name] for name in reads if name in self.searches), None)

    def banks_of(self, reads: Sequence[str]) -> Mapping[str, Sequence[Fact]]:
        """The facts of the banks that a step reads, by their names as it wrote them."""
        return {name.removeprefix(_BANK): self.banks[name] for name in reads if name in self.banks}


def open_reads(store: Store, pipeline: Pipeline, open_index: OpenIndex | None) -> BuildReads:
    """Opens what the steps of a pipeline read.

    Raises BadUsage where there is nothing to search and for a way of searching that is none, and
    what finding a bank raises.
    """
    found = BuildReads()
    for name in dict.fromkeys(name for step in pipeline.steps for name in step.reads):
        if name.startswith(_SEARCH):
            index = _open(name.removeprefix(_SEARCH), open_index)
            found.keys[name] = index.key.hex()
            found.searches[name] = LocalSearcher(index, read_search(name.removeprefix(_SEARCH)))
        elif name.startswith(_BANK):
            bank = store.lookup.find(name.removeprefix(_BANK), ("bank",)).id
            found.keys[name] = bank.hex()
            found.banks[name] = store.knowledge.bank(bank).facts()
        else:
            raise ValueError(f"a step reads {name!r}: neither {_SEARCH}WAY nor {_BANK}NAME")
    return found


def _open(way: str, open_index: OpenIndex | None) -> SourceIndex:
    if open_index is None:
        raise BadUsage("nothing can be searched here")
    index = open_index(read_search(way))
    if not index.n_chunks:
        raise BadUsage(
            "there is nothing to search: no source of this workspace has passages",
            hint="proofstone ingest FILE... reads documents",
        )
    return index
