"""Between results: what a workspace says of two of them, its own or a file's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proofstone.engines.store import Found
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.stages.corrected import CURRENT, View
from proofstone.wiring.asking import Asking
from proofstone.wiring.exporting import Exporting
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.report.between import Ask, Compared, Side

__all__ = ["Comparing", "compare_files", "is_results_file", "write_moved"]

_KINDS = ("run", "form", "bank")


class Comparing(Asking, Exporting):
    """Comparisons of what is in a workspace, with each other and with files of results."""

    def compare(
        self,
        before: Target | Path,
        after: Target | Path,
        *,
        rescore: bool = False,
        view: View = CURRENT,
        texts: int | None = None,
        **asked: Any,
    ) -> Compared:
        """B against A on the items that both have; ``str()`` of it is what ``compare`` prints.

        Each is a run, a form, a bank, or a file of results. ``rescore`` first scores the stored
        replies of runs that an older scorer scored, asking nobody. ``texts``: of how many items
        won and lost the first words are wanted (None: all). ``asked``: ``estimand``,
        ``confidence``, ``seed``.
        """
        from proofstone.report.between import Ask  # noqa: PLC0415 - numpy
        from proofstone.stages.comparing import compare, with_texts  # noqa: PLC0415

        rescored = self._rescored([before, after]) if rescore else 0
        sides = [self._side(target, view) for target in (before, after)]
        stale = [] if view.scorings else self._stale([before, after])
        compared = compare(sides[0], sides[1], Ask(**asked), stale=stale)
        if rescored:
            noun = "run was" if rescored == 1 else "runs were"
            note = f"{rescored} {noun} scored again from stored replies; nobody was asked"
            compared = structs.replace(compared, notes=(note, *compared.notes))
        return with_texts(self.store, find_method, compared, texts)

    def _side(self, target: Target | Path, view: View) -> Side:
        from proofstone.stages.sides import read_file, read_runs  # noqa: PLC0415 - numpy

        if is_results_file(target):
            return read_file(Path(str(target)), _asked())
        found = self._row(target)
        return read_runs(self.store, find_method, found, family=self.family_of, view=view)

    def _row(self, target: Target | Path) -> Found:
        text = str(target) if isinstance(target, Path) else target
        return find_target(self.store, text, _KINDS)

    def _stale(self, targets: list[Target | Path]) -> list[str]:
        """Which of A and B another version than today's scorer scored."""
        return [
            name
            for name, target in zip("AB", targets, strict=True)
            if not is_results_file(target) and self._stale_runs(target)
        ]

    def _stale_runs(self, target: Target | Path) -> list[bytes]:
        from proofstone.stages.sides import stale_runs  # noqa: PLC0415 - numpy

        return stale_runs(self.store, find_method, self._row(target))

    def _rescored(self, targets: list[Target | Path]) -> int:
        """Scores again what an older scorer scored; how many runs that were."""
        stale = [
            run
            for target in targets
            if not is_results_file(target)
            for run in self._stale_runs(target)
        ]
        runs = list(dict.fromkeys(stale))
        for run in runs:
            self.score(f"run:{short(run, 64)}")
        return len(runs)


def compare_files(before: Path, after: Path, **asked: Any) -> Compared:
    """Two files of results against each other, which needs no workspace."""
    from proofstone.report.between import Ask  # noqa: PLC0415 - numpy
    from proofstone.stages.comparing import compare  # noqa: PLC0415
    from proofstone.stages.sides import read_file  # noqa: PLC0415

    ask: Ask = Ask(**asked)
    return compare(read_file(before, _asked()), read_file(after, _asked()), ask)


def write_moved(compared: Compared, path: Path) -> int:
    """Writes the items won and lost by the suffix of ``path``; how many there are."""
    from proofstone.engines.ingest import write_rows  # noqa: PLC0415
    from proofstone.report.between import moved_rows  # noqa: PLC0415

    return write_rows(path, moved_rows(compared))


def is_results_file(target: object) -> bool:
    """Whether this means a file or a folder of results rather than a row."""
    if isinstance(target, Path):
        return True
    if not isinstance(target, str):
        return False
    path = Path(target)
    return (path.is_file() and bool(path.suffix)) or (
        path.is_dir() and ("/" in target or "\\" in target)
    )


def _asked() -> Any:
    from proofstone.stages.audit import Asked  # noqa: PLC0415 - numpy

    return Asked()
