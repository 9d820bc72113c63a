"""The process that holds a GGUF model: an OpenAI-compatible server on this machine alone.

Run as ``python -m proofstone.models.local_process --model FILE --name NAME ...``. Once the
model is loaded one JSON line goes to stdout, ``{"address": "http://127.0.0.1:PORT", "key": KEY}``;
or, where it cannot be loaded, ``{"error": KIND, "detail": TEXT}`` and exit code 1. Everything that
the native library prints goes to stderr, whose tail the parent keeps.

The process ends when its stdin closes, so it never outlives its parent: the operating system
closes the pipe of a parent that was killed too, on every system.
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

_NATIVE_WARNINGS = 2  # the library's levels: 1 errors, 2 warnings, 3 chatter of every request


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="proofstone.models.local_process")
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--name", required=True, help="the model name that replies carry")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--ctx", type=int, required=True, help="tokens of context of one request")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--parallel", type=int, required=True, help="requests decoded together")
    return parser.parse_args(argv)


def _take_stdout() -> IO[str]:
    """A private handle on stdout; from now on descriptor 1 is stderr.

    Native code prints to descriptor 1 as it likes, and the parent reads one line of JSON there.
    """
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def _start(options: argparse.Namespace, key: str) -> Any:
    """The native server, loaded and listening. Raises what the library raises."""
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # else a crash starts a debugger where one is
    # Threads that wait for each other sleep: spinning ones take the core from whom they wait for
    # as soon as anything else runs on the machine (measured: up to half the speed).
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp  # noqa: PLC0415 - 100 MB of native code that only this process may hold

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {options.name}  # else replies carry the file's local path
    params.port = options.port
    params.n_ctx = options.ctx * options.parallel  # the library divides it among the slots
    params.n_parallel = options.parallel
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.verbosity = _NATIVE_WARNINGS
    params.ui = False
    params.cache_ram_mib = 0  # keeps every finished prompt, up to 8 GB; no two of ours are alike
    params.cache_idle_slots = False
    # Else any page in a browser on this machine, and any other user of it, could ask the model.
    params.api_keys = [key]
    params.cors_origins = "null"
    return xllamacpp.Server(params)


def _say(out: IO[str], **fields: str) -> None:
    out.write(json.dumps(fields) + "\n")
    out.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Serves until stdin closes. 0 then; 1 where the model or the library cannot be loaded."""
    # Ctrl-C reaches the whole process group; the parent decides what is still waited for.
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
    # Leaves at once: tearing the native server down waits for requests that nobody reads.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
