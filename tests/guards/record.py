"""Records what the guards compare with: python tests/guards/record.py [--to FILE]

A file that exists stays as it is: nothing is ever recorded again. Where a sentence, a figure or a
page is to change, its file is changed by hand in the commit that changes it. With --to all goes
into one file, which the tests compare with what was recorded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from guards.session import PRINTED, help_digests, printed_by_commands

_HERE = Path(__file__).parent


def texts() -> dict[str, str]:
    """Everything that is recorded, by its file's path below this folder."""
    with tempfile.TemporaryDirectory() as folder:
        printed = printed_by_commands(Path(folder) / "work")
    made = {f"{PRINTED}/{name}.txt": text for name, text in printed.chapters.items()}
    made["pages.json"] = json.dumps(printed.pages, indent=2) + "\n"
    made["help.json"] = json.dumps(help_digests(), indent=2) + "\n"
    return made


def record(made: dict[str, str]) -> str | None:
    """Writes each file that is not there; the answer suits ``sys.exit``."""
    kept = [name for name in made if (_HERE / name).exists()]
    for name, text in made.items():
        if name not in kept:
            (_HERE / name).parent.mkdir(exist_ok=True)
            (_HERE / name).write_text(text, encoding="utf-8")
    return f"not recorded again: {', '.join(kept)}" if kept else None


def main(arguments: list[str]) -> str | None:
    """Records, or writes all into one file."""
    if arguments[:1] == ["--to"]:
        Path(arguments[1]).write_text(json.dumps(texts()), encoding="utf-8")
        return None
    return record(texts())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
