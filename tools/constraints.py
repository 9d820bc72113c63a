"""Generate constraints.txt, the exact version of every required package.

python -m tools.constraints            # write it from what is installed
python -m tools.constraints --check    # fail if it differs from what is installed
"""

from __future__ import annotations

import sys
from importlib import metadata

from tools.generated import settle
from tools.resolved import BUNDLED_MODEL, ROOT, closure, read_project

HEADER = """\
# One tested set: every package that Proofstone and all of its extras resolve to on Linux with
# Python 3.11, and the carried model. Made by `make constraints`, held by `make check`.
# What builds the package (hatchling) is not here: pip builds in an environment of its own.
"""


def pins() -> str:
    """Return the file's text: one ``name==version`` per line, in order of names."""
    packages = closure(read_project().everything())
    versions = {name: found.version for name, found in packages.items()}
    versions[BUNDLED_MODEL] = metadata.version(BUNDLED_MODEL)
    return HEADER + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))


if __name__ == "__main__":
    sys.exit(settle(ROOT / "constraints.txt", pins(), sys.argv[1:], "make constraints"))
