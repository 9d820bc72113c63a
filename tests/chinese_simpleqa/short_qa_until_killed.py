"""A process that goes on with a build of short questions, for a test that kills it: FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from proofstone.api import open_workspace


def main() -> None:
    """Says "building" and works until done, or dead."""
    with open_workspace(Path(sys.argv[1])) as workspace:
        sys.stdout.write("building\n")
        sys.stdout.flush()
        workspace.build_in_steps(
            "short-qa", ["Rocks"], name="minerals",
            models={"author": "scripted/author", "panel": sys.argv[2].split(",")},
            judge="scripted/judge", primary_category="Geology", max_connections=2,
        )  # fmt: skip


if __name__ == "__main__":
    main()
