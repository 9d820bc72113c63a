"""``local/path/to/file.gguf``: a GGUF model in a child process, asked as any other endpoint.

``local/x.gguf?ctx=4096&threads=2&parallel=4`` sets what its server needs; a carried model has a
name in place of a path (``local/smollm2-135m``). The child is started by the first request, so
what the cache answers costs no loading. Requests and replies go through the clients of the wire
formats: chat, or text completions where the entry says ``wire = "openai-completions"``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import UNSET, Struct, structs

from proofstone.engines.models.carried import CARRIED, carried_file
from proofstone.engines.models.clock import SystemClock
from proofstone.engines.models.config import TIMEOUT_S, Endpoint
from proofstone.engines.models.entries import Entry, thinking_fields, thinking_tokens
from proofstone.engines.models.gguf import GgufFile, open_gguf
from proofstone.engines.models.local_server import LocalServer, ServerAddress
from proofstone.engines.models.openai_chat import ChatEndpoint
from proofstone.engines.models.openai_completions import CompletionsEndpoint, completion_settings
from proofstone.engines.models.secret import Secret
from proofstone.engines.models.settings import sent_settings
from proofstone.errors import BadUsage, EndpointUnusable
from proofstone.ports import Attempt, Clock, Limits, ModelRequest, Ticket

__all__ = ["LocalModel", "LocalOptions", "open_local"]

_CHILD = "proofstone.engines.models.local_child"
_RUNNER = "xllamacpp"
# The server takes these fields and does nothing with them, so they would be stored as sent.
_IGNORED = frozenset({"reasoning_effort", "repetition_penalty"})
_BROKEN = frozenset({"dropped", "unreachable", "timeout"})


class LocalOptions(Struct, frozen=True, kw_only=True):
    """What the server of a model needs: tokens of context of one request (prompt and reply),
    processor threads (0: as many as there are cores), and how many requests are decoded together.

    What is decoded beside a request changes its sums in the last digits, so at temperature 0 a
    long reply may still differ between two runs (seen with 2; with ``parallel=1`` not).
    """

    ctx: int = 4096
    threads: int = 0
    parallel: int = 4


class LocalModel:
    """``ports.Model`` over a child process that holds a GGUF file. Used on one event loop.

    A child that dies is restarted by the next request; the requests it took with it come back as
    ``dropped``, which is tried again. One that cannot be started, or dies too often, comes back as
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
        self.served_as = file.served_as
        self.max_connections = options.parallel
        # A reply that reaches the window's end is cut there, not refused.
        self.limits = Limits(
            window=options.ctx,
            counts_reply=False,
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

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The settings that reach the model, and the names of those dropped.

        Log-probabilities come with one alternative a token, unless more are asked for: the
        server's own default would put twenty into every stored body.
        """
        extra = {} if self._entry.body is UNSET else self._entry.body
        refused = () if self._entry.unsupported is UNSET else self._entry.unsupported
        sent, dropped = sent_settings(asked, extra, _IGNORED.union(refused), self._thinking)
        if sent.get("logprobs"):
            sent.setdefault("top_logprobs", 1)
        return completion_settings(sent, dropped) if self._is_text else (sent, dropped)

    async def start(self) -> None:
        """Loads the model now rather than with the first request. Raises EndpointUnusable."""
        await self._connected()

    async def submit(self, request: ModelRequest) -> Ticket:
        """Hands the request in; nothing leaves before ``collect``."""
        return Ticket(request)

    async def collect(self, ticket: Ticket) -> Attempt:
        """One attempt, starting the child where none runs."""
        try:
            chat = await self._connected()
        except EndpointUnusable as error:
            return Attempt(error="not_running", detail=str(error))
        asked = ticket.request.settings
        sent = {**self.sent_settings(asked)[0], "thinking": asked.get("thinking")}
        attempt = await chat.collect(
            await chat.submit(structs.replace(ticket.request, settings=sent))
        )
        if attempt.reply is not None:
            self._server.worked()
        elif attempt.error in _BROKEN and (death := await self._server.death()):
            return structs.replace(attempt, error="dropped", detail=death)
        return attempt

    async def close(self) -> None:
        """Closes the connections and ends the child."""
        chat, self._chat, self._address = self._chat, None, None
        if chat is not None:
            await chat.close()
        await self._server.close()

    async def _connected(self) -> ChatEndpoint:
        """A client of the child that runs now. Raises EndpointUnusable where none can."""
        address = await self._server.address()
        if self._chat is not None and address is self._address:
            return self._chat
        before = self._chat
        self._address = address
        client = CompletionsEndpoint if self._is_text else ChatEndpoint
        self._chat = chat = client(self._endpoint_at(address), clock=self._clock)
        if before is not None:
            await before.close()
        return chat

    def _endpoint_at(self, address: ServerAddress) -> Endpoint:
        timeout_s, body = self._entry.timeout_s, self._entry.body
        return Endpoint(
            name=self.name,
            base_url=Secret(f"{address.url}/v1"),
            identity=self.endpoint,
            served_as=self.served_as,
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
    """The model of ``local/MODEL``: a path or a carried model's name, with its options as a query.

    ``entry`` is its table of the configuration, of which ``model`` (a path with options for a name
    of one's own), ``timeout_s``, ``body``, ``unsupported`` and ``wire`` are used; ``command``
    starts another program in place of the child. Raises BadUsage for a wrong option, NotFound for
    a missing file, EndpointUnusable for one that is no GGUF model and where the runner is not
    installed.
    """
    entry = Entry() if entry is None else entry
    path_text, _, query = (model if entry.model is UNSET else entry.model).partition("?")
    options = _read_options(model, query)
    carried = CARRIED.get(path_text)
    path = Path(path_text) if carried is None else carried_file(carried)
    file = await asyncio.to_thread(open_gguf, path)  # hashes it: seconds for a large one
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
        "name": file.served_as,
        "ctx": options.ctx,
        "threads": options.threads or _cores(),
        "parallel": options.parallel,
    }
    arguments = (part for key, value in values.items() for part in (f"--{key}", str(value)))
    # -P: a folder in which someone has a file xllamacpp.py must not become the runner.
    return (sys.executable, "-P", "-m", _CHILD, *arguments)


def _cores() -> int:
    """The cores that this process may use: in a container fewer than the machine has."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_options(model: str, query: str) -> LocalOptions:
    known = LocalOptions.__struct_fields__
    values: dict[str, int] = {}
    problems: list[str] = []
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            problems.append(f"{key!r} is no option")
        elif not (text.isascii() and text.isdigit() and int(text) > 0):
            problems.append(f"{key} is a whole number from 1 up, not {text!r}")
        else:
            values[key] = int(text)
    if problems:
        raise BadUsage(
            f"local/{model}: {'; '.join(problems)}",
            hint=f"the options are {', '.join(known)}, as in local/x.gguf?ctx=4096&parallel=2",
        )
    return LocalOptions(**values)
