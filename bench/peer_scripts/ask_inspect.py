"""Run a complete Inspect eval of the bench's questions; peers.py runs this script with Inspect."""

from __future__ import annotations

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


def main() -> None:
    """Print status, number of answered samples, rate and processor time (arguments: URL N
    MODEL)."""
    url, n, model = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    text = "x" * 3000
    samples = [Sample(input=f"{i} {text}", target="A", id=i) for i in range(n)]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        (log,) = eval(
            task, model=f"openai/{model}", model_base_url=url, log_dir=folder, display="none",
            max_connections=64, max_samples=64, max_tokens=512, model_args={"responses_api": False},
        )  # fmt: skip
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        answered = sum(bool(sample.output.completion) for sample in log.samples or [])
    why = log.error.message if log.error else ""
    figures = {"finished": log.status == "success", "answered": answered, "why": why[:200]}
    print(json.dumps({**figures, "rate": n / wall, "cpu_ms": 1000 * cpu / n}))


if __name__ == "__main__":
    main()
