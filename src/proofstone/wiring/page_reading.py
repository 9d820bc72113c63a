"""Pages read by a vision model: the part of a workspace that opens it and lets pictures out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from proofstone.errors import EgressRefused
from proofstone.wiring.asking import Asking
from proofstone.wiring.background import Background

if TYPE_CHECKING:
    from proofstone.engines.models import Budget, Spending
    from proofstone.errors import ProofstoneError
    from proofstone.stages.page_reading import PagesAsked
    from proofstone.stages.scan_parts import ScanPart, TakeScanned

__all__ = ["PageReading", "VisionScanner"]


class PageReading(Asking):
    """The part of a workspace that has pages read by a model."""

    def page_scanner(
        self,
        model: str,
        *,
        budget: Budget | str | None = None,
        max_connections: int | None = None,
    ) -> VisionScanner:
        """What reads pages by ``model`` for ``ingest_paths``. Raises BadUsage for a model that is
        not known to take images, and what opening it raises, before a document is touched."""
        scanner = VisionScanner(self, model, self.spending(budget), max_connections)
        scanner.check()
        return scanner

    def clear_pages(self, model: str, parts: Sequence[ScanPart]) -> None:
        """Lets out the pictures of pages, once that is allowed."""
        from proofstone.engines.models import leaves_to  # noqa: PLC0415
        from proofstone.stages.page_reading import pages_would_leave  # noqa: PLC0415
        from proofstone.wiring.egress import Load  # noqa: PLC0415

        to = leaves_to(model, self.config)
        if to is not None and not to.is_local and parts:
            self._clear({to: Load().with_run(model, b"pages", pages_would_leave(parts))})


class VisionScanner:
    """A ``Scanner`` whose reader is a model. ``stopped`` is why it ended before all pages were
    asked for, ``is_interrupted`` that a person ended it; ``account`` what it took."""

    needs = ""

    def __init__(
        self,
        workspace: PageReading,
        model: str,
        spending: Spending | None,
        max_connections: int | None,
    ) -> None:
        from proofstone.stages.page_reading import PagesAsked, page_reader_name  # noqa: PLC0415
        from proofstone.stages.shown_pictures import ShownPictures  # noqa: PLC0415

        self.model = model
        self.reader = page_reader_name(model)
        self.account: PagesAsked = PagesAsked(model=model)
        self.stopped: ProofstoneError | None = None
        self.is_interrupted = False
        self._workspace = workspace
        self._spending = spending
        self._max_connections = max_connections
        self._pictures = ShownPictures(workspace.store.calls)

    def check(self) -> None:
        """Raises what keeps the model from being asked."""
        from proofstone.stages.budgeting import check_replies_end  # noqa: PLC0415
        from proofstone.stages.page_reading import READING_SETTINGS  # noqa: PLC0415
        from proofstone.stages.region_rows import check_sees  # noqa: PLC0415

        async def work(stop: asyncio.Event) -> None:
            async with self._askers(stop) as askers:
                check_sees(askers[self.model].model)
                check_replies_end([(askers[self.model], READING_SETTINGS)])

        Background(work).wait()

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Reads the pages, in order; none where they may not be sent."""
        from proofstone.stages.budgeting import on_record  # noqa: PLC0415
        from proofstone.stages.page_reading import read_pages  # noqa: PLC0415

        workspace = self._workspace
        try:
            workspace.clear_pages(self.model, parts)
        except EgressRefused as refused:
            self.stopped = refused
            return

        async def work(stop: asyncio.Event) -> None:
            async with self._askers(stop) as askers:
                asker = askers[self.model]
                record = on_record(workspace.store, [asker], workspace.clock, runs=["ingest"])
                async with record as kept:
                    self.account = await read_pages(
                        workspace.store, parts, asker, self._pictures, take, stop=stop, kept=kept
                    )
                self.stopped = asker.stopped

        Background(work).wait_stoppable(None, self._interrupted)

    def _interrupted(self) -> None:
        self.is_interrupted = True

    def _askers(self, stop: asyncio.Event) -> Any:
        from proofstone.wiring.askers import open_askers  # noqa: PLC0415

        return open_askers(
            [self.model], self._workspace.config, store=self._pictures,
            clock=self._workspace.clock, stop=stop, max_connections=self._max_connections,
            spending=self._spending,
        )  # fmt: skip
