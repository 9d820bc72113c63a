"""How many tokens a prompt has for a model whose own tokenizer is not here: between what and what.

Counted by cl100k_base. Of the questions of carried tables, o200k_base (newer OpenAI models) makes
0.99 times as many tokens in English and 0.85 in Chinese, SmolLM2's 1.2 times and 1.45 times, chat
template included; four characters a token, the usual rule, is short of all of them by a sixth to a
half. Tokenizers made for Chinese go down to 0.6.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import Message

# What another tokenizer may make of one token of cl100k_base, over a whole prompt.
FEWEST, MOST = 0.6, 1.5


_PER_MESSAGE = 4  # what chat templates put around each


_TEMPLATE_BYTES = 256  # and what they may put before all, at a byte a token


def counted_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a conversation by cl100k_base; images count nothing."""
    count = load_cl100k()
    return sum(_PER_MESSAGE + count(message.text) for message in messages)


def most_tokens(messages: Sequence[Message]) -> int:
    """More tokens than any tokenizer makes of a conversation: one a byte."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
    return _TEMPLATE_BYTES + size + _PER_MESSAGE * len(messages)
