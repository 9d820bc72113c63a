"""Run GGUF models (``local/path/to/file.gguf``) in child processes.

``local/x.gguf?ctx=4096&threads=2&parallel=4`` sets options of its server. A bundled model has a
name instead of a path (``local/smollm2-135m``). The first request starts the child, so cached
answers need no loading. Requests use the clients of the wire formats: chat, or text completions if
the entry has ``wire = "openai-completions"``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET, Struct, structs

from proofstone.errors import BadUsage, EndpointUnusable, NotFound
from proofstone.models.client import (
    ChatEndpoint,
    CompletionsEndpoint,
    completion_settings,
    continued,
)
from proofstone.models.config import TIMEOUT_S, Endpoint
from proofstone.models.credentials import Secret
from proofstone.models.entries import BUNDLED, Entry, bundled_file, thinking_fields, thinking_tokens
from proofstone.models.gguf import GgufFile, open_gguf
from proofstone.models.responses import Continuation, read_response, scored_body
from proofstone.models.retries import SystemClock
from proofstone.models.wire import sent_settings
from proofstone.records.calls import Attempt, Clock, Limits, ModelRequest, Ticket

# Run a child process from its first line of JSON to its end, on any operating system.
#
# The child prints its address once on stdout, logs to stderr, and ends when its stdin closes. See
# ``models.local_process``.

_TAIL_BYTES = 4096


_GOODBYE_S = 5.0


class ChildProcess:
    """A running child, made by ``start``. Belongs to the event loop that started it."""

    def __init__(self, process: Process) -> None:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise ValueError("a child process is made with three pipes")
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._tail = bytearray()
        self._listener = asyncio.create_task(self._listen(stderr))

    @classmethod
    async def start(cls, command: Sequence[str]) -> ChildProcess:
        """Start ``command`` in a separate process group, so that Ctrl-C does not reach it.

        Raises OSError if the program is missing.
        """
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP
            made = asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, creationflags=flags
            )
        else:
            made = asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        return cls(await made)

    @property
    def alive(self) -> bool:
        """Return True if the system has not reported its end."""
        return self._process.returncode is None

    async def first_line(self, within_s: float) -> bytes:
        """Return the line on stdout; empty if the child ended without one.

        Raises TimeoutError, and ValueError for a line longer than 64 KB.
        """
        return await asyncio.wait_for(self._stdout.readline(), within_s)

    async def death(self, within_s: float) -> str:
        """Return how the child ended, after waiting up to this time; empty while it runs."""
        with suppress(TimeoutError):
            code = await asyncio.wait_for(self._process.wait(), within_s)
            await asyncio.wait([self._listener], timeout=within_s)  # its last messages
            return _ending(code)
        return ""

    def tail(self) -> str:
        """Return the child's last messages on stderr."""
        return self._tail.decode("utf-8", "replace").strip()

    async def close(self, within_s: float = _GOODBYE_S) -> None:
        """End the child: close its stdin, and kill it if it still runs after ``within_s``."""
        self._stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), within_s)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        # Both pipes are read to their end, or their transports outlive the event loop.
        await self._stdout.read()
        await self._listener

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_TAIL_BYTES):
            self._tail += chunk
            del self._tail[:-_TAIL_BYTES]


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


# Manage the server of a local model from the parent: start, restart after a crash, close.
#
# Native code can end its process at any time (a failed assertion, no memory); in a child process it
# ends no run.

_DEATH_S = 5.0  # a dropped connection comes shortly before the system reports the end


_TAIL_LINES = 8


_INSTALL = "pip install 'proofstone[demo]'"


class ServerAddress(Struct, frozen=True):
    """The address of a started child, and its key, which only the parent knows."""

    url: str
    key: Secret


class _FirstLine(Struct, frozen=True):
    """The line that the child prints once: an address and a key, or an error and its detail."""

    address: str = ""
    key: str = ""
    error: str = ""
    detail: str = ""


