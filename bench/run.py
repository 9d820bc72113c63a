"""Run all benches; exit with 1 if a bound is exceeded.

make bench             # everything, a few minutes
make bench PEERS=1     # also lm-eval and Inspect in separate environments
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCHES = (
    "size.py",
    "compose.py",
    "ingesting.py",
    "loading.py",
    "pipeline.py",
    "retrieval.py",
    "selecting.py",
    "documents.py",
    "verifying.py",
    "verifying.py --memory",
    "ranking.py",
    "auditing.py",
    "run_loop.py",
    "run_loop.py --memory",
)


def main() -> int:
    """Run each bench in a separate process."""
    peers = ("peers.py", "faults.py --peers") if os.environ.get("PEERS") else ("faults.py",)
    benches = [*BENCHES, *peers]
    failed = []
    for bench in benches:
        name, *arguments = bench.split()
        command = [sys.executable, str(HERE / name), *arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}
        if subprocess.run(command, check=False, cwd=HERE.parent, env=environment).returncode:
            failed.append(bench)
    if failed:
        print(f"\nnot as it should be: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
