"""Compare the run loop with bare aiohttp on the same 5,000 questions and endpoint.

    python bench/run_loop.py                  # the table
    python bench/run_loop.py --memory         # 50,000 and 200,000 questions

Each side is a separate process and measures its own time. "bare" posts finished request bodies with
aiohttp and reads the responses. "proofstone" starts from a stored form and does everything that a
run does: plan, render, hash, limit rates, send, read, compress, store durably, score.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measures import Line, machine, print_lines

from proofstone.api import Workspace, create_workspace, open_workspace
from proofstone.run.plan import RunSpec
from proofstone.session.progress import RunProgress

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

N_QUESTIONS, N_CHARACTERS, CONNECTIONS = 5_000, 3_000, 64
ROUNDS = 3  # the best of each side counts: the machine's noise only ever adds


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run as the arguments say; return True if every bound holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", choices=["bare", "prepare", "proofstone"])
    parser.add_argument("--url", default="")
    parser.add_argument("--folder", default="")
    parser.add_argument("--questions", type=int, default=N_QUESTIONS)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args(arguments)
    if options.side == "bare":
        print(json.dumps(_run_loop(_bare(options.url, options.questions))))
        return True
    if options.side == "prepare":
        _prepare(Path(options.folder), options.url, options.questions)
        return True
    if options.side == "proofstone":
        print(json.dumps(_proofstone(Path(options.folder), options.url, options.questions)))
        return True
    return _memory() if options.memory else _compare()


def _compare() -> bool:
    from scripted_server import child_server

    print(f"run loop: {machine()}")
    with child_server("--fast") as url:
        bare = _best(_side("bare", url) for _ in range(ROUNDS))
        ours = _best(_side("proofstone", url) for _ in range(ROUNDS))
    cpu, rate = ours["cpu_ms"] / bare["cpu_ms"], ours["rate"] / bare["rate"]
    fine = print_lines(
        f"{N_QUESTIONS:,} questions of {N_CHARACTERS:,} characters, {CONNECTIONS} connections, "
        "an endpoint that answers at once",
        [
            Line("bare aiohttp", f"{bare['rate']:,.0f}/s {bare['cpu_ms']:.3f} ms"),
            Line("proofstone", f"{ours['rate']:,.0f}/s {ours['cpu_ms']:.3f} ms"),
            Line("processor time", f"{cpu:.2f} times bare", "at most 3", cpu <= 3),
            Line("rate", f"{rate:.2f} of bare", "at least 0.35", rate >= 0.35),
            Line("per question", f"{ours['cpu_ms']:.3f} ms", "for the docs: at most 0.25 ms"),
            Line("rate", f"{ours['rate']:,.0f}/s", "for the docs: at least 4,000/s"),
            Line(
                "worst stall of the loop", f"{ours['stall_ms']:.1f} ms", "under 50 ms",
                ours["stall_ms"] < 50,
            ),
        ],
    )  # fmt: skip
    with child_server("--delay", "0.05") as url:
        bare = _best(_side("bare", url) for _ in range(2))
        ours = _best(_side("proofstone", url) for _ in range(2))
    rate = ours["asking_rate"] / bare["rate"]
    return fine & print_lines(
        "the same at 50 ms of latency (asking alone; scoring waits for nobody)",
        [
            Line("bare aiohttp", f"{bare['rate']:,.0f}/s"),
            Line("proofstone", f"{ours['asking_rate']:,.0f}/s"),
            Line("rate", f"{rate:.3f} of bare", "at least 0.95", rate >= 0.95),
        ],
    )


def _memory() -> bool:
    from scripted_server import child_server

    with child_server("--fast") as url:
        few = _side("proofstone", url, 50_000)
        many = _side("proofstone", url, 200_000)
    growth = many["peak_mb"] - few["peak_mb"]
    return print_lines(
        "memory of a run",
        [
            Line("50,000 questions", f"{few['peak_mb']:.0f} MB at most"),
            Line("200,000 questions", f"{many['peak_mb']:.0f} MB at most"),
            Line("growth", f"{growth:.1f} MB", "at most 20 MB", growth <= 20),
        ],
    )


def _best(rounds: Any) -> dict[str, float]:
    found = list(rounds)
    best: dict[str, float] = min(found, key=lambda one: one["cpu_ms"])
    return {
        **best,
        "rate": max(one["rate"] for one in found),
        "asking_rate": max(one.get("asking_rate", 0.0) for one in found),
        "stall_ms": min(one.get("stall_ms", 0.0) for one in found),
    }


def _side(side: str, url: str, n: int = N_QUESTIONS) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        given = ["--url", url, "--folder", folder, "--questions", str(n)]
        if side == "proofstone":  # in a process of its own: reading a file is not the run's memory
            prepare = [sys.executable, __file__, "--side", "prepare", *given]
            subprocess.run(prepare, check=True)
        command = [sys.executable, __file__, "--side", side, *given]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _run_loop(coroutine: Any) -> Any:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(coroutine)
    return uvloop.run(coroutine)


async def _bare(url: str, n: int) -> dict[str, float]:
    import aiohttp

    text = "x" * N_CHARACTERS
    message = {"role": "user", "content": text}
    body = json.dumps({"model": "one", "messages": [message], "max_tokens": 512}).encode()
    left = iter(range(n))
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def work() -> None:
            for _ in left:
                async with session.post(f"{url}/chat/completions", data=body) as response:
                    await response.read()

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"rate": n / wall, "cpu_ms": 1000 * cpu / n}


def _prepare(folder: Path, url: str, n: int) -> None:
    _write_form(folder / "form.jsonl", n)
    _write_form(folder / "warm.jsonl", 20)
    entry = f'[providers.bench]\nbase_url = "{url}"\n'
    with create_workspace(folder) as workspace:
        (folder / "proofstone.toml").write_text(entry, encoding="utf-8")
        workspace.import_form(folder / "form.jsonl")
        workspace.import_form(folder / "warm.jsonl")


def _proofstone(folder: Path, url: str, n: int) -> dict[str, float]:
    import resource

    with open_workspace(folder) as workspace:
        form = workspace.store.items.item_set(workspace.find("form").id)
        assert form.n_items == n
        # Once before the clock starts, so that importing libraries is on neither side's bill.
        workspace.run("warm", models="bench/warm")
        spec = RunSpec(item_set=form.id, model="bench/one", prompt_method="direct")
        figures = _run_loop(_measured(workspace, spec))
    return {
        **figures,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def _measured(workspace: Workspace, spec: RunSpec) -> dict[str, float]:
    stalls, progress = _StallWatch(), list[RunProgress]()
    watching = asyncio.create_task(stalls.watch())
    wall, cpu = time.perf_counter(), time.process_time()
    (result,) = await workspace.perform([spec], max_connections=CONNECTIONS, progress=progress)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    watching.cancel()
    n = result.n_scored
    assert result.complete, result
    (counters,) = progress
    asking = (counters.ended or 0.0) - counters.started
    return {
        "rate": n / wall,
        "asking_rate": n / asking,
        "cpu_ms": 1000 * cpu / n,
        "stall_ms": 1000 * stalls.worst_s,
    }


class _StallWatch:
    """The longest delay of a 5 ms timer in the event loop."""

    def __init__(self) -> None:
        self.worst_s = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            self.worst_s = max(self.worst_s, time.perf_counter() - began - 0.005)


def _write_form(path: Path, n: int) -> None:
    """Write distinct questions with prompts of about 3,000 characters."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            said = [f"In case {i}-{j} of {path.stem}, {i * 7919 % 4001} holds." for j in range(80)]
            question = " ".join(said)[: N_CHARACTERS - 260]
            row = {"question": question, "options": [f"{i} plus {k}" for k in range(6)]}
            file.write(json.dumps({**row, "answer": "A", "language": "en"}) + "\n")


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