class LocalServer:
    """Run one child process at a time, started by ``command`` on first use.

    After more than ``restarts`` crashes without a successful response between them (``worked``) it
    is not started again. ``title`` names the model in messages. Texts in ``hide`` (local paths) are
    removed from its output. Belongs to one event loop.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        title: str,
        hide: Sequence[str] = (),
        ready_within_s: float = 300.0,
        restarts: int = 3,
    ) -> None:
        self._command = tuple(command)
        self._title = title
        self._hide = tuple(hide)
        self._ready_within_s = ready_within_s
        self._restarts = restarts
        self._deaths = 0
        self._last_words = ""
        self._child: ChildProcess | None = None
        self._address: ServerAddress | None = None
        self._lock = asyncio.Lock()

    async def address(self) -> ServerAddress:
        """Return the child's address, starting it if none runs.

        Raises EndpointUnusable if it cannot be started or has crashed too often.
        """
        async with self._lock:
            if self._address is not None and self._child is not None and self._child.alive:
                return self._address
            if self._child is not None:
                await self._bury(self._child)
            if self._deaths > self._restarts:
                raise self._dies_too_often()
            self._address = await self._start()
            return self._address

    def worked(self) -> None:
        """Note a successful response, which resets the crash count."""
        self._deaths = 0

    async def death(self) -> str:
        """Return how the child ended, with its last messages; empty while it runs."""
        child = self._child
        ending = await child.death(_DEATH_S) if child is not None else self._last_words
        if child is None or not ending:
            return ending
        return f"the process of {self._title} ended ({ending}){self._tail(child)}"

    async def close(self) -> None:
        """End the child. A later ``address`` would start another."""
        async with self._lock:
            child, self._child, self._address = self._child, None, None
            if child is not None:
                await child.close()

    async def _bury(self, child: ChildProcess) -> None:
        self._deaths += 1
        self._last_words = await self.death()
        self._child = self._address = None
        await child.close()

    async def _start(self) -> ServerAddress:
        try:
            child = await ChildProcess.start(self._command)
        except OSError as error:
            raise EndpointUnusable(
                f"could not start a process for {self._title}: {error}"
            ) from error
        try:
            address = await self._reached(child)
        except BaseException:  # cancellation too must leave no process behind
            await child.close()
            raise
        self._child = child
        return address

    async def _reached(self, child: ChildProcess) -> ServerAddress:
        try:
            line = await child.first_line(self._ready_within_s)
        except TimeoutError:
            raise EndpointUnusable(
                f"{self._title} was not ready within {self._ready_within_s:g} s{self._tail(child)}",
                hint=(
                    "a large file on a slow disk takes time to load: try again, it is cached now"
                ),
            ) from None
        try:
            first = msgspec.json.decode(line or b"{}", type=_FirstLine)
        except ValueError as error:
            raise EndpointUnusable(
                f"{self._title}: expected an address from its process, got {line[:200]!r}"
            ) from error
        if first.address:
            return ServerAddress(first.address, Secret(first.key))
        raise await self._not_started(child, first)

    async def _not_started(self, child: ChildProcess, first: _FirstLine) -> EndpointUnusable:
        if first.error == "no-runner":
            return EndpointUnusable(
                f"{self._title} needs the package xllamacpp, which cannot be imported "
                f"({first.detail})",
                hint=_INSTALL,
            )
        ending = first.detail or await child.death(_DEATH_S) or "no reason given"
        return EndpointUnusable(f"{self._title} could not be loaded: {ending}{self._tail(child)}")

    def _dies_too_often(self) -> EndpointUnusable:
        return EndpointUnusable(
            f"{self._last_words}\nIt crashed {self._deaths} times without a response in between.",
            hint=(
                "a smaller ctx or parallel takes less memory: local/FILE.gguf?ctx=2048&parallel=1"
            ),
        )

    def _tail(self, child: ChildProcess) -> str:
        """Return the child's last messages, indented, without local paths; empty without any."""
        text = child.tail()
        for hidden in self._hide:
            text = text.replace(hidden, "...")
        lines = [line for line in text.splitlines() if line.strip()][-_TAIL_LINES:]
        return "".join(f"\n    {line}" for line in lines)


_CHILD = "proofstone.models.local_process"


_RUNNER = "xllamacpp"


