"""A process that verifies a run against a reference, for tests that kill it: FOLDER RUN FILE."""

from __future__ import annotations

import sys
from pathlib import Path

from proofstone.api import open_workspace
from proofstone.methods.bequ.records import VerifySettings


def main() -> None:
    """Says "running" and works until done, or dead."""
    folder, run, reference = sys.argv[1:]
    with open_workspace(Path(folder)) as workspace:
        sys.stdout.write("running\n")
        sys.stdout.flush()
        workspace.verify_runs(
            [run], judge="scripted/judge", reference=Path(reference),
            settings=VerifySettings(sample=0), max_connections=8,
        )  # fmt: skip


if __name__ == "__main__":
    main()
