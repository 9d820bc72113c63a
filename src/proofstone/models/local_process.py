"""Serve a GGUF model with an OpenAI-compatible server on this machine alone.

Run as ``python -m proofstone.models.local_process --model FILE --name NAME ...``. Once the model is
loaded, it prints one JSON line, ``{"address": "http://127.0.0.1:PORT", "key": KEY}``. If loading
fails it prints ``{"error": KIND, "detail": TEXT}`` and exits with code 1. All output of the native
library goes to stderr; the parent keeps its last lines.

The process ends when its stdin closes, so it never outlives its parent: every operating system also
closes the pipe of a killed parent.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
from collections.abc import Sequence
from typing import IO, Any

_NATIVE_WARNINGS = 2  # the library's levels: 1 errors, 2 warnings, 3 a message per request


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="proofstone.models.local_process")
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--name", required=True, help="model name in responses")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--ctx", type=int, required=True, help="context tokens per request")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--parallel", type=int, required=True, help="requests decoded together")
    return parser.parse_args(argv)


def _take_stdout() -> IO[str]:
    """Return a private handle on stdout; from now on descriptor 1 is stderr.

    Native code prints to descriptor 1, and the parent reads one line of JSON there.
    """
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def _start(options: argparse.Namespace, key: str) -> Any:
    """Return the native server, loaded and listening. Raises what the library raises."""
    os.environ.setdefault(
        "GGML_NO_BACKTRACE", "1"
    )  # otherwise a crash starts a debugger, if there is one
    # Waiting threads sleep: spinning ones take the core from the threads they wait for as soon as
    # another process runs (measured: up to half the speed).
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp  # noqa: PLC0415 - 100 MB of native code that only this process may hold

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {options.name}  # otherwise responses contain the file's local path
    params.port = options.port
    params.n_ctx = options.ctx * options.parallel  # the library divides it among the slots
    params.n_parallel = options.parallel
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.verbosity = _NATIVE_WARNINGS
    params.ui = False
    params.cache_ram_mib = 0  # stores every finished prompt, up to 8 GB; no two of ours are alike
    params.cache_idle_slots = False
    # Without a key, any page in a browser on this machine, and any other user, could use the model.
    params.api_keys = [key]
    params.cors_origins = "null"
    return xllamacpp.Server(params)


def _say(out: IO[str], **fields: str) -> None:
    out.write(json.dumps(fields) + "\n")
    out.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin closes, then return 0; 1 if the model or library cannot be loaded."""
    # Ctrl-C reaches the whole process group; the parent decides which requests to wait for.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = _arguments(argv)
    out = _take_stdout()
    key = secrets.token_urlsafe(24)
    try:
        server = _start(options, key)
    except ImportError as error:
        _say(out, error="no-runner", detail=str(error))
        return 1
    except Exception as error:  # noqa: BLE001 - native loaders raise anything; the parent is told
        _say(out, error="not-loaded", detail=f"{type(error).__name__}: {error}")
        return 1
    _say(out, address=server.listening_address, key=key)
    sys.stdin.buffer.read()
    # Exits immediately: closing the native server would wait for requests without a reader.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
