"""A child process at work that is killed: never before it is at work, nor after it is done."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from serving import PATIENCE_S, wait_until

__all__ = ["SOME", "kill_after", "seen_at"]

SOME = 40  # requests that are still answered behind the one at which a child is killed


def kill_after(
    requests: int,
    url: str,
    command: Sequence[str | Path],
    look: Callable[[], None] | None = None,
) -> float:
    """Kills a Python program when so many more requests have come to the server at ``url``; the
    seconds that these took, from the line that it says when it is at work.

    It cannot have ended before: of the requests behind those only some are answered, until
    ``seen_at`` lets more be. Until then ``look`` is called again and again.
    """
    before = seen_at(url, answer=requests + SOME)["requests"]
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        began = time.monotonic()

        def is_reached() -> bool:
            if look is not None:
                look()
            return bool(seen_at(url)["requests"] >= before + requests)

        wait_until(is_reached)
        took = time.monotonic() - began
        assert process.poll() is None
        process.kill()
    return took


def seen_at(url: str, answer: int | None = None) -> Any:
    """What a ``child_server`` got so far; where a number is given, it answers so many more."""
    query = "" if answer is None else f"?answer={answer}"
    with urllib.request.urlopen(f"{url}/seen{query}", timeout=PATIENCE_S) as response:
        return json.load(response)
