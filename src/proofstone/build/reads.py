"""What steps of a build read: searches of the workspace's sources and of the web, and banks; with
the state of each, which is in the keys of those steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.calls import Searcher
from proofstone.records.items import SEARCH_WAYS, SearchWay
from proofstone.records.knowledge import Fact
from proofstone.records.models import WEB_SEARCHES
from proofstone.records.steps import Pipeline
from proofstone.run.evidence import read_search
from proofstone.search.sources import JointSearcher, LocalSearcher, SourceIndex, read_search_source
from proofstone.store.store import Store


class WebSearch(Searcher, Protocol):
    """A search of the web."""

    @property
    def key(self) -> bytes:
        """Another one where the same answers of the search would give other texts."""


OpenIndex = Callable[[SearchWay], SourceIndex]


OpenWebSearch = Callable[[str], WebSearch]


_SEARCH, _BANK = "search:", "bank:"


class BuildReads(Struct, frozen=True):
    """What is read, by its names in ``Step.reads``: ``keys`` are the states."""

    keys: dict[str, Any] = {}
    searches: dict[str, Searcher] = {}
    banks: dict[str, Sequence[Fact]] = {}

    def search(self, reads: Sequence[str]) -> Searcher | None:
        """The search that a step reads, or all that it reads together; None where it reads none."""
        found = [self.searches[name] for name in reads if name in self.searches]
        return JointSearcher(found) if len(found) > 1 else next(iter(found), None)

    def searches_sources(self, reads: Sequence[str]) -> bool:
        """Whether a step reads what a search of the workspace's sources finds."""
        return any(isinstance(self.searches.get(name), LocalSearcher) for name in reads)

    def searches_web(self, reads: Sequence[str]) -> bool:
        """Whether a step reads what a search of the web finds."""
        found = [self.searches[name] for name in reads if name in self.searches]
        return not all(isinstance(each, LocalSearcher) for each in found)

    def banks_of(self, reads: Sequence[str]) -> Mapping[str, Sequence[Fact]]:
        """The facts of the banks that a step reads, by their names as it wrote them."""
        return {name.removeprefix(_BANK): self.banks[name] for name in reads if name in self.banks}


def open_reads(
    store: Store,
    pipeline: Pipeline,
    open_index: OpenIndex | None,
    open_web: OpenWebSearch | None = None,
) -> BuildReads:
    """Opens what the steps of a pipeline read; nothing is sent yet.

    Raises BadUsage where there is nothing to search, for a search that is none or is not set up,
    and what finding a bank raises.
    """
    found = BuildReads()
    for name in dict.fromkeys(name for step in pipeline.steps for name in step.reads):
        sought = name.removeprefix(_SEARCH)
        if name.startswith(_SEARCH) and sought in SEARCH_WAYS:
            index = _open(sought, open_index)
            found.keys[name] = index.key.hex()
            found.searches[name] = LocalSearcher(index, read_search(sought))
        elif name.startswith(_SEARCH):
            web = _open_web(sought, open_web)
            found.keys[name] = web.key.hex()
            found.searches[name] = web
        elif name.startswith(_BANK):
            bank = store.lookup.find(name.removeprefix(_BANK), ("bank",)).id
            found.keys[name] = bank.hex()
            found.banks[name] = store.knowledge.bank(bank).facts()
        else:
            raise ValueError(f"a step reads {name!r}: neither {_SEARCH}NAME nor {_BANK}NAME")
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


def _open_web(name: str, open_web: OpenWebSearch | None) -> WebSearch:
    if name.partition(":")[0] not in WEB_SEARCHES:
        raise BadUsage(
            f"nothing can be searched by the name {name!r}",
            hint=f"the workspace's sources: {', '.join(SEARCH_WAYS)}; the web: "
            f"{', '.join(WEB_SEARCHES)}, or engines of SearXNG: searxng:bing+baidu",
        )
    read_search_source(name)
    if open_web is None:
        raise BadUsage("the web cannot be searched here")
    return open_web(name)


# The calls that steps of a build are handed: a role's model, asked for one row.
