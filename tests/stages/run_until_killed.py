"""A process that goes on with a run, for tests that kill it: FOLDER FORM [BUDGET]."""

from __future__ import annotations

import sys
from pathlib import Path

# The method of these runs is a package of its own, found by its entry point on the path.
sys.path.insert(0, str(Path(__file__).parents[1] / "outside"))

from proofstone.api import open_workspace


def main() -> None:
    """Says "running" and works until done, or dead."""
    folder, form, *budget = sys.argv[1:]
    with open_workspace(Path(folder)) as workspace:
        sys.stdout.write("running\n")
        sys.stdout.flush()
        workspace.run(
            form,
            models="scripted/one",
            prompt_method="recall",
            max_connections=16,
            budget=budget[0] if budget else None,
        )


if __name__ == "__main__":
    main()
