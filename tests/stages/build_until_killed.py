"""A process that goes on with a build, for tests that kill it: FOLDER INPUT."""

from __future__ import annotations

import sys
from pathlib import Path

# The method of these builds is a package of its own, found by its entry point on the path.
sys.path.insert(0, str(Path(__file__).parents[1] / "outside"))

from proofstone.api import open_workspace


def main() -> None:
    """Says "building" and works until done, or dead."""
    folder, entering = sys.argv[1:]
    with open_workspace(Path(folder)) as workspace:
        sys.stdout.write("building\n")
        sys.stdout.flush()
        workspace.build_in_steps(
            "drills", [entering], name="drills", models="scripted/one", judge="scripted/two",
            max_connections=16,
        )  # fmt: skip


if __name__ == "__main__":
    main()
