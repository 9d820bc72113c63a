"""Time other harnesses on the same questions and endpoint.

Each is installed once in a separate environment below .cache/peers. Harnesses do different work,
which each line states. With a slow remote endpoint, no harness is the bottleneck.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from measures import Line, machine, print_lines

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
CACHE = HERE.parent / ".cache" / "peers"
LIMIT_S = 300.0  # of one run of a harness
# name -> (what is installed, questions asked: fewer of the slow ones, what it does)
PEERS = {
    "inspect": (["inspect-ai", "openai"], 1_000, "a whole eval with its log"),
    "lm_eval": (["lm-eval[api]"], 5_000, "the request phase; on disk only at the end"),
}


def main() -> bool:
    """Install missing harnesses, run each and print the table."""
    from run_loop import CONNECTIONS, N_CHARACTERS, _side

    from scripted_server import child_server

    lines = []
    with child_server("--fast") as url:
        for side, does in (("bare", "post and read"), ("proofstone", "durable, and scored")):
            lines.append(_line(side, _side(side, url), does))
        for name, (packages, n, does) in PEERS.items():
            figures = ask(name, packages, url, n)
            assert figures["finished"], figures["why"]
            lines.append(_line(name, figures, does))
    print(machine())
    title = f"questions of {N_CHARACTERS:,} characters, {CONNECTIONS} connections, answered at once"
    return print_lines(title, lines)


def _line(name: str, figures: dict[str, Any], does: str) -> Line:
    return Line(name, f"{figures['rate']:,.0f}/s {figures['cpu_ms']:.2f} ms", does)


def ask(name: str, packages: list[str], url: str, n: int, model: str = "one") -> dict[str, Any]:
    """Return the output of the harness's script in peer_scripts/ for a run of ``n`` questions.

    Raises subprocess.TimeoutExpired after ``LIMIT_S`` seconds.
    """
    python = CACHE / name / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(CACHE / name, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(install, check=True)
    script = HERE / "peer_scripts" / f"ask_{name}.py"
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [str(python), str(script), url, str(n), model],
        check=True, capture_output=True, text=True, env=environment, timeout=LIMIT_S,
    )  # fmt: skip
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
