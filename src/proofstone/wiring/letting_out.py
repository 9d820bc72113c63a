"""Letting out what a command is about to send, once policy and person allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofstone.stages.sent_beside import SentLog
from proofstone.wiring.catalogue import Catalogue
from proofstone.wiring.folders import MARK

if TYPE_CHECKING:
    from proofstone.wiring.egress import Loads

__all__ = ["LettingOut"]


class LettingOut(Catalogue):
    """A workspace that asks before anything leaves, by ``ask_egress``, and notes what did."""

    def _clear(self, loads: Loads) -> None:
        """Raises EgressRefused where something of it may not leave."""
        from proofstone.wiring.egress import clear_loads  # noqa: PLC0415
        from proofstone.wiring.permits import Permits  # noqa: PLC0415

        permits = Permits(self.folder / MARK)
        ask, gate = self.ask_egress, self.config.gate
        clear_loads(loads, gate, permits=permits, ask=ask, clock=self.clock)

    @property
    def sent_log(self) -> SentLog:
        """What left besides the calls of models."""
        return SentLog(self.folder / MARK)
