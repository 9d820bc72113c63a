"""Letting out what a command is about to send, once policy and person allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofstone.session.folders import MARK
from proofstone.session.models import Catalogue
from proofstone.session.permits import SentLog

if TYPE_CHECKING:
    from proofstone.session.egress import Loads


class LettingOut(Catalogue):
    """A workspace that asks before anything leaves, by ``ask_egress``, and notes what did."""

    def _clear(self, loads: Loads) -> None:
        """Raises EgressRefused where something of it may not leave."""
        from proofstone.session.egress import clear_loads  # noqa: PLC0415
        from proofstone.session.permits import Permits  # noqa: PLC0415

        permits = Permits(self.folder / MARK)
        ask, gate = self.ask_egress, self.config.gate
        clear_loads(loads, gate, permits=permits, ask=ask, clock=self.clock)

    @property
    def sent_log(self) -> SentLog:
        """What left besides the calls of models."""
        return SentLog(self.folder / MARK)
