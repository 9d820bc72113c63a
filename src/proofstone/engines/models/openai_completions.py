"""``ports.Model`` over an OpenAI-compatible text-completions address, for base models.

It differs from chat in what is sent: one text in place of messages, log-probabilities as a number,
and nothing that only a chat has. The connection and what its faults mean are the chat client's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import structs

from proofstone.engines.models.config import Endpoint
from proofstone.engines.models.images import no_images
from proofstone.engines.models.openai_chat import ChatEndpoint
from proofstone.engines.models.plain_text import prompt_text
from proofstone.ports import Clock, ModelRequest, Ticket

__all__ = ["CompletionsEndpoint", "completion_settings"]

# A text has no reasoning to turn up, and no form that a reply could be held to.
_CHAT_ONLY = frozenset({"reasoning_effort", "response_format", "schema"})


def completion_settings(
    sent: Mapping[str, Any], dropped: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Settings as this wire carries them: without what only a chat has, and ``logprobs`` as the
    number of alternatives a token."""
    kept = {name: value for name, value in sent.items() if name not in _CHAT_ONLY}
    most = kept.pop("top_logprobs", None)
    if kept.get("logprobs") is True:
        kept["logprobs"] = 1 if most is None else most
    elif kept.get("logprobs") is False:
        del kept["logprobs"]
    left_out = {name for name in sent if name in _CHAT_ONLY}
    return kept, tuple(sorted({*dropped, *left_out}))


class CompletionsEndpoint(ChatEndpoint):
    """A model behind a completions address. Made outside a loop, used on one."""

    wire = "openai-completions"
    path = "/completions"

    def __init__(self, endpoint: Endpoint, *, clock: Clock) -> None:
        super().__init__(endpoint, clock=clock)
        self.limits = structs.replace(self.limits, images=False)

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """See ``ChatEndpoint.sent_settings`` and ``completion_settings``."""
        return completion_settings(*super().sent_settings(asked))

    async def submit(self, request: ModelRequest) -> Ticket:
        """The request as the bytes that will be sent. Nothing leaves before ``collect``."""
        sent, _dropped = self.sent_settings(request.settings)
        if any(message.images for message in request.messages):
            raise no_images(self.name)
        text = prompt_text(request.messages)
        return Ticket(request, orjson.dumps({"model": self.served_as, "prompt": text, **sent}))
