"""Record what every command prints: python tests/guards/record.py [--to FILE]

The recorded texts are reviewed as part of the commit that changes a sentence, a figure or a page.
With --to everything goes into one file, which the tests compare with what was recorded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from guards.session import PRINTED, printed_by_commands


def main(arguments: list[str]) -> None:
    """Write the texts of all chapters and pages, and remove those that are no longer written."""
    with tempfile.TemporaryDirectory() as folder:
        printed = printed_by_commands(Path(folder) / "work")
    if arguments[:1] == ["--to"]:
        Path(arguments[1]).write_text(json.dumps(printed), encoding="utf-8")
        return
    recorded = Path(__file__).parent / PRINTED
    for path in recorded.glob("*.txt"):
        if path.stem not in printed:
            path.unlink()
    for name, text in printed.items():
        (recorded / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