# The server ignores these fields, so sending them would store settings without effect.
_IGNORED = frozenset({"reasoning_effort", "repetition_penalty"})


# A bias that no difference of logits outweighs, and more tokens than any vocabulary has.
_FORCED, _ALL = 1000.0, 10_000_000


class _FailedPostError(Exception):
    """A request of several failed; the attempt says how."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.error)
        self.attempt = attempt


_BROKEN = frozenset({"dropped", "unreachable", "timeout"})


class LocalOptions(Struct, frozen=True, kw_only=True):
    """Options of a model's server: context tokens per request, threads, and parallel requests.

    Context covers prompt and response. ``threads`` 0 uses all cores. ``parallel`` requests are
    decoded together, which changes sums in the last digits. At temperature 0 a long response may
    therefore differ between two runs (seen with 2; not with ``parallel=1``).
    """

    ctx: int = 4096
    threads: int = 0
    parallel: int = 4


class LocalModel:
    """``Model`` over a child process that holds a GGUF file. Used on one event loop.

    The next request restarts a crashed child. The requests lost with it come back as ``dropped``
    and are retried. A child that cannot be started, or crashes too often, comes back as
    ``not_running``, which ends the model's work.
    """

    simulated = False

    def __init__(
        self,
        name: str,
        file: GgufFile,
        server: LocalServer,
        *,
        clock: Clock,
        options: LocalOptions,
        entry: Entry | None = None,
    ) -> None:
        self.name = name
        self.endpoint = file.endpoint
        self.reported_as = file.reported_as
        self.max_connections = options.parallel
        # A response that reaches the end of the context window is truncated, not refused.
        self.limits = Limits(
            window=options.ctx,
            counts_response=False,
            images=False,
            thinking_tokens=thinking_tokens(Entry() if entry is None else entry),
        )
        self._server = server
        self._clock = clock
        self._entry = Entry() if entry is None else entry
        self._is_text = self._entry.wire == "openai-completions"
        self.wire = "local-completions" if self._is_text else "local"
        self._thinking = thinking_fields(self._entry)
        self._address: ServerAddress | None = None
        self._chat: ChatEndpoint | None = None
        self._native: ChatEndpoint | None = None  # the server's own interface, for likelihoods

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the settings that reach the model, and the names of those dropped.

        Log-probabilities include one alternative per token, unless more are requested. The server's
        default of twenty would enlarge every stored body.
        """
        extra = {} if self._entry.body is UNSET else self._entry.body
        refused = () if self._entry.unsupported is UNSET else self._entry.unsupported
        sent, dropped = sent_settings(asked, extra, _IGNORED.union(refused), self._thinking)
        if sent.get("logprobs"):
            sent.setdefault("top_logprobs", 1)
        return completion_settings(sent, dropped) if self._is_text else (sent, dropped)

    async def start(self) -> None:
        """Load the model now rather than with the first request. Raises EndpointUnusable."""
        await self._connected()

    async def submit(self, request: ModelRequest) -> Ticket:
        """Accept the request; nothing is sent before ``collect``."""
        return Ticket(request)

    async def collect(self, ticket: Ticket) -> Attempt:
        """Make one attempt, starting the child if none runs."""
        try:
            chat = await self._connected()
        except EndpointUnusable as error:
            return Attempt(error="not_running", detail=str(error))
        asked = ticket.request.settings
        if asked.get("likelihood"):
            attempt = await self._scored(ticket.request)
        else:
            sent = {**self.sent_settings(asked)[0], "thinking": asked.get("thinking")}
            attempt = await chat.collect(
                await chat.submit(structs.replace(ticket.request, settings=sent))
            )
        if attempt.response is not None:
            self._server.worked()
        elif attempt.error in _BROKEN and (death := await self._server.death()):
            return structs.replace(attempt, error="dropped", detail=death)
        return attempt

    async def _scored(self, request: ModelRequest) -> Attempt:
        """Score the last message token by token behind the others.

        The server ignores ``echo``. So each token is forced by a bias on it, and its probability is
        read before the bias acts; the server caches the text before it.
        """
        prompt, text = continued(request.messages)
        started = self._clock.monotonic()
        try:
            before, whole = await self._tokens(prompt), await self._tokens(prompt + text)
            pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, whole, strict=False))
            same = sum(1 for _ in pairs)
            entries = [
                await self._scored_token(whole[:place], whole[place])
                for place in range(same, len(whole))
            ]
        except _FailedPostError as failed:
            return failed.attempt
        body = {
            "model": self.reported_as,
            "tokens_evaluated": same,
            "tokens_predicted": len(entries),
            "completion_probabilities": entries,
        }
        kept = Continuation(text=text, by="forced", ids=tuple(whole[same:]))
        raw = scored_body(kept, msgspec.json.encode(body))
        return Attempt(
            raw=raw,
            status=200,
            response=read_response(self.wire, raw),
            latency_s=self._clock.monotonic() - started,
        )

    async def _scored_token(self, before: Sequence[int], token: int) -> dict[str, Any]:
        """What the server says of a token behind others: ``id``, ``logprob`` and its text."""
        (entry, *_) = await self._generated(before, token, 1) or [{}]
        if entry.get("id") == token:
            return {name: entry[name] for name in ("id", "token", "logprob")}
        # A token that is part of a character is not told when it is generated. Then another one is,
        # beside which all tokens are listed.
        (entry, *_) = await self._generated(before, (await self._tokens("a"))[-1], _ALL) or [{}]
        for listed in entry.get("top_logprobs", ()):
            if listed["id"] == token:
                return {name: listed[name] for name in ("id", "token", "logprob")}
        raise _FailedPostError(Attempt(error="no_logprobs", detail=f"token {token} is not listed"))

    async def _generated(
        self, before: Sequence[int], token: int, listed: int
    ) -> list[dict[str, Any]]:
        """The next token, forced to be this one, with so many of the most probable ones."""
        body = {
            "prompt": before,
            "n_predict": 1,
            "logit_bias": [[token, _FORCED]],
            "n_probs": listed,
            "temperature": 0.0,
            "response_fields": ["completion_probabilities"],
        }
        found = await self._post("/completion", body)
        told: list[dict[str, Any]] = found.get("completion_probabilities", [])
        return told

    async def _tokens(self, text: str) -> list[int]:
        body = {"content": text, "add_special": True, "parse_special": False}
        tokens: list[int] = (await self._post("/tokenize", body))["tokens"]
        return tokens

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Raises _FailedPostError with the failed attempt."""
        if self._native is None:
            raise _FailedPostError(Attempt(error="dropped", detail="the process has ended"))
        attempt = await self._native.post(path, msgspec.json.encode(body))
        if attempt.error:
            raise _FailedPostError(attempt)
        try:
            found: dict[str, Any] = msgspec.json.decode(attempt.raw)
        except msgspec.MsgspecError as error:
            failed = structs.replace(attempt, error="unreadable", detail=str(error))
            raise _FailedPostError(failed) from error
        return found

    async def close(self) -> None:
        """Close the connections and end the child."""
        chat, native = self._chat, self._native
        self._chat = self._native = self._address = None
        for client in (chat, native):
            if client is not None:
                await client.close()
        await self._server.close()

    async def _connected(self) -> ChatEndpoint:
        """Return a client of the running child. Raises EndpointUnusable if it cannot run."""
        address = await self._server.address()
        if self._chat is not None and address is self._address:
            return self._chat
        former = (self._chat, self._native)
        self._address = address
        client = CompletionsEndpoint if self._is_text else ChatEndpoint
        self._chat = chat = client(self._endpoint_at(address, "/v1"), clock=self._clock)
        self._native = ChatEndpoint(self._endpoint_at(address, ""), clock=self._clock)
        for each in former:
            if each is not None:
                await each.close()
        return chat

    def _endpoint_at(self, address: ServerAddress, path: str) -> Endpoint:
        timeout_s, body = self._entry.timeout_s, self._entry.body
        return Endpoint(
            name=self.name,
            base_url=Secret(f"{address.url}{path}"),
            identity=self.endpoint,
            reported_as=self.reported_as,
            headers=(("Authorization", Secret(f"Bearer {address.key.reveal()}")),),
            secrets=(address.key,),
            max_connections=self.max_connections,
            timeout_s=TIMEOUT_S if timeout_s is UNSET else timeout_s,
            body={} if body is UNSET else body,
            thinking=self._thinking,
        )


async def open_local(
    model: str,
    *,
    clock: Clock | None = None,
    entry: Entry | None = None,
    command: Sequence[str] | None = None,
) -> LocalModel:
    """Open the model of ``local/MODEL``: a path or a bundled model's name, with options as a query.

    ``entry`` is its table of the configuration; ``model`` (a path with options, for a custom name),
    ``timeout_s``, ``body``, ``unsupported`` and ``wire`` are used. ``command`` replaces the child's
    program. Raises BadUsage for an invalid option or a ``ctx`` beyond the model's own, NotFound for
    a missing file, and EndpointUnusable if it is not a GGUF model or the runner is not installed.
    """
    entry = Entry() if entry is None else entry
    path_text, _, query = (model if entry.model is UNSET else entry.model).partition("?")
    options = _read_options(model, query)
    bundled = BUNDLED.get(path_text)
    if bundled is None and "/" not in path_text and not Path(path_text).suffix:
        raise NotFound(
            f"no model file {path_text!r}, and no bundled model of this name",
            hint=f"choose from: {', '.join(BUNDLED)}\nor give the path of a .gguf file",
        )
    path = Path(path_text) if bundled is None else bundled_file(bundled)
    file = await asyncio.to_thread(open_gguf, path)  # hashing takes seconds for a large file
    options = _within_trained(model, query, options, file.trained_window)
    if command is None:
        _check_runner(model)
        command = _child_command(file, options)
    title = f"local/{model}"
    server = LocalServer(command, title=title, hide=(str(file.path),))
    return LocalModel(
        title,
        file,
        server,
        clock=SystemClock() if clock is None else clock,
        options=options,
        entry=entry,
    )


def _check_runner(model: str) -> None:
    if find_spec(_RUNNER) is None:
        raise EndpointUnusable(
            f"local/{model} needs the package {_RUNNER}, which is not installed",
            hint="pip install 'proofstone[demo]'",
        )


def _child_command(file: GgufFile, options: LocalOptions) -> tuple[str, ...]:
    values = {
        "model": str(file.path.absolute()),
        "name": file.reported_as,
        "ctx": options.ctx,
        "threads": options.threads or _cores(),
        "parallel": options.parallel,
    }
    arguments = (part for key, value in values.items() for part in (f"--{key}", str(value)))
    # -P: a file xllamacpp.py in the current folder must not become the runner.
    return (sys.executable, "-P", "-m", _CHILD, *arguments)


def _cores() -> int:
    """Return the cores that this process may use, in a container fewer than the machine has."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_options(model: str, query: str) -> LocalOptions:
    known = LocalOptions.__struct_fields__
    values: dict[str, int] = {}
    problems: list[str] = []
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            problems.append(f"unknown option {key!r}")
        elif not (text.isascii() and text.isdigit() and int(text) > 0):
            problems.append(f"{key}: expected a whole number of 1 or more, got {text!r}")
        else:
            values[key] = int(text)
    if problems:
        raise BadUsage(
            f"local/{model}: {'; '.join(problems)}",
            hint=f"expected {', '.join(known)}, as in local/x.gguf?ctx=4096&parallel=2",
        )
    return LocalOptions(**values)


def _within_trained(
    model: str, query: str, options: LocalOptions, trained: int | None
) -> LocalOptions:
    """Return options whose window is not longer than the one that the model was trained with.

    The runner uses no more. Raises BadUsage if more is asked for.
    """
    if trained is None or options.ctx <= trained:
        return options
    if any(key == "ctx" for key, _ in parse_qsl(query)):
        raise BadUsage(
            f"local/{model}: ctx is {options.ctx:,}, and the model was trained with a context "
            f"window of {trained:,} tokens; its server uses no more",
            hint=f"ctx={trained} or less; a longer document needs another model",
        )
    return structs.replace(options, ctx=trained)
