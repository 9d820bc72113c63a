"""Compare the completeness of runs of lm-eval, Inspect and proofstone on one faulty endpoint.

    python bench/faults.py           # proofstone only
    python bench/faults.py --peers   # also the harnesses that peers.py installs

Each harness asks four models 300 questions each, with its default retries. One model always
answers. One has rate limits and overload. One has broken connections and bodies. For one, the
endpoint permanently rejects 3 questions (400). All other faults are transient.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measures import Line, machine, print_lines
from peers import PEERS, ask

from proofstone.api import create_workspace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

N_QUESTIONS, CONNECTIONS, SHARE = 300, 64, 0.1
REJECTED = (17, 120, 256)
MODELS = {
    "steady": "answers always",
    "limited": f"{SHARE:.0%} of requests: 429 or 503",
    "broken": f"{SHARE:.0%}: connection or body broken",
    "rejected": f"{len(REJECTED)} questions rejected for good",
}


def main(arguments: Sequence[str] = ()) -> bool:
    """Run each harness on each model; return True if proofstone kept every response possible."""
    harnesses = ["proofstone", *(PEERS if "--peers" in arguments else ())]
    print(f"faulty endpoint: {machine()}")
    fine = True
    for model, faults in MODELS.items():
        lines = []
        for harness in harnesses:
            with _endpoint() as url:
                found = _outcome(harness, url, model)
            wanted = N_QUESTIONS - (len(REJECTED) if model == "rejected" else 0)
            kept = found["finished"] and found["answered"] == wanted
            holds = kept if harness == "proofstone" else None
            lines.append(Line(harness, _said(found), str(found["why"])[:60], holds))
        fine &= print_lines(f"{model}: {faults}", lines)
    return fine


def _said(found: dict[str, Any]) -> str:
    state = "finished" if found["finished"] else "ended"
    return f"{state}, {found['answered']} of {N_QUESTIONS} answered"


def _outcome(harness: str, url: str, model: str) -> dict[str, Any]:
    if harness == "proofstone":
        return _ours(url, model)
    try:
        return ask(harness, PEERS[harness][0], url, N_QUESTIONS, model)
    except subprocess.TimeoutExpired as error:
        return {"finished": False, "answered": 0, "why": f"no end after {error.timeout:.0f} s"}


def _ours(url: str, model: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, create_workspace(folder) as workspace:
        entry = f'[providers.bench]\nbase_url = "{url}"\n'
        Path(folder, "proofstone.toml").write_text(entry, encoding="utf-8")
        said = {"options": ["a", "b"], "answer": "A", "language": "en"}
        rows = [{"question": f"{i} {'x' * 3000}", **said} for i in range(N_QUESTIONS)]
        text = "\n".join(map(json.dumps, rows))
        Path(folder, "form.jsonl").write_text(text, encoding="utf-8")
        workspace.import_form(Path(folder, "form.jsonl"))
        (result,) = workspace.run("form", models=f"bench/{model}", max_connections=CONNECTIONS)
        finished = result.n_scored + result.failed == N_QUESTIONS
        return {"finished": finished, "answered": result.n_scored, "why": result.stopped}


@contextmanager
def _endpoint() -> Iterator[str]:
    """Yield the base URL of a faulty endpoint in a separate thread; faults depend on a seed."""
    from scripted_acts import drop, drop_after_headers, empty, error, half, malformed
    from scripted_server import ScriptedServer, Seen, answer

    busy = error(503, {"error": {"message": "overloaded"}})
    limited = error(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})
    rejected = error(400, {"error": {"message": "bad characters", "type": "invalid_request_error"}})
    passing = {
        "limited": (busy, limited),
        "broken": (drop(), drop_after_headers(), half(), malformed(), empty()),
    }
    rng = random.Random(7)

    def act(seen: Seen) -> Any:
        model = seen.json["model"]
        content = str(seen.json["messages"][-1]["content"])
        asked = re.search(r"(\d+) xxx", content)
        assert asked is not None, content[:80]
        if model == "rejected" and int(asked[1]) in REJECTED:
            return rejected
        if model in passing and rng.random() < SHARE:
            return rng.choice(passing[model])
        return answer()

    loop, ready, address = asyncio.new_event_loop(), threading.Event(), [""]

    async def serve() -> None:
        async with ScriptedServer(act, keep=0) as server:
            address[0] = server.url
            ready.set()
            await stop.wait()

    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
