"""Reading results: the part of a workspace that asks nobody and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofstone.engines.models.families import family_of
from proofstone.stages.summarise import Selection, select_runs
from proofstone.wiring.catalogue import Catalogue
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.report import Leaderboard
    from proofstone.stages.control import ControlReport

__all__ = ["Reading"]


class Reading(Catalogue):
    """Leaderboards and pages of what a workspace's ``store`` holds."""

    def leaderboard(self, *targets: Target, **options: Any) -> Leaderboard:
        """The leaderboard of runs, forms or a bank; ``str()`` of it is the terminal's table.

        ``group_by`` and ``where`` ("kind=reasoning,openness=open") go by the models' cards.
        """
        return self._board(self._selection(targets), options)[0]

    def report(
        self,
        *targets: Target,
        path: Path | str,
        control: ControlReport | None = None,
        command: str = "",
        **options: Any,
    ) -> None:
        """Writes the leaderboard of the targets with its evidence as one HTML page."""
        from proofstone.report import render_page  # noqa: PLC0415
        from proofstone.stages.pages import page_data, write_text  # noqa: PLC0415

        board, selection = self._board(self._selection(targets), options)
        data = page_data(
            self.store,
            selection,
            board,
            now=self.clock.now(),
            control=control,
            command=command,
            card_columns=options.get("card_columns", ()),
        )
        write_text(Path(path), render_page(data))

    def family_of(self, model: str) -> str:
        """The family by which a model's kin is known."""
        return family_of(model)

    def _selection(self, targets: Sequence[Target]) -> Selection:
        found = [find_target(self.store, target, ("bank", "form", "run")) for target in targets]
        return select_runs(self.store, found)

    def _board(
        self, selection: Selection, options: dict[str, Any]
    ) -> tuple[Leaderboard, Selection]:
        """The leaderboard, and the runs that stand on it."""
        from proofstone.wiring.boards import make_board  # noqa: PLC0415 - numpy is loaded there

        return make_board(
            self.store, lambda: self.config, selection, family=self.family_of, **options
        )
